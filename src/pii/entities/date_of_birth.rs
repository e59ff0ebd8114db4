//! Dates of birth: every date looks like one, so that only context tells.

use super::Entity;
use crate::pii::checksum::is_day;
use crate::pii::code::begins_freely;
use crate::pii::evidence::{Evidence, Reader, Sighting};
use crate::pii::shape::Shape;

pub(super) const ENTITY: Entity = Entity {
    name: "date_of_birth",
    groups: &["pii"],
    standard: "ISO 8601 and what people write",
    check: "a day that exists from 1900 on, numeric or with the month's name (English, German, French, Spanish, Italian, \
            Dutch, Portuguese, Polish, Turkish, Scandinavian) or 年月日; context",
    keys: "dob, birth date, birthdate, birthday, birth day, date of birth, born, born on, birth, d o b, geburtsdatum, \
            geboren, geboren am, geb datum, gebdatum, geburtstag, geb, date naissance, date de naissance, naissance, ne le, \
            nee le, fecha nacimiento, fecha de nacimiento, nacimiento, nacido el, nacida el, nacido, data di nascita, data \
            nascita, nato il, nata il, nato, nascita, data de nascimento, data nascimento, nascimento, nascido em, nascida em, \
            geboortedatum, geboren op, data urodzenia, urodzony, urodzona, ur, syntymaaika, fodelsedatum, fodelsedag, fodd, \
            fodselsdato, fodt, dogum tarihi, dogum gunu, дата рождения, день рождения, родился, родилась, дата \
            народження, 生年月日, 誕生日, 出生日期, 出生年月, 出生年月日, 生日, 생년월일, 생일, जन्म तिथि, जन्मतिथि, जन्म दिनांक, \
            تاريخ الميلاد, fecha nac, fec nac, f nacimiento, cumpleanos, data nasc, dt nasc, dt nascimento, aniversario, date \
            naiss, ddn, anniversaire, compleanno, geb dat, geboortedag, verjaardag, data ur, fodselsdag, fodselsdata, \
            syntynyt, syntymapaiva, dogum t, datum narozeni, szuletesi datum, szuletesi ido, data nasterii, ngay sinh, tanggal \
            lahir, datum rodenia, datum narodzenia, rojstni datum, datum rodenja, dzimsanas datums, gimimo data, sunniaeg, \
            ημερομηνια γεννησης, дата на раждане, датум рођења, วันเกิด, תאריך לידה",
    words: "naci, naci el, nasci, nasci em, urodzilem sie, urodzilam sie, dogdum, narodil jsem se, narodila jsem se, was born on, was born, born in, birth date is, bday, doğum",
    reader: Reader::Shaped(SHAPES, read),
    examples: &[
        ("dob", "«1951-09-23»"),
        ("birthDate", "«1951-09-23»T00:00:00Z"),
        ("geburtsdatum", "«25.06.2003»"),
        ("note", "She was born on «04/01/1998» in York"),
        ("dob", "«19510923»"),
        ("note", "Geburtsdatum: «3. März 1961», Berlin"),
        ("birthday", "«4 May 1980»"),
        ("birthday", "«May 4, 1980»"),
        ("note", "nato il «06-02-1992»"),
        ("q", "dob=«04%2F01%2F1998»&x=1"),
        ("date_naissance", "«1er mars 1961»"),
        ("dob", "«1951/9/3»"),
        ("生年月日", "«1954年10月30日»"),
        ("note", "생년월일: «1952년 11월 10일»생"),
        ("誕生日", "«1971/05/26»"),
        ("Geb.-Dat.", "«30.09.2000»"),
        ("data_urodzenia", "«3 lipca 1961»"),
        ("doğum_tarihi", "«4 Ağustos 1980»"),
        ("dob", "«3. maj 1961»"),
        ("datum narození", "«14. 9. 2000»"),
        ("note", "وتاريخ الميلاد «16/12/1954»"),
    ],
    counter_examples: &[
        ("created_at", "1951-09-23"),
        ("note", "1951-09-23"),
        ("dob", "1951-13-23"),
        ("dob", "1851-09-23"),
        ("dob", "2003-02-30"),
        ("dob", "51-09-23-11"),
        ("due_date", "09/16/2023"),
        ("改定日", "2024年3月1日"),
        ("dob", "1954年13月30日"),
        ("dob_version", "1951-09-23"),
        ("dob", "12345678"),
        ("note", "born on a Friday, order 19510923"),
    ],
};

/// A day, alone or with its ending, a year, all in one; what can follow a day, and `May 4, 1980`.
const SHAPES: &[Shape] = &[
    Shape::of("9").then("-./ ~"),
    Shape::of("9").behind(" ").then(","),
    Shape::of("99").then("-./ ~"),
    Shape::of("99").behind(" ").then(","),
    Shape::of("9AA"),
    Shape::of("99AA"),
    Shape::of("9999").then("-./~"),
    Shape::of("99999999"),
    Shape::of("99AA9999").behind(" "),
];

