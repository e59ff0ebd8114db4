//! The words that speak for an entity or against it, in one hash table made from the entity table. It splits names into
//! words and looks phrases up; what follows from them is decided in `context`.
//!
//! A word counts without its case, accents and digits, and a phrase without its joints, so that `cardNumber`,
//! `card_number`, `CARDNUMBER` and `card number` are one thing.

use std::sync::LazyLock;

use super::entities::TABLE;
use super::entity::{EntityId, EntitySet};

/// Words that name look-alikes. Several languages, without accents.
const AGAINST: &str = "id, version, ver, firmware, release, build, revision, rev, semver, oid, section, chapter, order, order number, \
     purchase order, po, po number, invoice, inv, receipt, voucher, gift code, coupon, epoch, timestamp, time stamp, \
     ts, unix time, isbn, issn, doi, ean, gtin, upc, asin, barcode, sku, part, part number, part no, pn, item number, \
     serial, serial number, sn, asset, batch, lot, hash, sha, md, digest, checksum, crc, etag, fingerprint, commit, \
     signature, nonce, uuid, guid, lat, lng, lon, latitude, longitude, latlng, coordinates, tracking, tracking \
     number, shipment, parcel, waybill, consignment, ticket, case number, docket, seq, sequence, offset, cursor, \
     quantity, qty, width, height, weight, resolution, dimensions, score, ratio, port, pid, trace, trace id, span, \
     span id, request id, session id, transaction, transaction id, transaction ref, txn, correlation id, color, \
     colour, masked, token ref, epc, imei, imsi, iccid, vin, bestellung, bestellnummer, auftrag, auftragsnummer, \
     rechnung, rechnungsnummer, sendungsnummer, vorgang, aktenzeichen, seriennummer, artikelnummer, zeitstempel, \
     kundennummer, commande, facture, numero de commande, numero de facture, colis, suivi, pedido, factura, envio, \
     seguimiento, ordine, fattura, spedizione, bestelling, bestelnummer, factuur, factuurnummer, encomenda, fatura, \
     zamowienie, faktura, przesylka, tilaus, lasku, bestallning, ordrenummer, ordernummer, fakturanummer, siparis, \
     item id, item no";

/// Against as keys only: in a text they lead up to anything (`updated: 4111...`).
const AGAINST_AS_KEY: &str = "created, updated, modified, deleted, created at, updated at, expires, expires at, exp, iat, nbf, date, time, \
     duration, elapsed, latency, took, count, total, amount, price, sum, balance, page, line, row, size, bytes, \
     length, product, model, article, case, issue, patch, index, idx, key, identifier, datum, betrag, montant, fecha, \
     importe, importo, valor";

/// Words for free text: what its container speaks against does not hold in it.
const TEXT: &str = "note, comment, message, msg, description, detail, memo, remark, body, content, subject, bemerkung, kommentar, \
     notiz, commentaire, nota, comentario, opmerking, uwagi";

/// Words without a meaning of their own: the container's meaning goes through them, for and against.
const FILLER: &str = "number, numbers, no, nr, num, nbr, value, val, raw, code, text, string, ref, reference, info, full, current, \
     old, new, nummer, numero, numer, wert, valeur, is, of, the, my, your, on, at, to, was, de, del, di, ist, war, \
     es, est, el, la, le, il, der, die, das, meine, mon, ma, mi, al, an, auf";

/// What a phrase says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Meaning {
    /// Entities that it speaks for as a key.
    pub as_key: EntitySet,
    /// Entities that it speaks for as a word in a text.
    pub as_word: EntitySet,
    pub weight: Weight,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Weight {
    #[default]
    For,
    Against,
    AgainstAsKey,
    Text,
    Filler,
}

/// Most words of a name or text that are looked at.
const MAX_WORDS: usize = 16;
/// Most words of a phrase.
pub(super) const MAX_PHRASE: usize = 4;
/// Longer phrases are not words of ours.
const MAX_PHRASE_LEN: usize = 40;

const BASE: u64 = 0x9E37_79B9_7F4A_7C15;
const POWERS: [u64; MAX_PHRASE_LEN + 1] = {
    let mut powers = [1_u64; MAX_PHRASE_LEN + 1];
    let mut n = 1;
    while n <= MAX_PHRASE_LEN {
        powers[n] = powers[n - 1].wrapping_mul(BASE);
        n += 1;
    }
    powers
};

