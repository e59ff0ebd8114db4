//! Payment card numbers: issuer ranges with their lengths, and the Luhn check digit.

use super::Entity;
use crate::pii::checksum::{is_one_digit, luhn};
use crate::pii::code::{begins_freely, ends_freely};
use crate::pii::evidence::{Evidence, Reader, Sighting, lengths};
use crate::pii::number::{Number, sep};

pub(super) const ENTITY: Entity = Entity {
    name: "credit_card",
    groups: &["pii", "financial"],
    standard: "ISO/IEC 7812, PCI DSS",
    check: "issuer range and its lengths, Luhn, groups as cards are printed; several kinds of separators, odd groups or an `x` in \
            front need context",
    keys: "card, card number, card no, card num, cc, cc number, ccn, cc num, credit card, credit card number, debit \
            card, payment card, pan, primary account number, card pan, visa, mastercard, amex, american express, \
            kreditkarte, kreditkartennummer, kartennummer, karte, tarjeta, tarjeta de credito, numero tarjeta, numero \
            de tarjeta, carte, carte bancaire, carte bleue, numero de carte, carta, carta di credito, numero carta, \
            cartao, cartao de credito, numero do cartao, creditcard, creditcardnummer, betaalkaart, kaartnummer, \
            karta, numer karty, karta kredytowa, kort, kortnummer, kreditkort, luottokortti, kart numarasi, kredi \
            karti, kart no, kredi kart, kreditkartnummer, betalingskort, korttinumero, kortin numero, karta platnicza, nr \
            karty, cislo karty, platebni karta, carta de credito, num cartao, numero de la tarjeta, номер карты, карта, \
            кредитная карта, κάρτα, 信用卡, 信用卡号, 银行卡, 银行卡号, 卡号, カード番号, クレジットカード, \
            クレジットカード番号, 카드번호, 신용카드, 신용카드번호, कार्ड, कार्ड नंबर",
    words: "charge, charged, paid with, pay with, payment, bezahlt mit, paye avec, pagado con, maestro, diners, \
            discover, jcb, unionpay",
    reader: Reader::Any(&[Reader::Number(lengths(12, 19), judge), Reader::Code(lengths(13, 20), read_marked)]),
    examples: &[
        ("card_number", "«4111 1111 1111 1111»"),
        ("value", "«4111111111111111»"),
        ("note", "paid with card «4111-1111-1111-1111» last week"),
        ("value", "«2223003122003222»"),
        ("value", "«2720 9900 0000 0007»"),
        ("value", "«378282246310005»"),
        ("value", "«3782 822463 10005»"),
        ("value", "«6011111111111117»"),
        ("value", "«30569309025904»"),
        ("pan", "«6304000000000000»"),
        ("pan", "«4222222222222»"),
        ("card", "«4000\u{a0}0000\u{a0}0000\u{a0}0002»"),
        ("card", "«4000\u{2011}0000\u{2011}0000\u{2011}0002»"),
        ("q", "«4000%200000%200000%200002»"),
        ("q", "«4000+0000+0000+0002»"),
        ("note", "1234 «4111 1111 1111 1111» 12/27"),
        ("log", "pan=«4111_1111_1111_1111» ok"),
        ("note", "«4111/1111/1111/1111»"),
        ("note", "«3782  822463  10005»"),
        ("note", "my card: «4111 1111-1111 1111»"),
        ("note", "card x«4111111111111111»"),
        ("クレジットカード番号", "«4111111111111111»"),
        ("invoice", "please bill the card 4000 0000 0000 0002 or «4111 1111 1111 1111»"),
    ],
    counter_examples: &[
        ("card", "4111 1111 1111 1112"),
        ("card", "0000 0000 0000 0000"),
        ("card", "4111********1111"),
        ("created_at", "1770945811172"),
        ("epoch", "4102444800004"),
        ("order_id", "4111111111111111"),
        ("id", "4111111111111111"),
        ("note", "invoice 4111111111111111"),
        ("isbn", "9780500750360"),
        ("product", "4000000000006"),
        ("score", "3.4111111111111111"),
        ("card", "41111111111111111"),
        ("uuid", "41111111-1111-1111-1111-111111111111"),
        ("note", "4111 1111-1111 1111"),
        ("note", "x4111111111111111"),
        ("card", "0x4111111111111111"),
        ("note", "card 41_11_1111_1111_1111"),
        ("note", "12/27/4111111111111"),
        ("blob", "A4111111111111111"),
        ("note", "INV-4111111111111111"),
    ],
};

