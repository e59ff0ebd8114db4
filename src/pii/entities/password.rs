//! Passwords: the whole value of a key that names one, and what a text gives as one (`the password is …`, `pwd=…`). They
//! have no shape, so that a placeholder, a sentence about passwords and a dictionary word in a sentence are refused instead.

use super::Entity;
use super::token::is_placeholder;
use crate::pii::evidence::{Evidence, Reader, Sighting};

pub(super) const ENTITY: Entity = Entity {
    name: "password",
    groups: &["secrets"],
    standard: "OWASP ASVS V2, CWE-312",
    check: "by key: the whole value; in a text: what follows `password is`, `password:` or `password=`; no placeholder",
    keys: "password, passwd, pwd, passphrase, pass phrase, user password, userpwd, login password, passcode, new password, old \
            password, current password, password confirmation, password confirm, confirm password, db password, db pass, \
            smtp password, admin password, root password, passwort, kennwort, losungswort, mot de passe, motdepasse, mdp, \
            contrasena, clave de acceso, senha, palavra passe, parola d ordine, wachtwoord, haslo, losenord, adgangskode, \
            passord, salasana, sifre, parola, пароль, 密码, パスワード, 비밀번호",
    words: "",
    reader: Reader::Any(&[
        Reader::Whole(judge),
        Reader::Prefix {
            starts: &[
                "password",
                "Password",
                "PASSWORD",
                "passwd",
                "PASSWD",
                "pwd",
                "PWD",
                "passphrase",
                "passwort",
                "Passwort",
                "PASSWORT",
                "kennwort",
                "Kennwort",
                "mot de passe",
                "Mot de passe",
                "contraseña",
                "Contraseña",
                "senha",
                "Senha",
                "wachtwoord",
                "Wachtwoord",
                "hasło",
                "Hasło",
                "lösenord",
                "salasana",
                "пароль",
                "Пароль",
            ],
            shortest: 8,
            read,
        },
    ]),
    examples: &[
        ("password", "«hunter2»"),
        ("userPassword", "«correct-horse battery staple»"),
        ("note", "the password is «P@ssw0rdjG9b3», do not share"),
        ("log", "user=a pwd=«hunter2!p3p4» ip=::1"),
        ("log", "password: «Tr0ub4dor&3LJ4dr»"),
        ("q", "user=a&password=«hunter2»&x=1"),
        ("note", "DB_PASSWORD=\"«s3cr3t value»\""),
        ("note", "Passwort lautet «Geheim123!»."),
        ("passwd", "«12345678»"),
        ("text", "{\"password\": \"«hunter2»\"}"),
    ],
    counter_examples: &[
        ("password", ""),
        ("password", "********"),
        ("password", "${DB_PASSWORD}"),
        ("password", "<password>"),
        ("password", "null"),
        ("password_policy", "at least 12 letters"),
        ("password_hash", "5f4dcc3b5aa765d61d8327deb882cf99"),
        ("note", "the password is wrong"),
        ("note", "password: must be changed"),
        ("note", "forgot password? Reset it at 10:30"),
        ("note", "password=${DB_PASSWORD}"),
        ("note", "the password is required"),
        ("password.policy", "strict"),
    ],
};

const LONGEST: usize = 256;

fn judge(value: &str) -> Option<Evidence> {
    let trimmed = value.trim();
    (!trimmed.is_empty() && value.len() <= LONGEST && !is_placeholder(trimmed)).then_some(Evidence::Checked)
}

fn read(text: &str, start: usize) -> Option<Sighting> {
    let rest = text.get(start..)?;
    // The word itself: letters up to the first that is none (or the spaces of `mot de passe`).
    let word = rest.strip_prefix("mot de passe").or_else(|| rest.strip_prefix("Mot de passe"));
    let after = word.unwrap_or_else(|| rest.trim_start_matches(|letter: char| letter.is_alphabetic()));
    let (given, is_assigned) = given(after)?;
    let quote = given.chars().next().filter(|letter| matches!(letter, '"' | '\'' | '`'));
    let value = match quote {
        Some(quote) => {
            let inner = given.get(1..)?;
            inner.get(..inner.bytes().take(LONGEST).position(|byte| char::from(byte) == quote)?)?
        }
        None => unquoted(given),
    };
    let from = start + rest.len() - given.len() + usize::from(quote.is_some());
    let is_given = quote.is_some() || is_assigned || !is_word(value);
    (is_given && value.len() >= 3 && !is_placeholder(value)).then_some(Sighting {
        start: from,
        end: from + value.len(),
        evidence: Evidence::Strong,
    })
}

/// What is given as the password behind `=`, `:` or a word for "is"; whether it is `=` and nothing between.
fn given(after: &str) -> Option<(&str, bool)> {
    const VERBS: &[&str] = &["is", "was", "lautet", "ist", "est", "es", "è", "é", "to", "är", "on"];
    let unquoted = after.strip_prefix(['"', '\'']).unwrap_or(after);
    let rest = unquoted.trim_start_matches([' ', '\t']);
    if let Some(given) = rest.strip_prefix('=') {
        let given = given.strip_prefix('>').unwrap_or(given).trim_start_matches(' ');
        return Some((given, true));
    }
    if let Some(given) = rest.strip_prefix(':') {
        return Some((given.trim_start_matches([' ', '\t']), false));
    }
    let (verb, given) = rest.split_once(' ').filter(|_| rest.len() < unquoted.len())?;
    let verb = verb.trim_end_matches(':');
    VERBS.contains(&verb).then_some((given.strip_prefix(": ").unwrap_or(given), false))
}

/// Up to white space or what separates fields; what ends a sentence is not part of it.
fn unquoted(given: &str) -> &str {
    let ends = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'<' | b'>' | b';' | b',');
    let length = given.bytes().take(LONGEST).take_while(|&byte| !ends(byte)).count();
    let value = given.get(..length).unwrap_or_default();
    let value = match value.split_once('&') {
        // A form goes on; a password may hold `&`.
        Some((first, next)) if next.split('&').next().is_some_and(|pair| pair.contains('=')) => first,
        _ => value,
    };
    value.trim_end_matches(['.', ')', ':', '?'])
}

/// Letters alone, at most the first of them upper case: a word of the sentence.
fn is_word(value: &str) -> bool {
    value.chars().skip(1).all(|letter| letter.is_lowercase() || letter == '-' || letter == '_')
        && value.chars().next().is_none_or(char::is_alphabetic)
}
