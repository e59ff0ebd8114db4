//! How a transformation can end, and what is said of it: one place for messages and exit codes. Nothing of the body gets into
//! either.

use std::io;
use std::process::ExitCode;

use crate::policy::Failure;

/// Why a body was not written, or not to its end.
#[derive(Debug)]
pub(super) enum Ending {
    /// The rules have errors, which were printed.
    Rules,
    /// What was asked for is not there: a route, a file.
    Usage(String),
    /// The input broke off.
    Read(String, io::Error),
    /// The output broke off.
    Write(io::Error),
    /// A rule blocks.
    Blocked {
        /// The policy's name.
        policy: String,
        /// The rule's id.
        rule: String,
        /// What a client would have got.
        status: u16,
    },
    /// It cannot be judged.
    Unreadable {
        /// Which kind.
        failure: Failure,
        /// Offset in bytes from the start of the body.
        at: u64,
        /// In fixed words, never a part of the body.
        what: &'static str,
    },
}

impl Ending {
    /// For standard error; `None`: it has been said already.
    pub fn message(&self) -> Option<String> {
        Some(match self {
            Self::Rules => return None,
            Self::Usage(message) => message.clone(),
            Self::Read(name, error) => format!("cannot read {name}: {error}"),
            Self::Write(error) => format!("cannot write to standard output: {error}"),
            Self::Blocked { policy, rule, status } => {
                format!("blocked: rule `{rule}` of policy `{policy}` (status {status})")
            }
            Self::Unreadable { failure, at, what } => format!("{} at byte {at}: {what}", failure.name()),
        })
    }

    /// What a script sees.
    pub fn code(&self) -> ExitCode {
        match self {
            Self::Read(..) | Self::Write(_) => 1,
            Self::Rules | Self::Usage(_) => 2,
            Self::Blocked { .. } => 3,
            Self::Unreadable { .. } => 4,
        }
        .into()
    }

    /// In one word, for the summary.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Rules | Self::Usage(_) | Self::Read(..) | Self::Write(_) => "broken off",
            Self::Blocked { .. } => "blocked",
            Self::Unreadable { failure, .. } => failure.name(),
        }
    }
}