fn judge(number: &Number<'_>) -> Option<Evidence> {
    let grouping = grouping(number)?;
    if number.plus || is_one_digit(number.digits) || !issues(number.digits) || !luhn(number.digits) {
        return None;
    }
    Some(match (number.digits.len(), grouping) {
        // Twelve digits are an old Maestro; thirteen an old Visa, or one article number in ten from 40 to 49.
        (12, _) | (13, Grouping::None) | (_, Grouping::Odd) => Evidence::Shape,
        _ => Evidence::Checked,
    })
}

enum Grouping {
    None,
    Printed,
    Odd,
}

/// A word of an `x` and a number: `x4111…`, as terminals and tables mark what is text.
fn read_marked(text: &str, start: usize) -> Option<Sighting> {
    let word = text
        .as_bytes()
        .get(start..)?
        .strip_prefix(b"x")
        .or_else(|| text.as_bytes().get(start..)?.strip_prefix(b"X"))?;
    let length = word.iter().take(20).take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, start) = (word.get(..length)?, start + 1);
    let is_card = !is_one_digit(digits) && issues(digits) && luhn(digits);
    let is_whole = begins_freely(text.as_bytes(), start - 1) && ends_freely(text.as_bytes(), start + length);
    (is_card && is_whole).then_some(Sighting { start, end: start + length, evidence: Evidence::Shape })
}

/// How it is grouped; `None`: as no card is.
fn grouping(number: &Number<'_>) -> Option<Grouping> {
    let is_printed = match number.groups {
        [_] => return Some(Grouping::None),
        [4, 6, 2..=5] | [4, 3, 3, 3] | [8, 8] => true,
        [4, middle @ .., 1..=4] => !middle.is_empty() && middle.iter().all(|&length| length == 4),
        _ => false,
    };
    let is_usual = number.separators & (sep::SLASH | sep::LOW | sep::WIDE) == 0;
    match number.groups {
        _ if is_printed && number.is_uniform() => Some(Grouping::Printed),
        [4, 4, 4, 4] | [4, 6, 5] if number.separators & sep::OTHER == 0 => Some(Grouping::Odd),
        [first, .., last]
            if number.is_uniform() && is_usual && *first >= 3 && *last >= 2 && number.groups.len() <= 5 =>
        {
            Some(Grouping::Odd)
        }
        _ => None,
    }
}

#[expect(clippy::match_same_arms, reason = "one line for each network")]
/// Whether a network issues numbers that begin so, of this length.
fn issues(digits: &[u8]) -> bool {
    let first = digits.get(..6).unwrap_or_default();
    let (six, length) = (first.iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0')), digits.len());
    match six {
        400_000..=499_999 => matches!(length, 13 | 16 | 19),   // Visa
        510_000..=559_999 | 222_100..=272_099 => length == 16, // Mastercard
        340_000..=349_999 | 370_000..=379_999 => length == 15, // American Express
        360_000..=369_999 => (14..=19).contains(&length),      // Diners
        300_000..=305_999 | 309_500..=309_599 | 380_000..=399_999 => matches!(length, 14 | 16..=19),
        352_800..=358_999 => (16..=19).contains(&length), // JCB
        601_100..=601_199 | 644_000..=659_999 | 620_000..=629_999 => (16..=19).contains(&length), // Discover, UnionPay
        810_000..=817_199 | 820_000..=829_999 | 606_000..=608_999 => length == 16, // UnionPay, RuPay, Hipercard
        220_000..=220_499 => (16..=19).contains(&length), // Mir
        979_200..=979_299 | 860_000..=860_099 | 986_000..=986_099 => length == 16, // Troy, Uzcard, Humo
        // Maestro and the national schemes beside it.
        500_000..=509_999 | 560_000..=589_999 | 630_000..=639_999 | 670_000..=679_999 | 604_000..=604_999 => {
            (12..=19).contains(&length)
        }
        _ => false,
    }
}
