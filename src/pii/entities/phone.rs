//! Telephone numbers: international by their country code, national ones by context.

use super::Entity;
use crate::pii::evidence::{Evidence, Reader, lengths};
use crate::pii::number::{Number, sep};

pub(super) const ENTITY: Entity = Entity {
    name: "phone",
    groups: &["pii"],
    standard: "ITU-T E.164, E.123",
    check: "with + or 00: country code and length; national formats need context",
    keys: "phone, contact, kontakt, contacto, phone number, phone no, telephone, telephone number, tel, tel no, mobile, mobile number, mobile \
            phone, mobile no, cell, cell phone, cell number, msisdn, fax, contact number, contact no, landline, \
            whatsapp, sms, phone home, home phone, work phone, caller, caller id, callback number, telefon, \
            telefonnummer, telefonnr, rufnummer, handy, handynummer, mobil, mobilnummer, mobiltelefon, festnetz, \
            ruckrufnummer, telefono, numero di telefono, numero de telefono, cellulare, celular, movil, telefono \
            movil, recapito telefonico, numero telephone, numero de telephone, portable, telefone, numero de \
            telefone, telemovel, telefoon, telefoonnummer, mobiele nummer, mobiel, mobielnummer, mobiele telefoon, gsm, komorka, numer telefonu, telefonu, \
            puhelin, puhelinnumero, matkapuhelin, mobilen, tlf, mobilnr, cep telefonu, cep, телефон, \
            номер телефона, мобильный, мобильный телефон, сотовый, мобільний, 电话, 电话号码, 手机, 手机号, 手机号码, \
            移动电话, 联系电话, 联系方式, 座机, 固定电话, 電話, 電話號碼, 手機, 手機號碼, 聯絡電話, 電話番号, 携帯, 携帯番号, 携帯電話, \
            携帯電話番号, 固定電話, 連絡先, 連絡先電話番号, ファックス, 전화, 전화번호, 휴대전화, 휴대전화번호, 휴대폰, 휴대폰번호, 핸드폰, \
            핸드폰번호, 연락처, फोन, फ़ोन, फोन नंबर, मोबाइल, मोबाइल नंबर, दूरभाष, هاتف, رقم الهاتف, جوال, τηλέφωνο, κινητό, \
            telefon komorkowy, nr telefonu, telefon no, telefon numarasi, cep tel, gsm no, mobilni telefon, telefonni cislo, \
            telefonszam, numar de telefon, so dien thoai, nomor telepon, telefonne cislo, telefonni, broj telefona, \
            telefon mobil, telefons, номер телефону, телефону, мобилен, โทร, โทรศัพท์, เบอร์โทร, טלפון, נייד, cel, puhelinnro, matkapuhelinnumero",
    words: "call, call me, called, dial, ring, text me, reach me, reach me at, reached at, ph, mob, anrufen, ruf, \
            rufen, anruf, erreichbar, erreichen, mich unter, appelez, appelez moi, appeler, joindre, llamame, llama, \
            llamar, chiamami, chiama, chiamare, ligue, ligar, bel, bellen, zadzwon, dzwonic, soita, arayin, ara, \
            звоните, позвоните, reached on, reached by, reachable at, reach us, reach us at, call us, ring us, \
            text us, ruckruf, ruckruf unter, ruckruf bitte unter, erreichbar unter, joignable, joignable au, bereikbaar, \
            bereikbaar op, reperibile al, localizable en, nas pa",
    reader: Reader::Number(lengths(7, 16), judge),
    examples: &[
        ("phone", "«+49 30 901820»"),
        ("note", "«+1-212-555-0187»"),
        ("note", "Call me on «(604) 701-1500», please"),
        ("telefono", "«030 125443»"),
        ("tel", "«06 12 31 95 95»"),
        ("mobile", "«0055 11 96123-6127»"),
        ("note", "my mobile is «0034612351594»."),
        ("phone", "«617-953-0389»"),
        ("phone", "«5551234567»"),
        ("kontakt.telefonNummer", "«0171/2345678»"),
        ("note", "Ring mig på «08-13 17 21»"),
        ("note", "erreichen Sie mich unter «030 901820»"),
        ("q", "«%2B33612341809»"),
        ("note", "(«+44 (0)20 7946 0958»)"),
        ("phone", "«+1\u{a0}617\u{2011}742\u{2011}4708»"),
        ("phone", "«٠٥٠١ ٢٣٤ ٦٥ ٠٢»"),
        ("link", "tel:«+33612341809»"),
        ("note", "電話番号は«03-5550-1234»です"),
        ("휴대전화", "«010-5550-1234»"),
        ("handynr", "«0171 2345678»"),
        ("phone", "«202-555-0143» ext. 12"),
        ("phone", "«(202) 555-0143» x12"),
        ("note", "fax «+49  30  901820»"),
    ],
    counter_examples: &[
        ("note", "617-953-0389"),
        ("note", "quote 0049-2024-77"),
        ("注文番号", "090-6120-4471"),
        ("note", "00213120779"),
        ("phone_id", "00213120779"),
        ("note", "+999 123 456 789"),
        ("note", "+1 012 345 6789"),
        ("note", "1862418566"),
        ("order_id", "0034612351594"),
        ("note", "Ticket #1862418566 was closed"),
        ("id", "88db82c3-1e92-4726-9262-940305100899"),
        ("phone", "2024-08-25"),
        ("phone", "10.0.0.14"),
        ("note", "Item P/N 3549-237-570"),
        ("phone_version", "1234567"),
        ("lat", "+44.740012"),
        ("timestamp", "1747712972"),
        ("blob", "abc+491512345678"),
    ],
};

