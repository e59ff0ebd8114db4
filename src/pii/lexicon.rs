//! The words that speak for an entity or against it, in one hash table made from the entity table. It splits names into
//! words and looks phrases up; what follows from them is decided in `context`.
//!
//! A word counts without its case, accents and digits, and a phrase without its joints, so that `cardNumber`,
//! `card_number`, `CARDNUMBER` and `card number` are one thing.

use std::sync::LazyLock;

use super::entities::TABLE;
use super::entity::{EntityId, EntitySet};
use super::words::{KEPT, Letters, Words};

/// Words that name look-alikes. Several languages, without accents.
const AGAINST: &str = "id, version, ver, firmware, fw, sw, release, build, revision, rev, semver, oid, section, chapter, order, order number, \
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
     item id, item no, web address, website address, url address, memory address, base address, bus address, address space, \
     license key, licence key, product key, activation key, software license, software licence, software license number, \
     software licence number, font family, address family, номер заказа, заказ, 订单号, 订单编号, 订单, 快递单号, 运单号, 注文番号, \
     伝票番号, 追跡番号, 商品コード, 주문번호, 운송장번호, 송장번호";

/// Against as keys only: in a text they lead up to anything (`updated: 4111...`).
const AGAINST_AS_KEY: &str = "created, updated, modified, deleted, created at, updated at, expires, expires at, exp, iat, nbf, date, time, \
     duration, elapsed, latency, took, count, total, amount, price, sum, balance, size, bytes, length, patch, index, idx, \
     key, identifier, datum, betrag, montant, fecha, importe, importo, valor";

/// As keys and in the singular only: many of them are a list that holds anything.
const AGAINST_ONE: &str = "page, line, row, product, model, article, case, issue";

/// Words for free text: what its container speaks against does not hold in it.
const TEXT: &str = "note, comment, message, msg, description, detail, memo, remark, body, content, subject, bemerkung, kommentar, \
     notiz, commentaire, nota, comentario, opmerking, uwagi";

/// Words without a meaning of their own: the container's meaning goes through them, for and against.
const FILLER: &str = "number, numbers, no, nr, num, nbr, value, val, raw, code, text, string, ref, reference, info, full, current, \
     old, new, nummer, numero, numer, wert, valeur, is, of, the, my, your, on, at, to, was, de, del, di, ist, war, \
     es, est, el, la, le, il, der, die, das, meine, mon, ma, mi, al, an, auf, numara, numarasi, cislo, nro, номер, नंबर, \
     संख्या, 番号, 号码, 번호";

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

/// Most words of a phrase.
const MAX_PHRASE: usize = 5;
const _: () = assert!(MAX_PHRASE <= KEPT);

/// The longest phrase with a meaning that ends with the word that has `index` others behind it: its meaning and how many
/// words it has.
#[inline]
pub(super) fn phrase(words: &mut Words<'_>, index: usize) -> Option<(&'static Meaning, usize)> {
    let lexicon = &*LEXICON;
    let (mut letters, mut longest) = (Letters::NONE, None);
    for count in 1..=MAX_PHRASE {
        let Some(word) = words.word(index + count - 1) else { break };
        letters = letters.behind(word.letters);
        let mixed = spread(letters.hash);
        if lexicon.phrases.may_hold(mixed) {
            longest = lexicon.meaning(letters.hash).map(|meaning| (meaning, count)).or(longest);
        }
        if !lexicon.ends.may_hold(mixed) {
            break;
        }
    }
    longest
}

/// The phrases of a list with commas between.
fn phrases(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|phrase| !phrase.is_empty())
}

/// A phrase as people write it: itself and its plural; `nr`, `numret` and `nummeret` for `nummer`; with the particle that follows
/// it where no space is written (`電話番号は`, `전화번호는`), or the `و` before it.
fn spellings(phrase: &str) -> impl Iterator<Item = String> {
    let behind: &[&str] = match phrase.chars().next_back() {
        Some('\u{3040}'..='\u{30FF}') => &["", "は"],
        Some('\u{4E00}'..='\u{9FFF}') => &["", "は", "为", "為"],
        Some('\u{AC00}'..='\u{D7AF}') => &["", "는", "은"],
        _ => &["", "s"],
    };
    let endings: &[&str] = if phrase.ends_with("nummer") { &["nr", "numret", "nummeret"] } else { &[] };
    let before: &[&str] =
        if phrase.starts_with(|first| matches!(first, '\u{620}'..='\u{64A}')) { &["و"] } else { &[] };
    let stem = phrase.strip_suffix("nummer").unwrap_or(phrase);
    let whole = behind.iter().map(move |behind| format!("{phrase}{behind}"));
    let ended = endings.iter().map(move |ending| format!("{stem}{ending}"));
    whole.chain(ended).chain(before.iter().map(move |before| format!("{before}{phrase}")))
}

