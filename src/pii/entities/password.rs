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
            smtp password, admin password, root password, smtp pass, mysql pass, pg pass, postgres pass, mongo pass, redis pass, ftp \
            pass, ldap pass, mail pass, email pass, imap pass, user pass, admin pass, root pass, login pass, wifi pass, auth \
            pass, basic pass, database pass, passwort, kennwort, losungswort, mot de passe, motdepasse, mdp, \
            contrasena, clave de acceso, senha, palavra passe, parola d ordine, wachtwoord, haslo, losenord, adgangskode, \
            passord, salasana, sifre, parola, heslo, jelszo, mat khau, kata sandi, пароль, 密码, 密碼, 口令, パスワード, 暗証番号, \
            비밀번호, 패스워드, 암호, पासवर्ड, كلمة المرور, κωδικός πρόσβασης, парола, лозинка, \
            รหัสผ่าน, סיסמה, lozinka, geslo, slaptazodis",
    words: "",
    reader: Reader::Any(&[Reader::Whole(judge), Reader::Prefix { starts: STARTS, shortest: 8, read }]),
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
        ("log", "SMTP_PASS=«fern-206» SMTP_PORT=25"),
        ("q", "user=a&pass=«hunter2»&x=1"),
        ("note", "mein Passwort war «Kirsche#77», geht nicht"),
        ("note", "パスワードは「«Sakura88»」です。"),
        ("note", "我的密码是«Moli-Huacha66»。"),
        ("note", "密码：\"«Moli-Huacha66»\""),
        ("note", "비밀번호: «Dallae!2» 로 로그인"),
        ("note", "şifre: «Karpuz_41»"),
        ("note", "पासवर्ड: «Gulmohar@2087»"),
        ("netrc", "machine a.example\nlogin b\npassword «Osprey-4417»\n"),
        ("note", "mysqldump --password «hunter2-x» db"),
        ("xml", "<user><password>«hunter2»</password></user>"),
        ("xml", "<wsse:Password Type=\"PasswordText\">«Cove.Kelp»</wsse:Password>"),
        ("note", "senha antiga: «Gaivota.3», protocolo 4"),
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
        ("password", "https://example.com/reset?step=2"),
        ("password_file", "/run/secrets/db_password"),
        ("env", "PWD=/home/app"),
        ("env", "OLDPWD=/srv/ledger/releases/20240203"),
        ("env", "PWD=C:\\Users\\app1"),
        ("note", "password: https://example.com/reset"),
        ("note", "passage: 12b, passed=1x2, bypass=9z9z9"),
        ("env", "is_passed=true1 x_passenger=9z9z"),
        ("note", "密码错误 3 次, 密码是错误的"),
        ("note", "password reset2 was sent"),
        ("html", "<label>Password</label> <input type=password> <b>password</b>"),
        ("xml", "<password/><a>x1</a> <password>${DB_PASSWORD}</password>"),
    ],
};

const LONGEST: usize = 256;

/// Most letters that may follow such a word in the same word: `passwordConfirmation`.
const LONGEST_ENDING: usize = 16;
/// Bytes of the longest verb.
const LONGEST_VERB: usize = 16;

/// Words that a password follows in a text, in lower case.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "password", "passwd", "pwd", "passphrase", "passwort", "kennwort", "mot de passe", "contraseña", "senha", "wachtwoord", "hasło",
    "lösenord", "salasana", "passord", "adgangskode", "şifre", "пароль", "密码", "密碼", "パスワード", "비밀번호", "पासवर्ड",
];

/// What the scanner looks for: the words, or what is behind their first letter, whichever case that has; and the joint before a
/// `pass`, which is written so for variables (`DB_PASS`) and in forms only.
///
/// PERF: all beginnings together are 64 at most, or the fast search refuses them.
#[rustfmt::skip]
const STARTS: &[&str] = &[
    "assw", "ASSW", "pwd", "PWD", "assphrase", "_pass", "_PASS", "&pass", "ennwort", "ot de passe",
    "ontraseña", "senha", "Senha", "achtwoord", "asło", "ösenord", "alasana", "assord", "dgangskode", "ifre", "ароль", "密码", "密碼",
    "パスワード", "비밀번호", "पासवर्ड",
];

