//! Names of persons, by key path only: the whole value where the key names one and the value can be one.
//!
//! Limits: a name in running text is not found, and neither is the value of a bare `name` or of a `display_name`, which
//! is as often that of a product, a plan or a place; a field rule says better where those are.

use super::Entity;
use crate::pii::evidence::{Evidence, Reader};

pub(super) const ENTITY: Entity = Entity {
    name: "person_name",
    groups: &["pii"],
    standard: "GDPR art. 4(1)",
    check: "the whole value of a key that names a person's name: one to eight words of letters",
    keys: "full name, fullname, first name, firstname, last name, lastname, middle name, given name, family name, surname, \
            forename, maiden name, birth name, nickname, person name, customer name, client name, patient name, employee \
            name, user full name, contact name, contact person, holder name, card holder, cardholder, cardholder name, \
            account holder, beneficiary name, recipient name, sender name, guest name, passenger name, \
            student name, member name, applicant name, owner name, author name, legal name, preferred name, \
            name first, name last, vorname, nachname, familienname, geburtsname, kundenname, kontoinhaber, \
            karteninhaber, ansprechpartner, vollstandiger name, prenom, nom de famille, nom complet, nom client, titulaire, \
            nombre completo, nombre cliente, apellido, primer apellido, segundo apellido, titular, nome completo, cognome, \
            nome cliente, sobrenome, nome do cliente, voornaam, achternaam, imie, nazwisko, imie i nazwisko, fornamn, \
            efternamn, fornavn, etternavn, efternavn, etunimi, sukunimi, adi soyadi, soyadi, soyad, soyisim, ad soyad, isim \
            soyisim, nom prenom, nom et prenom, nom de naissance, nombre y apellidos, jmeno a prijmeni, prijmeni, vezeteknev, \
            nume de familie, prenume, фамилия, имя, отчество, фио, полное имя, 姓名, 客户姓名, 收件人, 联系人, 氏名, お名前, フルネーム, 성명, \
            성함, 고객명, पूरा नाम, उपनाम, επωνυμο, ονοματεπωνυμο, прізвище, фамилно име, ho va ten, nama lengkap, priezvisko, prezime, \
            الاسم الكامل, اسم العائلة, ชื่อ นามสกุล, שם משפחה, שם מלא, user display name, profile display name",
    words: "",
    reader: Reader::Whole(judge),
    examples: &[
        ("full_name", "«Brigitte Dumas»"),
        ("customerName", "«Dipl.-Ing. Alfred Börner MBA.»"),
        ("surname", "«O'Brien»"),
        ("lastName", "«von der Leyen-Müller»"),
        ("firstName", "«Mathilde-Cécile»"),
        ("姓名", "«王小明»"),
        ("soyad", "«Karabağlı»"),
    ],
    counter_examples: &[
        ("name", "Brigitte Dumas"),
        ("full_name", ""),
        ("full_name", "n/a"),
        ("full_name", "user_4711"),
        ("full_name", "see https://example.com"),
        ("full_name", "a long sentence about somebody that goes on and on for a while"),
        ("product_name", "Garden Chair"),
        ("display_name", "Premium Plan"),
        ("account_name", "Savings"),
        ("note", "Brigitte Dumas"),
        ("last_name_policy", "Shown"),
    ],
};

const LONGEST: usize = 96;
const MOST_WORDS: usize = 8;

fn judge(value: &str) -> Option<Evidence> {
    const NOBODY: &[&str] =
        &["n/a", "none", "null", "unknown", "anonymous", "test", "true", "false", "yes", "no", "string"];
    let is_ours = |letter: char| {
        letter.is_alphabetic()
            || matches!(letter, ' ' | '.' | ',' | '\'' | '’' | '-' | '·' | '(' | ')' | '\u{300}'..='\u{36f}')
    };
    let is_name = (1..=LONGEST).contains(&value.len())
        && value.chars().all(is_ours)
        && value.chars().filter(|letter| letter.is_alphabetic()).nth(1).is_some()
        && value.split_whitespace().count() <= MOST_WORDS
        && !NOBODY.iter().any(|nobody| value.eq_ignore_ascii_case(nobody));
    is_name.then_some(Evidence::Shape)
}