const FIRST_YEAR: u32 = 1900;
const LAST_YEAR: u32 = 2099;

fn read(text: &str, start: usize) -> Option<Sighting> {
    let bytes = text.as_bytes();
    let word = bytes.get(start..)?;
    let digits = word.iter().take(9).take_while(|byte| byte.is_ascii_digit()).count();
    // PERF: a date is asked for at every short word with a digit; most end at what follows.
    let length = match (digits, word.get(digits)) {
        (8, _) => compact(word),
        (1 | 2 | 4, Some(b'-' | b'.' | b'/')) => numeric(word, digits).or_else(|| named(text, start, digits)),
        (1 | 2, Some(b' '))
            if !word.get(digits + 1).is_some_and(|&next| next.is_ascii_alphabetic() || next >= 0x80) =>
        {
            None
        }
        (1 | 2, Some(_)) => named(text, start, digits),
        (4, Some(0x80..)) => east_asian(text.get(start..)?),
        _ => None,
    };
    if let Some(length) = length {
        let end = start + length;
        let is_whole = begins_freely(bytes, start) && ends_date(bytes, end);
        return is_whole.then_some(Sighting { start, end, evidence: Evidence::Hint });
    }
    (matches!(digits, 1 | 2)).then(|| month_first(text, start, digits)).flatten()
}

/// A time of day may follow (ISO 8601 `T`), a longer number not.
fn ends_date(bytes: &[u8], end: usize) -> bool {
    match bytes.get(end..).unwrap_or_default() {
        [b'T', hour, ..] => hour.is_ascii_digit(),
        [b'-' | b'/' | b'.' | b'_', next, ..] => !next.is_ascii_alphanumeric(),
        [first, ..] => !first.is_ascii_alphanumeric(),
        [] => true,
    }
}

fn value(digits: &[u8]) -> u32 {
    digits.iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'))
}

fn is_birthday(year: u32, month: u32, day: u32) -> bool {
    (FIRST_YEAR..=LAST_YEAR).contains(&year) && is_day(year, month, day)
}

/// `19510923`.
fn compact(word: &[u8]) -> Option<usize> {
    let part = |from: usize, to: usize| word.get(from..to).map(value);
    is_birthday(part(0, 4)?, part(4, 6)?, part(6, 8)?).then_some(8)
}

/// `1954年10月30日`, `1954년 10월 30일`.
fn east_asian(text: &str) -> Option<usize> {
    let mut rest = text;
    let mut part = |units: [char; 2]| {
        let digits = rest.bytes().take(5).take_while(u8::is_ascii_digit).count();
        let number = value(rest.get(..digits).filter(|digits| !digits.is_empty())?.as_bytes());
        let behind = rest.get(digits..)?.strip_prefix(units)?;
        rest = behind.strip_prefix(' ').unwrap_or(behind);
        Some((number, text.len() - behind.len()))
    };
    let ((year, _), (month, _), (day, length)) = (part(['年', '년'])?, part(['月', '월'])?, part(['日', '일'])?);
    is_birthday(year, month, day).then_some(length)
}

/// Three numbers with one kind of separator: year first, or last and then day and month in either order.
fn numeric(word: &[u8], first_len: usize) -> Option<usize> {
    let separator = *word.get(first_len)?;
    let number_at = |at: usize| {
        let rest = word.get(at..)?;
        let length = rest.iter().take(5).take_while(|byte| byte.is_ascii_digit()).count();
        (length > 0).then(|| (value(rest.get(..length).unwrap_or_default()), length))
    };
    // `14. 9. 2000`.
    let behind = |at: usize| at + 1 + usize::from(separator == b'.' && word.get(at + 1) == Some(&b' '));
    let (first, _) = number_at(0)?;
    let second_at = behind(first_len);
    let (second, second_len) = number_at(second_at)?;
    let second_end = second_at + second_len;
    let third_at = behind(second_end);
    let (third, third_len) = number_at(third_at).filter(|_| word.get(second_end) == Some(&separator))?;
    let is_birthday = match (first_len, second_len, third_len) {
        (4, 1 | 2, 1 | 2) => is_birthday(first, second, third),
        (1 | 2, 1 | 2, 4) => is_birthday(third, second, first) || is_birthday(third, first, second),
        // Two digits of a year: this century or the last.
        (2, 2, 2) => [1900, 2000]
            .iter()
            .any(|century| is_birthday(century + third, second, first) || is_birthday(century + third, first, second)),
        _ => false,
    };
    is_birthday.then_some(third_at + third_len)
}

/// The first three letters (lower case, as they are written) of the months' names; those that share them follow.
const MONTHS: [&[&str]; 12] = [
    &["jan", "ene", "gen", "sty", "oca"],
    &["feb", "fév", "fev", "lut", "şub"],
    &["mar", "mär", "mrz", "maa", "mrt"],
    &["apr", "avr", "abr", "kwi", "nis"],
    &["may", "mai", "mag", "mei", "maj"],
    &["jun", "juin", "giu", "cze", "haz"],
    &["jul", "juil", "lug", "lip", "tem"],
    &["aug", "aoû", "ago", "sie", "ağu"],
    &["sep", "set", "wrz", "eyl"],
    &["oct", "okt", "ott", "out", "paź", "eki"],
    &["nov", "lis", "kas"],
    &["dec", "dez", "déc", "dic", "des", "gru", "ara"],
];

