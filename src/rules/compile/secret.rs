//! Values that stand outside of the rule files: `env:NAME` and `file:/path`. It promises that neither value nor part of
//! it gets into a message.

use std::path::Path;

use crate::rules::problem::{Place, quote};
use crate::rules::source::{digest, read_secret};
use crate::sensitive::Sensitive;

use super::Context;

/// Whether a value is to be looked up.
pub(super) fn is_reference(text: &str) -> bool {
    text.starts_with("env:") || text.starts_with("file:")
}

/// Looks a reference up.
pub(super) fn look_up(text: &str, place: Place, cx: &mut Context<'_, '_>) -> Option<Sensitive<String>> {
    let found = match text.split_once(':') {
        Some(("env", name)) => from_env(name, cx),
        Some(("file", path)) => from_file(path, cx),
        _ => Err((format!("{} is not a reference", quote(text)), None)),
    };
    match found {
        Ok(value) => Some(Sensitive::new(value)),
        Err((message, hint)) => {
            cx.problems.refuse_with(place, message, hint.map(str::to_owned));
            None
        }
    }
}

type Refusal = (String, Option<&'static str>);

fn from_env(name: &str, cx: &Context<'_, '_>) -> Result<String, Refusal> {
    let fits = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !fits {
        return Err((
            format!("{} is not the name of an environment variable", quote(name)),
            Some("as in `env:CRM_TOKEN`"),
        ));
    }
    let value = (cx.surroundings.env)(name);
    let Some(value) = value else {
        return Err((
            format!("the environment variable `{name}` is not set"),
            Some("set it where the gateway is started"),
        ));
    };
    let value = without_newline(value);
    if value.is_empty() {
        return Err((format!("the environment variable `{name}` is empty"), None));
    }
    Ok(value)
}

fn from_file(path: &str, cx: &mut Context<'_, '_>) -> Result<String, Refusal> {
    let file = Path::new(path);
    if !file.is_absolute() {
        let message = format!("the path {} is not absolute", quote(path));
        return Err((message, Some("as in `file:/run/secrets/crm-token`")));
    }
    let unreadable = |why: &str| (format!("the secret file {} cannot be read: {why}", quote(path)), None);
    let read = read_secret(file);
    cx.secrets.push((file.to_owned(), digest(&read)));
    let bytes = read.map_err(|why| unreadable(&why))?;
    let value = String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8 text"))?;
    let value = without_newline(value);
    if value.is_empty() {
        return Err((format!("the secret file {} is empty", quote(path)), None));
    }
    Ok(value)
}

/// Editors and `echo` end files with a newline that is no part of the secret.
fn without_newline(mut value: String) -> String {
    if value.ends_with('\n') {
        value.pop();
        if value.ends_with('\r') {
            value.pop();
        }
    }
    value
}