fn judge(number: &Number<'_>) -> Option<Evidence> {
    if looks_like_something_else(number) {
        return None;
    }
    if number.plus
        && let Some(evidence) = international(number.digits, number.separators)
    {
        return Some(evidence);
    }
    if let Some(digits) = number.digits.strip_prefix(b"00")
        && let Some(evidence) = international(digits, number.separators)
    {
        // In one piece it is as often an id that was filled up with zeros.
        return Some(if number.separators == 0 { Evidence::Shape } else { evidence });
    }
    let is_short_enough = number.digits.len() <= 15;
    match number.groups {
        _ if !is_short_enough => None,
        [3, 3, 4] if is_north_american(number.digits) => Some(Evidence::Shape),
        [1, 3, 3, 4] if number.digits.strip_prefix(b"1").is_some_and(is_north_american) => Some(Evidence::Shape),
        _ => Some(Evidence::Hint),
    }
}

/// Dates, dotted quads, decimals, and filling digits.
fn looks_like_something_else(number: &Number<'_>) -> bool {
    let is_filling = number.digits.iter().skip(1).all(|digit| number.digits.get(1) == Some(digit));
    let is_date = matches!(number.groups, [4, 2, 2] | [2, 2, 4] | [4, 2, 2, 2]) && {
        let (year, month, day) = match number.groups {
            [4, ..] => (number.value(0, 4), number.value(4, 6), number.value(6, 8)),
            _ => (
                number.value(4, 8),
                number.value(2, 4).min(number.value(0, 2)),
                number.value(0, 2).max(number.value(2, 4)),
            ),
        };
        (1900..2100).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day)
    };
    let is_dotted =
        number.separators == sep::DOT && matches!(number.groups.len(), 2 | 4) && !number.digits.starts_with(b"0");
    let is_decimal = number.separators == sep::DOT && matches!(number.groups, [1..=3, fraction] if *fraction > 4);
    is_filling || is_date || is_dotted || is_decimal
}

/// What shows in the digits after `+` or `00`.
fn international(digits: &[u8], separators: u8) -> Option<Evidence> {
    let (code, national) = country_code(digits)?;
    let (national, has_trunk) = match national {
        // Italy and some others keep the zero; elsewhere it is the trunk prefix that E.123 writes as `(0)`.
        [b'0', rest @ ..] if code != 39 => (rest, true),
        national => (national, false),
    };
    let is_long_enough = national_lengths(code).contains(&national.len());
    let is_plausible = code != 1 || is_north_american(national);
    (is_long_enough && is_plausible).then_some(if has_trunk && separators & sep::OTHER == 0 {
        Evidence::Shape
    } else {
        Evidence::Checked
    })
}

fn is_north_american(digits: &[u8]) -> bool {
    matches!(digits, [b'2'..=b'9', _, _, b'2'..=b'9', _, _, _, _, _, _])
}

/// The E.164 country code and what follows it.
fn country_code(digits: &[u8]) -> Option<(u32, &[u8])> {
    let code = |length: usize| {
        let (code, national) = digits.split_at_checked(length)?;
        Some((code.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0')), national))
    };
    let length = match code(2)?.0 {
        10..=19 | 70..=79 => 1,
        20 | 27 | 30..=34 | 36 | 39..=41 | 43..=49 | 51..=58 | 60..=66 | 81 | 82 | 84 | 86 | 90..=95 | 98 => 2,
        _ => 3,
    };
    let (code, national) = code(length)?;
    let is_assigned = length < 3
        || matches!(code,
            211..=213 | 216 | 218 | 220..=258 | 260..=269 | 290 | 291 | 297..=299 | 350..=359 | 370..=383 | 385..=387 | 389
            | 420 | 421 | 423 | 500..=509 | 590..=599 | 670 | 672..=683 | 685..=692 | 800 | 808 | 850 | 852 | 853 | 855
            | 856 | 870 | 878 | 880..=883 | 886 | 888 | 960..=968 | 970..=977 | 979 | 992..=996 | 998);
    is_assigned.then_some((code, national))
}

#[expect(clippy::match_same_arms, reason = "one line for each kind of numbering plan")]
/// How many digits a national number has, as numbering plans say; the widest where we do not know.
fn national_lengths(code: u32) -> std::ops::RangeInclusive<usize> {
    match code {
        1 | 7 | 91 => 10..=10,
        33 | 34 | 48 | 27 | 351 | 420 | 421 | 380 | 971 => 9..=9,
        31 | 32 | 41 | 61 | 66 | 972 => 8..=9,
        44 => 9..=10,
        45 | 47 | 65 | 852 | 370 | 371 => 8..=8,
        46 => 7..=10,
        49 | 43 => 7..=13,
        39 => 6..=11,
        52 | 90 => 10..=11,
        55 => 10..=11,
        81 => 9..=10,
        86 => 9..=11,
        _ => 6..=12,
    }
}