/// A name or text cut into words.
///
/// PERF: the hash is a polynomial, so that the hash of any phrase follows from two prefix hashes and no letter is read
/// twice. A collision that somebody constructs can only add context to his own values.
pub(super) struct Words {
    /// `hashes[n]`: of all letters of the first n words.
    hashes: [u64; MAX_WORDS + 1],
    /// How many letters that are.
    lengths: [u32; MAX_WORDS + 1],
    count: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Gap,
    Lower,
    Upper,
}

impl Words {
    /// The words of `name`: split at case changes, digits, and everything that is not a letter. The first 16 count.
    #[inline]
    pub fn of(name: &str) -> Self {
        let mut words = Self { hashes: [0; MAX_WORDS + 1], lengths: [0; MAX_WORDS + 1], count: 0 };
        let (mut hash, mut length) = (0_u64, 0_u32);
        let mut previous = Case::Gap;
        let mut letters = name.chars().peekable();
        while let Some(letter) = letters.next() {
            let case = case_of(letter);
            let begins_next = match (previous, case) {
                (Case::Lower, Case::Upper) => true,
                (Case::Upper, Case::Upper) => letters.peek().is_some_and(char::is_ascii_lowercase),
                (_, Case::Gap) => previous != Case::Gap,
                (Case::Gap | Case::Lower | Case::Upper, _) => false,
            };
            if begins_next && !words.close(hash, length) {
                return words;
            }
            if case != Case::Gap {
                spell(letter, |byte| {
                    hash = hash.wrapping_mul(BASE).wrapping_add(u64::from(byte));
                    length += 1;
                });
            }
            previous = case;
        }
        if previous != Case::Gap {
            words.close(hash, length);
        }
        words
    }

    /// Ends the current word. `false`: there is no room for another.
    fn close(&mut self, hash: u64, length: u32) -> bool {
        let (Some(hash_slot), Some(length_slot)) =
            (self.hashes.get_mut(self.count + 1), self.lengths.get_mut(self.count + 1))
        else {
            return false;
        };
        (*hash_slot, *length_slot) = (hash, length);
        self.count += 1;
        self.count < MAX_WORDS
    }

    pub const fn count(&self) -> usize {
        self.count
    }

    /// The longest phrase with a meaning that ends with word `end` (counted from 1): its meaning and its first word.
    pub fn phrase_before(&self, end: usize) -> Option<(Meaning, usize)> {
        let (hash, length) = (*self.hashes.get(end)?, *self.lengths.get(end)?);
        for first in end.saturating_sub(MAX_PHRASE)..end {
            let letters = (length - self.lengths.get(first)?) as usize;
            let Some(power) = POWERS.get(letters) else { continue };
            let phrase = hash.wrapping_sub(self.hashes.get(first)?.wrapping_mul(*power));
            if let Some(meaning) = LEXICON.meaning(phrase) {
                return Some((meaning, first));
            }
        }
        None
    }
}

fn case_of(letter: char) -> Case {
    match letter {
        'a'..='z' => Case::Lower,
        'A'..='Z' => Case::Upper,
        _ if letter.is_ascii() => Case::Gap,
        _ if letter.is_uppercase() => Case::Upper,
        _ if letter.is_alphabetic() => Case::Lower,
        _ => Case::Gap,
    }
}

/// The bytes that count for a letter: lower case, without accents.
fn spell(letter: char, mut put: impl FnMut(u8)) {
    if letter.is_ascii() {
        return put(letter.to_ascii_lowercase() as u8);
    }
    for lower in letter.to_lowercase() {
        let plain = match lower {
            'à'..='å' | 'ā' | 'ă' | 'ą' => "a",
            'æ' => "ae",
            'ç' | 'ć' | 'č' => "c",
            'ď' | 'đ' => "d",
            'è'..='ë' | 'ē' | 'ė' | 'ę' | 'ě' => "e",
            'ğ' => "g",
            'ì'..='ï' | 'ī' | 'ı' => "i",
            'ł' => "l",
            'ñ' | 'ń' | 'ň' => "n",
            'ò'..='ö' | 'ø' | 'ő' | 'ō' => "o",
            'ř' => "r",
            'ß' => "ss",
            'ś' | 'ş' | 'š' => "s",
            'ť' | 'ţ' => "t",
            'ù'..='ü' | 'ű' | 'ū' | 'ů' => "u",
            'ý' => "y",
            'ź' | 'ż' | 'ž' => "z",
            '\u{300}'..='\u{36f}' => "",
            other => {
                let mut buffer = [0; 4];
                other.encode_utf8(&mut buffer).bytes().for_each(&mut put);
                continue;
            }
        };
        plain.bytes().for_each(&mut put);
    }
}

