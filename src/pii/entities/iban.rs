//! International bank account numbers: length and kinds of characters by country, and a checksum.

use super::Entity;
use crate::pii::evidence::{Evidence, Reader, Sighting};
use crate::pii::shape::Shape;

pub(super) const ENTITY: Entity = Entity {
    name: "iban",
    groups: &["pii", "financial"],
    standard: "ISO 13616, IBAN registry",
    check: "length and character classes by country, ISO 7064 mod 97-10",
    keys: "iban, bank account, account iban, kontonummer, bankverbindung, beneficiary account, konto, compte \
            bancaire, cuenta bancaria, conto bancario, conto corrente, bankrekening, rekeningnummer, conta bancaria, \
            rachunek, numer konta, rib",
    words: "account, uberweisen, virement, transferencia, bonifico, przelew",
    reader: Reader::Any(&[Reader::Shaped(SHAPES, read), Reader::Shaped(TAGGED, read), Reader::Code(1 << 31, read)]),
    examples: &[
        ("iban", "«GB82 WEST 1234 5698 7654 32»"),
        ("note", "Wire it to IBAN «DE89370400440532013000»."),
        ("value", "«gb82west12345698765432»"),
        ("text", "bank account «DE89 3704 0044 0532 0130 00» for the refund"),
        ("text", "«NO9386011117947» 2024"),
        ("iban", "«DE89\u{a0}3704\u{a0}0044\u{a0}0532\u{a0}0130\u{a0}00»"),
        ("iban", "«DE89-3704-0044-0532-0130-00»"),
        ("q", "«DE89%203704%200044%200532%200130%2000»"),
        ("order", "«DE89370400440532013000»"),
        ("note", "pay «NL91 ABNA 0417 1643 00» AND TELL 12 PEOPLE"),
        ("html", "IBAN&nbsp;«DE89&nbsp;3704&nbsp;0044&nbsp;0532&nbsp;0130&nbsp;00»"),
        ("mt940", ":86:166?00SEPA?31«DE89370400440532013000»?32MEIER"),
    ],
    counter_examples: &[
        ("iban", "GB82 WEST 1234 5698 7654 33"),
        ("iban", "DE8937040044053201300"),
        ("iban", "DE893704004405320130001"),
        ("iban", "XX82WEST12345698765432"),
        ("iban", "XDE89370400440532013000"),
        ("iban", "DE89 3704 0044 0532 0130 001"),
        ("iban", "DE00370400440532013000"),
    ],
};

/// Country and its basic account number as the registry writes it: n digits, a letters, c both.
const COUNTRIES: &[(&[u8; 2], &str)] = &[
    (b"AD", "8n12c"),
    (b"AE", "19n"),
    (b"AL", "8n16c"),
    (b"AT", "16n"),
    (b"AZ", "4a20c"),
    (b"BA", "16n"),
    (b"BE", "12n"),
    (b"BG", "4a6n8c"),
    (b"BH", "4a14c"),
    (b"BI", "23n"),
    (b"BR", "23n1a1c"),
    (b"BY", "4c4n16c"),
    (b"CH", "5n12c"),
    (b"CR", "18n"),
    (b"CY", "8n16c"),
    (b"CZ", "20n"),
    (b"DE", "18n"),
    (b"DJ", "23n"),
    (b"DK", "14n"),
    (b"DO", "4c20n"),
    (b"EE", "16n"),
    (b"EG", "25n"),
    (b"ES", "20n"),
    (b"FI", "14n"),
    (b"FK", "2a12n"),
    (b"FO", "14n"),
    (b"FR", "10n11c2n"),
    (b"GB", "4a14n"),
    (b"GE", "2a16n"),
    (b"GI", "4a15c"),
    (b"GL", "14n"),
    (b"GR", "7n16c"),
    (b"GT", "24c"),
    (b"HN", "4a20n"),
    (b"HR", "17n"),
    (b"HU", "24n"),
    (b"IE", "4a14n"),
    (b"IL", "19n"),
    (b"IQ", "4a15n"),
    (b"IS", "22n"),
    (b"IT", "1a10n12c"),
    (b"JO", "4a4n18c"),
    (b"KW", "4a22c"),
    (b"KZ", "3n13c"),
    (b"LB", "4n20c"),
    (b"LC", "4a24c"),
    (b"LI", "5n12c"),
    (b"LT", "16n"),
    (b"LU", "3n13c"),
    (b"LV", "4a13c"),
    (b"LY", "21n"),
    (b"MC", "10n11c2n"),
    (b"MD", "20c"),
    (b"ME", "18n"),
    (b"MK", "3n10c2n"),
    (b"MN", "16n"),
    (b"MR", "23n"),
    (b"MT", "4a5n18c"),
    (b"MU", "4a19n3a"),
    (b"NI", "4a20n"),
    (b"NL", "4a10n"),
    (b"NO", "11n"),
    (b"OM", "3n16c"),
    (b"PK", "4a16c"),
    (b"PL", "24n"),
    (b"PS", "4a21c"),
    (b"PT", "21n"),
    (b"QA", "4a21c"),
    (b"RO", "4a16c"),
    (b"RS", "18n"),
    (b"RU", "14n15c"),
    (b"SA", "2n18c"),
    (b"SC", "4a20n3a"),
    (b"SD", "14n"),
    (b"SE", "20n"),
    (b"SI", "15n"),
    (b"SK", "20n"),
    (b"SM", "1a10n12c"),
    (b"SO", "19n"),
    (b"ST", "21n"),
    (b"SV", "4a20n"),
    (b"TL", "19n"),
    (b"TN", "20n"),
    (b"TR", "6n16c"),
    (b"UA", "6n19c"),
    (b"VA", "18n"),
    (b"VG", "4a16n"),
    (b"XK", "16n"),
    (b"YE", "4a4n18c"),
];

