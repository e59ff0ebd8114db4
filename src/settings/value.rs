//! How the value of a setting is written: the same on a command line, in a variable and in the settings file, and refused with
//! what was expected instead.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use ipnet::IpNet;
use serde::Deserialize;

use super::SettingsError;
use crate::audit::OnFailure;
use crate::quantity;
use crate::sensitive::Sensitive;

/// A length of time: `500ms`, `30s`, `5m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Span(pub Duration);

/// A size: `64KiB`, `8MiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Size(pub u64);

/// Where the dashboard listens, or `off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Admin(pub Option<SocketAddr>);

/// A network such as `10.0.0.0/8`, or one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Network(pub IpNet);

/// Where a secret is: never the secret itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum SecretSource {
    /// `env:NAME`
    Env(String),
    /// `file:PATH`
    File(PathBuf),
}

/// `block` or `pass`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct AuditFailure(pub OnFailure);

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(try_from = "String")]
pub enum LogFormat {
    /// Human on a terminal, JSON otherwise.
    #[default]
    Auto,
    /// For people.
    Human,
    /// One JSON object a line.
    Json,
}

impl LogFormat {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Human => "human",
            Self::Json => "json",
        }
    }
}

/// Parses with `FromStr`, in the settings file too.
macro_rules! from_text {
    ($($type:ty: $parse:expr, $expected:literal;)*) => { $(
        impl FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                let parse: fn(&str) -> Option<Self> = $parse;
                parse(text).ok_or_else(|| format!("`{text}` is not {}", $expected))
            }
        }

        impl TryFrom<String> for $type {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                text.parse()
            }
        }
    )* };
}

from_text! {
    Span: |t| quantity::duration(t).filter(|d| !d.is_zero()).map(Self), "a length of time such as `500ms`, `30s` or `5m`";
    Size: |t| quantity::size(t).map(Self), "a size such as `64KiB` or `8MiB`";
    Admin: |t| if t == "off" { Some(Self(None)) } else { t.parse().ok().map(|a| Self(Some(a))) },
        "an address such as `127.0.0.1:9090`, or `off`";
    Network: |t| t.parse::<IpNet>().ok().or_else(|| t.parse::<IpAddr>().ok().map(IpNet::from)).map(Self),
        "an address or a network such as `10.0.0.0/8`";
    SecretSource: |t| match t.split_once(':')? {
            ("env", name) if !name.is_empty() => Some(Self::Env(name.to_owned())),
            ("file", path) if !path.is_empty() => Some(Self::File(path.into())),
            _ => None,
        }, "`env:NAME` or `file:PATH` (the secret itself never stands on a command line)";
    AuditFailure: |t| match t {
            "block" => Some(Self(OnFailure::Block)),
            "pass" => Some(Self(OnFailure::Pass)),
            _ => None,
        }, "`block` or `pass`";
    LogFormat: |t| [Self::Auto, Self::Human, Self::Json].into_iter().find(|f| f.name() == t),
        "`auto`, `human` or `json`";
}

impl SecretSource {
    pub(super) fn read(&self) -> Result<Sensitive<String>, SettingsError> {
        let text = match self {
            Self::Env(name) => {
                std::env::var(name).map_err(|_| SettingsError(format!("the variable `{name}` is not set")))?
            }
            Self::File(path) => std::fs::read_to_string(path)
                .map_err(|error| SettingsError(format!("`{}` cannot be read: {error}", path.display())))?,
        };
        match text.trim_end_matches(['\r', '\n']) {
            secret if secret.len() >= 16 => Ok(Sensitive::new(secret.to_owned())),
            _ => Err(SettingsError("the dashboard's token must have at least 16 characters".to_owned())),
        }
    }
}