fn judge(value: &str) -> Option<Evidence> {
    let trimmed = value.trim();
    let is_one = !trimmed.is_empty() && value.len() <= LONGEST && !is_placeholder(trimmed) && !is_place(trimmed);
    is_one.then_some(Evidence::Checked)
}

/// Whether a value says where something is: a link, or a path.
fn is_place(value: &str) -> bool {
    let is_of_path = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-');
    let is_path = ["/", "./", "../", "~/"].iter().any(|start| value.starts_with(start))
        && value.trim_start_matches('~').bytes().all(is_of_path);
    let is_drive = matches!(value.as_bytes(), [drive, b':', b'\\', ..] if drive.is_ascii_alphabetic());
    value.contains("://") || is_path || is_drive
}

fn read(text: &str, start: usize) -> Option<Sighting> {
    let (start, after) = word_at(text, start)?;
    let script = Script::of(text.get(start..)?);
    let (given, sign) =
        given(after, script).or_else(|| content(text, start, after)).or_else(|| bare(text, start, after))?;
    let close = given.chars().next().and_then(closing);
    let open = given.chars().next().filter(|_| close.is_some()).map_or(0, char::len_utf8);
    let inner = given.get(open..)?;
    let value = match close {
        Some(close) => inner
            .get(..inner.char_indices().take_while(|(at, _)| *at < LONGEST).find(|(_, letter)| *letter == close)?.0)?,
        None => unquoted(given, script),
    };
    let from = text.len() - given.len() + open;
    let is_given = close.is_some() || sign == Sign::Equals || !is_word(value);
    (is_given && value.len() >= 3 && !is_placeholder(value) && !is_place(value)).then_some(Sighting {
        start: from,
        end: from + value.len(),
        evidence: Evidence::Strong,
    })
}

/// How a text is written around the word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Spaced,
    /// A password in it ends where its letters begin again.
    Unspaced,
}

impl Script {
    fn of(word: &str) -> Self {
        match word.chars().next() {
            Some('\u{3040}'..='\u{30FF}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}') => Self::Unspaced,
            _ => Self::Spaced,
        }
    }
}

/// Where the word that was found at `start` begins, and what follows it.
fn word_at(text: &str, start: usize) -> Option<(usize, &str)> {
    let (before, rest) = text.split_at_checked(start)?;
    let first = before.len() - before.chars().next_back().map_or(0, char::len_utf8);
    let at = |from: usize| Some((from, after_word(text.get(from..)?)?));
    match rest.strip_prefix(['_', '&']) {
        None => at(start).or_else(|| at(first)),
        Some(word) => at(start + 1).or_else(|| {
            let after = word.get(4..)?;
            (!after.starts_with(|letter: char| letter.is_alphabetic())).then_some((start + 1, after))
        }),
    }
}

/// What follows the word for a password that begins `rest`.
fn after_word(rest: &str) -> Option<&str> {
    let length = WORDS.iter().find_map(|word| {
        let mut letters = rest.char_indices();
        let begins = word.chars().all(|own| letters.next().is_some_and(|(_, letter)| letter.to_lowercase().eq([own])));
        begins.then(|| rest.len() - letters.as_str().len())
    })?;
    let after = rest.get(length..)?;
    let ending = match Script::of(rest) {
        Script::Spaced => after.chars().take_while(|letter| letter.is_alphabetic()).take(LONGEST_ENDING + 1).count(),
        Script::Unspaced => 0,
    };
    // SECURITY: a text of nothing but such words must not be read to its end for each of them.
    let end = after.char_indices().nth(ending).map_or(after.len(), |(at, _)| at);
    after.get(end..).filter(|_| ending <= LONGEST_ENDING)
}

/// The quote that closes what this one opens.
const fn closing(open: char) -> Option<char> {
    Some(match open {
        '"' | '\'' | '`' => open,
        '「' => '」',
        '『' => '』',
        '“' | '„' => '”',
        '‘' => '’',
        '«' => '»',
        _ => return None,
    })
}

