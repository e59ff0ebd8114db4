//! How a search can end, and what is said of it: one place for messages and exit codes. Nothing of the input gets into either.

use std::io;
use std::process::ExitCode;

use crate::content::coding;
use crate::content::json::Fault;

/// Why an input was not read to its end.
#[derive(Debug)]
pub(super) enum Ending {
    /// What was asked for is not there, or makes no sense.
    Usage(String),
    /// The input broke off.
    Read(String, io::Error),
    /// The output broke off.
    Write(io::Error),
    /// It is not what it is read as.
    Unreadable {
        /// Which input.
        name: String,
        /// As what it was read.
        format: &'static str,
        /// Whether that was only a guess.
        guessed: bool,
        /// Why, and where.
        fault: Fault,
    },
    /// It cannot be unpacked.
    Packed(String, coding::Fault),
}

impl Ending {
    /// For standard error.
    pub fn message(&self) -> String {
        match self {
            Self::Usage(message) => message.clone(),
            Self::Read(name, error) => format!("cannot read {name}: {error}"),
            Self::Write(error) => format!("cannot write to standard output: {error}"),
            Self::Unreadable { name, format, guessed, fault } => {
                let hint = if *guessed { "; if it is something else, say `--input`" } else { "" };
                let (word, at, what) = match fault {
                    Fault::Malformed { at, what } => ("malformed", *at, *what),
                    Fault::Oversize { at, what } => ("oversize", *at, *what),
                    Fault::Stopped => ("stopped", 0, "the search was ended"),
                };
                format!("{word} at byte {at} of {name}, read as {format}: {what}{hint}")
            }
            Self::Packed(name, fault) => format!("malformed: {name} cannot be unpacked: {fault}"),
        }
    }

    /// What a script sees.
    pub fn code(&self) -> ExitCode {
        match self {
            Self::Read(..) | Self::Write(_) => 1,
            Self::Usage(_) => 2,
            Self::Unreadable { .. } | Self::Packed(..) => 4,
        }
        .into()
    }
}