/// The phrases of a list with commas between.
fn phrases(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|phrase| !phrase.is_empty())
}

struct Lexicon {
    slots: Box<[Option<(u64, Meaning)>]>,
    /// The entities that are recognised by their key path alone.
    whole: EntitySet,
}

/// The entities that are recognised by their key path alone.
pub(super) fn whole() -> EntitySet {
    LEXICON.whole
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::from_table);

impl Lexicon {
    fn from_table() -> Self {
        let weighed = [
            (AGAINST, Weight::Against),
            (AGAINST_AS_KEY, Weight::AgainstAsKey),
            (TEXT, Weight::Text),
            (FILLER, Weight::Filler),
        ];
        let own =
            TABLE.iter().map(|entity| phrases(entity.keys).count() + phrases(entity.words).count()).sum::<usize>();
        let others = weighed.iter().map(|(words, _)| phrases(words).count()).sum::<usize>();
        // Each phrase is entered with its plural, and the table is at most a quarter full: a miss is one look.
        let mut lexicon = Self {
            slots: vec![None; ((own + others) * 8).next_power_of_two()].into(),
            whole: TABLE
                .iter()
                .zip(0..)
                .filter(|(entity, _)| entity.reader.is_whole())
                .map(|(_, id)| EntityId(id))
                .collect(),
        };
        for (words, weight) in weighed {
            phrases(words).for_each(|phrase| lexicon.enter(phrase, |meaning| meaning.weight = weight));
        }
        for (entity, id) in TABLE.iter().zip(0..) {
            let id = EntityId(id);
            for phrase in phrases(entity.keys) {
                lexicon.enter(phrase, |meaning| {
                    meaning.as_key = meaning.as_key.with(id);
                    meaning.as_word = meaning.as_word.with(id);
                });
            }
            for phrase in phrases(entity.words) {
                lexicon.enter(phrase, |meaning| meaning.as_word = meaning.as_word.with(id));
            }
        }
        lexicon
    }

    fn enter(&mut self, phrase: &str, change: impl Fn(&mut Meaning)) {
        for spelled in [phrase.to_owned(), format!("{phrase}s")] {
            let hash = whole_hash(&spelled);
            let index = self.place(hash);
            if let Some(slot) = self.slots.get_mut(index) {
                change(&mut slot.get_or_insert((hash, Meaning::default())).1);
            }
        }
    }

    fn meaning(&self, hash: u64) -> Option<Meaning> {
        self.slots.get(self.place(hash)).copied().flatten().map(|(_, meaning)| meaning)
    }

    /// The slot that holds `hash`, or the empty one where it would be.
    fn place(&self, hash: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut index = (hash.wrapping_mul(BASE) >> 32) as usize & mask;
        while self.slots.get(index).is_some_and(|slot| slot.is_some_and(|(taken, _)| taken != hash)) {
            index = (index + 1) & mask;
        }
        index
    }
}

/// The hash of all letters of a phrase.
fn whole_hash(phrase: &str) -> u64 {
    let mut hash = 0_u64;
    for letter in phrase.chars().filter(|&letter| case_of(letter) != Case::Gap) {
        spell(letter, |byte| hash = hash.wrapping_mul(BASE).wrapping_add(u64::from(byte)));
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(name: &str) -> Option<Meaning> {
        let words = Words::of(name);
        words.phrase_before(words.count()).map(|(meaning, _)| meaning)
    }

    #[test]
    fn one_phrase_however_it_is_joined() {
        let card = meaning("card number").unwrap();
        for name in ["cardNumber", "card_number", "CARDNUMBER", "Card-Number2", "CARD.number", "x.cardNumber"] {
            assert_eq!(meaning(name), Some(card), "{name}");
        }
    }

    #[test]
    fn accents_and_plurals_do_not_count() {
        assert!(meaning("Téléphone").is_some());
        assert_eq!(meaning("Téléphone"), meaning("TELEPHONES"));
        assert_eq!(meaning("teléfono"), meaning("telefono"));
    }

    #[test]
    fn wrong_splits_are_joined_again() {
        assert_eq!(meaning("IPs"), meaning("ip"));
        assert_eq!(meaning("SSNs"), meaning("ssn"));
    }

    #[test]
    fn parts_of_words_say_nothing() {
        assert_eq!(meaning("chip"), None);
        assert_eq!(meaning("discard"), None);
    }
}
