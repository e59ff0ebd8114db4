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
    check: "the whole value of a key that names an address: at least two words, with a number or a word for a street; nothing that is \
            another kind of address",
    keys: "address, postal address, mailing address, home address, street address, street, street name, address line, billing \
            address, shipping address, delivery address, work address, residence, residential address, addr line, anschrift, \
            adresse, lieferadresse, rechnungsadresse, strasse, strasse und hausnummer, wohnanschrift, wohnort, adresse \
            postale, rue, domicile, adresse de livraison, adresse de facturation, direccion, direccion postal, domicilio, \
            calle, direccion de envio, indirizzo, indirizzo di spedizione, indirizzo di residenza, endereco, rua, morada, \
            adres, straat, woonadres, ulica, adres zamieszkania, gata, gatuadress, adress, katuosoite, osoite, adresi, \
            адрес, домашний адрес, адрес доставки, адрес проживания, улица, wohnadresse, hausanschrift, strasse hausnummer, huisadres, \
            via e numero civico, residenza, logradouro, ev adresi, acik adres, hemadress, postadress, bostadsadress, \
            gateadresse, bopael, kotiosoite, postiosoite, lahiosoite, adresse livraison, adresse facturation, direccion entrega, direccion de entrega, direccion envio, indirizzo spedizione, \
            indirizzo consegna, indirizzo di consegna, indirizzo fatturazione, endereco entrega, endereco de entrega, \
            endereco cobranca, bezorgadres, afleveradres, factuuradres, postadres, thuisadres, versandadresse, \
            privatadresse, firmenadresse, adres dostawy, adres korespondencyjny, leveransadress, leveringsadresse, \
            faktureringsadress, fakturaadresse, toimitusosoite, laskutusosoite, teslimat adresi, fatura adresi, dorucovaci \
            adresa, お届け先, お届け先住所, 配送先住所, 請求先住所, 自宅住所, 送货地址, 账单地址, 邮寄地址, 联系地址, 배송지, 배송지주소, 자택주소, \
            ulice, bydliste, lakcim, adresa, 地址, 住址, 家庭住址, \
            通讯地址, 收货地址, διευθυνση, адреса, адрес на доставка, dia chi, alamat, العنوان, ที่อยู่, כתובת, 住所, 所在地, 주소, 집주소, 도로명주소, पता",
    words: "",
    reader: Reader::Whole(judge),
    examples: &[
        ("address", "«221B Baker Street, London NW1 6XE»"),
        ("shipping_address", "«Musterstraße 12\n10115 Berlin»"),
        ("street", "«Rue de la Paix»"),
        ("address.line1", "«1600 Pennsylvania Ave NW»"),
        ("住所", "«東京都千代田区千代田1-1»"),
        ("indirizzo", "«Piazza del Popolo»"),
        ("Wohnanschrift", "«Am Alten Hafenweg»"),
    ],
    counter_examples: &[
        ("address", "n/a"),
        ("address", "203.0.113.7"),
        ("address", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"),
        ("address", "john.doe@example.com"),
        ("address", "https://example.com/a b"),
        ("address.city", "Berlin"),
        ("web_address", "our new shop 24"),
        ("via", "1.1 varnish (edge-12)"),
        ("address", "to be confirmed"),
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
    (is_address && is_placed(value)).then_some(Evidence::Shape)
}

/// Words for streets and places; [`WITHIN`] also as the end of a longer word.
const WORDS: &[&str] = &[
    "street",
    "st",
    "road",
    "rd",
    "lane",
    "ln",
    "avenue",
    "ave",
    "drive",
    "dr",
    "court",
    "ct",
    "square",
    "sq",
    "terrace",
    "boulevard",
    "blvd",
    "highway",
    "crescent",
    "close",
    "row",
    "rue",
    "quai",
    "place",
    "chemin",
    "allée",
    "impasse",
    "calle",
    "avenida",
    "avda",
    "plaza",
    "paseo",
    "via",
    "viale",
    "corso",
    "piazza",
    "largo",
    "rua",
    "praça",
    "travessa",
    "ulica",
    "ul",
    "aleja",
    "plac",
    "osiedle",
    "sokak",
    "cadde",
    "caddesi",
    "mahallesi",
    "улица",
    "ул",
    "проспект",
    "дом",
];
const WITHIN: &[&str] = &[
    "straße", "strasse", "str", "weg", "platz", "gasse", "allee", "ufer", "damm", "straat", "laan", "plein", "gracht",
    "kade", "gatan", "gata", "vägen", "väg", "vej", "veien", "katu",
];

/// Whether something in it says where: a number, a word for a street, or a script that writes them without spaces.
fn is_placed(value: &str) -> bool {
    let says = |word: &str| {
        let word = word.to_lowercase();
        WORDS.contains(&word.as_str()) || WITHIN.iter().any(|end| word.ends_with(end))
    };
    value.chars().any(|letter| letter.is_numeric() || letter as u32 >= 0x3000)
        || value.split(|letter: char| !letter.is_alphanumeric()).any(says)
}