/// What says that a password follows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Equals,
    /// A colon, or a word for "is": a word of the sentence may follow as well.
    Other,
}

/// What is given as the password behind `=`, `:` or a word for "is".
fn given(after: &str, script: Script) -> Option<(&str, Sign)> {
    const VERBS: &[&str] = &[
        "is", "was", "lautet", "ist", "war", "est", "était", "es", "era", "fue", "è", "é", "foi", "to", "jest", "było",
        "är", "var", "er", "on", "oli",
    ];
    // `senha antiga: …`
    const ADJECTIVES: &[&str] = &[
        "antiga",
        "atual",
        "nova",
        "antigua",
        "actual",
        "nueva",
        "actuel",
        "nouveau",
        "ancien",
        "attuale",
        "nuova",
        "vecchia",
        "temporaire",
        "temporal",
        "(old)",
        "(new)",
    ];
    const PARTICLES: &[&str] = &["は", "是", "为", "為", "는", "은"];
    let unquoted = after.strip_prefix(['"', '\'']).unwrap_or(after);
    let rest = unquoted.trim_start_matches([' ', '\t']);
    let rest =
        ADJECTIVES.iter().find_map(|own| rest.strip_prefix(own)).map_or(rest, |rest| rest.trim_start_matches(' '));
    if let Some(given) = rest.strip_prefix('=') {
        let given = given.strip_prefix('>').unwrap_or(given).trim_start_matches(' ');
        return Some((given, Sign::Equals));
    }
    if let Some(given) = rest.strip_prefix([':', '：']) {
        return Some((given.trim_start_matches([' ', '\t']), Sign::Other));
    }
    if script == Script::Unspaced {
        let given = PARTICLES.iter().find_map(|particle| rest.strip_prefix(particle))?;
        return Some((given.trim_start_matches([' ', ':', '：']), Sign::Other));
    }
    let end = rest.bytes().take(LONGEST_VERB).position(|byte| byte == b' ').filter(|_| rest.len() < unquoted.len())?;
    let (verb, given) = (rest.get(..end)?.trim_end_matches(':'), rest.get(end + 1..)?);
    VERBS.contains(&verb).then_some((given.strip_prefix(": ").unwrap_or(given), Sign::Other))
}

/// The content of an element that has the word for its name: `<password>`, `<ns:Password Type="…">`.
fn content<'t>(text: &str, start: usize, after: &'t str) -> Option<(&'t str, Sign)> {
    let before = text.get(..start)?;
    let before =
        before.strip_suffix(':').map_or(before, |before| before.trim_end_matches(|c: char| c.is_ascii_alphanumeric()));
    let is_name = before.ends_with('<') && after.starts_with(['>', ' ']);
    let open = after.bytes().take(LONGEST).position(|byte| byte == b'>').filter(|_| is_name)?;
    let given = after.get(open + 1..).filter(|_| !after.get(..open).unwrap_or_default().ends_with('/'))?;
    Some((given, Sign::Equals))
}

/// What is given with nothing but a space: the rest of a line that the word begins, as in `.netrc`, or behind an option
/// (`--password`). It must hold a digit, or it is a word.
fn bare<'t>(text: &str, start: usize, after: &'t str) -> Option<(&'t str, Sign)> {
    let given = after.strip_prefix(' ')?;
    let before = text.get(..start)?;
    let is_of_line = before.is_empty() || before.trim_end_matches([' ', '\t']).ends_with('\n');
    let value = unquoted(given, Script::Spaced);
    let ends_line = given.get(value.len()..)?.chars().next().is_none_or(|next| matches!(next, '\n' | '\r'));
    let is_given = before.ends_with("--") || is_of_line && ends_line && value.len() >= 8;
    (is_given && value.bytes().any(|byte| byte.is_ascii_digit())).then_some((given, Sign::Other))
}

/// Up to white space or what separates fields; what ends a sentence is not part of it.
fn unquoted(given: &str, script: Script) -> &str {
    let ends = |byte: u8| {
        byte.is_ascii_whitespace()
            || matches!(byte, b'"' | b'\'' | b'<' | b'>' | b';' | b',')
            || script == Script::Unspaced && !byte.is_ascii()
    };
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