/// The first word of a number: its country, its check digits, and as much as is written without a space.
const SHAPES: &[Shape] = &beginnings::<27>("AA99***************************", 4);

/// The same behind the two digits of an MT940 subfield: `?31DE…`.
const TAGGED: &[Shape] = &beginnings::<25>("99AA99*************************", 6);

/// All beginnings of `whole` from `shortest` letters and digits on.
const fn beginnings<const N: usize>(whole: &'static str, shortest: usize) -> [Shape; N] {
    let mut shapes = [Shape::of(whole); N];
    let mut n = 0;
    while n < shapes.len() {
        shapes[n] = Shape::of(whole.split_at(n + shortest).0);
        n += 1;
    }
    shapes
}

/// The longest IBAN of the registry.
const MAX_LEN: usize = 33;

fn read(text: &str, word: usize) -> Option<Sighting> {
    // SWIFT MT940, field 86: `?31` leads up to the number.
    let is_subfield =
        matches!(text.as_bytes().get(word.checked_sub(1).unwrap_or(word)..), Some([b'?', b'3', b'0'..=b'9', ..]));
    let start = if is_subfield { word + 2 } else { word };
    let bytes = text.as_bytes().get(start..)?;
    let [first, second, check @ ..] = bytes else { return None };
    let country = [first.to_ascii_uppercase(), second.to_ascii_uppercase()];
    if !matches!(check, [tens, ones, ..] if tens.is_ascii_digit() && ones.is_ascii_digit()) {
        return None;
    }
    let at = COUNTRIES.binary_search_by_key(&&country, |(code, _)| code).ok()?;
    let (_, classes) = COUNTRIES.get(at)?;
    let mut compact = [0_u8; MAX_LEN];
    let mut cursor = Cursor { bytes, at: 0 };
    let mut length = 0;
    let mut take = |class: u8| -> Option<()> {
        let byte = cursor.next()?;
        let fits = match class {
            b'n' => byte.is_ascii_digit(),
            b'a' => byte.is_ascii_uppercase(),
            _ => true,
        };
        *compact.get_mut(length).filter(|_| fits)? = byte;
        length += 1;
        Some(())
    };
    "aann".bytes().try_for_each(&mut take)?;
    expand(classes, &mut take)?;
    let is_joined = cursor.bytes.get(cursor.at).is_some_and(u8::is_ascii_alphanumeric) || cursor.goes_on();
    let is_valid =
        !is_joined && remainder(compact.get(..length)?) == 1 && !matches!(compact.get(2..4)?, b"00" | b"01" | b"99");
    let end = start + cursor.at;
    is_valid.then_some(Sighting { start, end, evidence: Evidence::Strong })
}

/// Calls `take` for each character of a description such as `4a14n`.
fn expand(classes: &str, take: &mut impl FnMut(u8) -> Option<()>) -> Option<()> {
    let mut count = 0;
    for byte in classes.bytes() {
        if byte.is_ascii_digit() {
            count = count * 10 + (byte - b'0');
        } else {
            (0..count).try_for_each(|_| take(byte))?;
            count = 0;
        }
    }
    Some(())
}

/// Reads letters and digits over single separators.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn next(&mut self) -> Option<u8> {
        if matches!(self.bytes.get(self.at..)?, [b' ' | b'-' | b'.' | b'+', next, ..] if next.is_ascii_alphanumeric()) {
            self.at += 1;
        }
        let byte = self.bytes.get(self.at).filter(|byte| byte.is_ascii_alphanumeric())?;
        self.at += 1;
        Some(byte.to_ascii_uppercase())
    }

    /// Whether a group joined by `-`, or one more digit, follows: then this was not the end of the number.
    fn goes_on(&self) -> bool {
        matches!(self.bytes.get(self.at..), Some([b'-' | b'_', next, ..]) if next.is_ascii_alphanumeric())
    }
}

/// ISO 7064 mod 97-10 over the number with its first four characters moved to the end.
fn remainder(compact: &[u8]) -> u32 {
    let (head, account) = compact.split_at(4.min(compact.len()));
    account.iter().chain(head).fold(0, |rest, &byte| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        letter => (rest * 100 + u32::from(letter.saturating_sub(b'A')) + 10) % 97,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn countries_are_sorted_and_fit() {
        assert!(COUNTRIES.is_sorted_by_key(|(code, _)| code));
        for (code, classes) in COUNTRIES {
            let mut length = 4;
            expand(classes, &mut |_| {
                length += 1;
                Some(())
            });
            assert!((15..=MAX_LEN).contains(&length), "{code:?}");
        }
    }
}