/// The first three letters of [`MONTHS`], as far as they are ASCII.
#[rustfmt::skip]
const fn is_month_start(first: [u8; 3]) -> bool {
    matches!(
        &first,
        b"jan" | b"ene" | b"gen" | b"feb" | b"fev" | b"mar" | b"mrz" | b"maa" | b"mrt" | b"apr" | b"avr" | b"abr" | b"may"
            | b"mai" | b"mag" | b"mei" | b"jun" | b"jui" | b"giu" | b"jul" | b"lug" | b"aug" | b"ago" | b"sep" | b"set"
            | b"oct" | b"okt" | b"ott" | b"out" | b"nov" | b"dec" | b"dez" | b"dic" | b"sty" | b"oca" | b"lut" | b"kwi" | b"nis" | b"maj" | b"cze" | b"haz" | b"lip" | b"tem" | b"sie" | b"wrz" | b"eyl" | b"eki" | b"lis" | b"kas" | b"des" | b"gru" | b"ara"
    )
}

/// The month that begins `text`, and the length of its name with a dot.
fn month(text: &str) -> Option<(u32, usize)> {
    // PERF: most words that follow a number are no month, and three letters say so.
    if let Some(first) = text.as_bytes().first_chunk::<3>()
        && first.is_ascii()
        && !is_month_start(first.map(|byte| byte.to_ascii_lowercase()))
    {
        return None;
    }
    let length =
        text.char_indices().take(11).find(|(_, letter)| !letter.is_alphabetic()).map_or(text.len(), |(at, _)| at);
    let name = text.get(..length).filter(|name| name.len() >= 3)?;
    let begins = |start: &&str| {
        let mut letters = name.chars().flat_map(char::to_lowercase);
        start.chars().all(|letter| letters.next() == Some(letter))
    };
    let at = MONTHS.iter().position(|starts| starts.iter().any(&begins))?;
    let has_dot = text.as_bytes().get(length) == Some(&b'.');
    Some((at as u32 + 1, length + usize::from(has_dot)))
}

/// `4 May 1980`, `3. März 1961`, `1er mars 1961`, `4th of May 1980`, `4 de mayo de 1980`, `04-May-1980`.
fn named(text: &str, start: usize, digits: usize) -> Option<usize> {
    let rest = text.get(start..)?;
    let day = value(rest.as_bytes().get(..digits)?);
    let mut at = digits;
    let mut skip = |words: &[&str]| {
        for word in words {
            if rest.get(at..).is_some_and(|rest| rest.starts_with(word)) {
                at += word.len();
                return at;
            }
        }
        at
    };
    skip(&["st", "nd", "rd", "th", "er", ".", "º"]);
    let before = skip(&[" of ", " de ", " ", "-"]);
    (before > digits).then_some(())?;
    let (month, length) = month(rest.get(before..)?)?;
    at = before + length;
    let mut skip = |words: &[&str]| {
        if let Some(word) = words.iter().find(|word| rest.get(at..).is_some_and(|rest| rest.starts_with(**word))) {
            at += word.len();
        }
        at
    };
    let year_at = skip(&[", ", " de ", " del ", " ", "-"]);
    let year = rest.as_bytes().get(year_at..year_at + 4).filter(|year| year.iter().all(u8::is_ascii_digit))?;
    is_birthday(value(year), month, day).then_some(year_at + 4)
}

/// `May 4, 1980`, read at the day.
fn month_first(text: &str, start: usize, digits: usize) -> Option<Sighting> {
    let before = text.get(..start)?.strip_suffix(' ')?;
    let before = before.strip_suffix('.').unwrap_or(before);
    let first = before.char_indices().rev().take(10).take_while(|(_, letter)| letter.is_alphabetic()).last()?.0;
    let (month, _) = month(before.get(first..)?)?;
    let rest = text.as_bytes().get(start..)?;
    let day = value(rest.get(..digits)?);
    let mut at = digits;
    if rest.get(at..).is_some_and(|rest| [b"st", b"nd", b"rd", b"th"].iter().any(|end| rest.starts_with(*end))) {
        at += 2;
    }
    at += usize::from(rest.get(at) == Some(&b','));
    at += usize::from(rest.get(at) == Some(&b' '));
    let year = rest.get(at..at + 4).filter(|year| year.iter().all(u8::is_ascii_digit))?;
    let end = start + at + 4;
    let is_whole = at > digits && begins_freely(text.as_bytes(), first) && ends_date(text.as_bytes(), end);
    (is_whole && is_birthday(value(year), month, day)).then_some(Sighting {
        start: first,
        end,
        evidence: Evidence::Hint,
    })
}