struct Lexicon {
    /// The hashes of all phrases, each at its place or the next free one; 0 is free. At most half full.
    hashes: Box<[u64]>,
    /// Per place: which of `meanings`.
    indexes: Box<[u16]>,
    meanings: Vec<Meaning>,
    /// A Bloom filter of the phrases and one of what phrases end in.
    ///
    /// PERF: most words are none of ours; these few KiB stay in the cache and say so.
    phrases: Filter,
    ends: Filter,
    /// The entities that are recognised by their key path alone.
    whole: EntitySet,
}

/// The entities that are recognised by their key path alone.
pub(super) fn whole() -> EntitySet {
    LEXICON.whole
}

/// A set of hashes, each [`spread`], that may hold more than was put in, never less.
struct Filter(Box<[u64]>);

impl Filter {
    /// With room for so many.
    fn new(count: usize) -> Self {
        Self(vec![0; (count / 4).next_power_of_two()].into())
    }

    fn place(&self, mixed: u64) -> (usize, u64) {
        let mixed = mixed >> 24;
        ((mixed >> 6) as usize & (self.0.len() - 1), 1 << (mixed & 63))
    }

    fn add(&mut self, mixed: u64) {
        let (at, bit) = self.place(mixed);
        self.0.get_mut(at).into_iter().for_each(|bits| *bits |= bit);
    }

    #[inline]
    fn may_hold(&self, mixed: u64) -> bool {
        let (at, bit) = self.place(mixed);
        self.0.get(at).is_some_and(|bits| bits & bit != 0)
    }
}

/// Brings what is in all bits of a hash into the upper ones.
const fn spread(hash: u64) -> u64 {
    hash.wrapping_mul(0x9E37_79B9_7F4A_7C15)
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
        let own = TABLE.iter().flat_map(|entity| [entity.keys, entity.words]);
        let lists = weighed.iter().map(|(words, _)| *words).chain(own).chain([AGAINST_ONE]);
        let spelled = lists.flat_map(phrases).flat_map(spellings);
        let (count, letters) = spelled.fold((0_usize, 0), |(n, letters), one| (n + 1, letters + one.len()));
        let places = (count * 2).next_power_of_two();
        let mut lexicon = Self {
            hashes: vec![0; places].into(),
            indexes: vec![0; places].into(),
            meanings: Vec::new(),
            phrases: Filter::new(count),
            ends: Filter::new(letters),
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
        phrases(AGAINST_ONE).for_each(|one| lexicon.put(one, |meaning| meaning.weight = Weight::AgainstAsKey));
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
        spellings(phrase).for_each(|spelled| self.put(&spelled, &change));
    }

    fn put(&mut self, spelled: &str, change: impl Fn(&mut Meaning)) {
        let ends = spelled.char_indices().skip(1).filter_map(|(at, _)| spelled.get(at..));
        ends.for_each(|end| self.ends.add(spread(Letters::of(end).hash)));
        let hash = Letters::of(spelled).hash;
        let at = self.place(hash);
        let (Some(slot), Some(index)) = (self.hashes.get_mut(at), self.indexes.get_mut(at)) else { return };
        if *slot == 0 {
            *slot = hash;
            *index = self.meanings.len() as u16;
            self.meanings.push(Meaning::default());
            self.phrases.add(spread(hash));
        }
        self.meanings.get_mut(usize::from(*index)).into_iter().for_each(change);
    }

    fn meaning(&self, hash: u64) -> Option<&Meaning> {
        let at = self.place(hash);
        self.hashes.get(at).filter(|taken| **taken == hash && hash != 0)?;
        self.meanings.get(usize::from(*self.indexes.get(at)?))
    }

    /// The place of `hash`, or the free one where it would be.
    fn place(&self, hash: u64) -> usize {
        let mask = self.hashes.len() - 1;
        let mut at = (spread(hash) >> 32) as usize & mask;
        while self.hashes.get(at).is_some_and(|taken| *taken != hash && *taken != 0) {
            at = (at + 1) & mask;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(name: &str) -> Option<&'static Meaning> {
        phrase(&mut Words::of_name(name), 0).map(|(meaning, _)| meaning)
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
    fn phrases_are_known_as_they_are_spelled() {
        assert_eq!(meaning("handynr"), meaning("Handynummer"));
        assert_eq!(meaning("電話番号は"), meaning("電話番号"));
        assert_eq!(meaning("我的手机号是"), meaning("手机号"));
        assert_eq!(meaning("mobilnumret"), meaning("mobilnummer"));
        assert_eq!(meaning("전화번호는"), meaning("전화번호"));
        assert!(meaning("row").is_some() && meaning("rows").is_none());
    }

    #[test]
    fn parts_of_words_say_nothing() {
        assert_eq!(meaning("chip"), None);
        assert_eq!(meaning("discard"), None);
    }
}
