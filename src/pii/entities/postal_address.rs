//! Postal addresses, by key path only: the whole value where the key names one and the value can be one.
//!
//! Limits: an address in running text is not found; town, postcode and country under keys of their own are not either,
//! because alone they tell little, and a field rule says better which of them matter.

use super::Entity;
use crate::pii::evidence::{Evidence, Reader};

pub(super) const ENTITY: Entity = Entity {
    name: "postal_address",
    groups: &["pii"],
    standard: "UPU S42",
    check: "the whole value of a key that names an address: letters in at least two words or with a number, no other scheme",
    keys: "address, postal address, mailing address, home address, street address, street, street name, address line, billing \
            address, shipping address, delivery address, work address, residence, residential address, addr line, anschrift, \
            adresse, lieferadresse, rechnungsadresse, strasse, strasse und hausnummer, wohnanschrift, wohnort, adresse \
            postale, rue, domicile, adresse de livraison, adresse de facturation, direccion, direccion postal, domicilio, \
            calle, direccion de envio, indirizzo, via, indirizzo di spedizione, indirizzo di residenza, endereco, rua, morada, \
            adres, straat, woonadres, ulica, adres zamieszkania, gata, gatuadress, adress, katuosoite, osoite, adresi, \
            адрес, улица, 地址, 住所, 주소",
    words: "",
    reader: Reader::Whole(judge),
    examples: &[
        ("address", "«221B Baker Street, London NW1 6XE»"),
        ("shipping_address", "«Musterstraße 12\n10115 Berlin»"),
        ("street", "«Rue de la Paix»"),
        ("address.line1", "«1600 Pennsylvania Ave NW»"),
        ("住所", "«東京都千代田区千代田1-1»"),
    ],
    counter_examples: &[
        ("address", "n/a"),
        ("address", "203.0.113.7"),
        ("address", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"),
        ("address", "john.doe@example.com"),
        ("address", "https://example.com/a b"),
        ("address.city", "Berlin"),
        ("address", "home"),
        ("note", "221B Baker Street, London NW1 6XE"),
    ],
};

const LONGEST: usize = 256;

fn judge(value: &str) -> Option<Evidence> {
    let letters = value.chars().filter(|letter| letter.is_alphabetic()).count();
    let is_spoken = value.split_whitespace().nth(1).is_some() || value.chars().any(|letter| letter as u32 >= 0x3000);
    let is_other = value.contains("://")
        || value.contains('@')
        || value.bytes().any(|byte| matches!(byte, b'{' | b'}' | b'<' | b'>' | b'='));
    let is_address = (5..=LONGEST).contains(&value.len()) && letters >= 3 && is_spoken && !is_other;
    is_address.then_some(Evidence::Shape)
}
