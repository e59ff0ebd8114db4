//! The table of entities: one line each. Names, groups, documentation and tests derive from it. What an entity looks like
//! is known in its own file; in what order the scanner asks is known nowhere else.

mod au_abn;
mod au_medicare;
mod au_tfn;
mod aws_access_key_id;
mod aws_secret_key;
mod br_cpf;
mod btc_address;
mod ca_sin;
mod credit_card;
mod date_of_birth;
mod de_id_card;
mod de_social_security;
mod de_tax_id;
mod de_vat_id;
mod email;
mod es_nie;
mod es_nif;
mod eth_address;
mod fi_hetu;
mod fr_nir;
mod github_token;
mod google_api_key;
mod iban;
mod in_aadhaar;
mod in_pan;
mod ipv4;
mod ipv6;
mod it_fiscal_code;
mod it_vat;
mod jwt;
mod kr_rrn;
mod limits;
mod llm_api_key;
mod mac;
mod nl_bsn;
mod password;
mod person_name;
mod phone;
mod pl_pesel;
mod postal_address;
mod private_key;
mod se_personnummer;
mod sg_nric;
mod slack_token;
mod stripe_key;
mod token;
mod tr_tckn;
mod uk_driving_licence;
mod uk_nhs;
mod uk_nino;
mod uk_passport;
mod url_credentials;
mod us_aba_routing;
mod us_driver_license;
mod us_itin;
mod us_mbi;
mod us_npi;
mod us_passport;
mod us_ssn;
mod za_id;

use super::entity::{EntityId, EntitySet};
use super::evidence::Reader;

pub use limits::limits_of;

/// All that is known about a kind of personal data or secret.
pub struct Entity {
    /// Its fixed name in rules, records and reports.
    pub name: &'static str,
    /// The groups that it belongs to.
    pub groups: &'static [&'static str],
    /// Who says what it looks like.
    pub standard: &'static str,
    /// How a candidate is checked, for the documentation.
    pub check: &'static str,
    /// Phrases that name it, in keys and in text, with commas between.
    pub keys: &'static str,
    /// Phrases that name it in text only.
    pub words: &'static str,
    /// How candidates come about and are judged.
    pub reader: Reader,
    /// Key and value, the match between `«` and `»`. A `¦` is dropped: it keeps scanners for live secrets quiet.
    pub examples: &'static [(&'static str, &'static str)],
    /// Key and value with no likely match of this entity.
    pub counter_examples: &'static [(&'static str, &'static str)],
}

impl Entity {
    /// Whether it is recognised by its key path alone, and never in a text.
    pub fn is_by_key_only(&self) -> bool {
        self.reader.ways().iter().all(|way| matches!(way, Reader::Whole(_)))
    }

    /// Whether it begins with something fixed, of which a match may leave out a part: the scheme of a URL.
    pub fn is_by_prefix_only(&self) -> bool {
        self.reader.ways().iter().all(|way| matches!(way, Reader::Prefix { .. }))
    }
}

/// Every entity. An [`EntityId`] is a position here; where two matches are equal, the earlier line wins.
pub static TABLE: &[&Entity] = &[
    &email::ENTITY,
    &credit_card::ENTITY,
    &iban::ENTITY,
    &us_ssn::ENTITY,
    &phone::ENTITY,
    &ipv4::ENTITY,
    &jwt::ENTITY,
    &aws_access_key_id::ENTITY,
    &ipv6::ENTITY,
    &mac::ENTITY,
    &btc_address::ENTITY,
    &eth_address::ENTITY,
    &github_token::ENTITY,
    &stripe_key::ENTITY,
    &slack_token::ENTITY,
    &google_api_key::ENTITY,
    &llm_api_key::ENTITY,
    &private_key::ENTITY,
    &url_credentials::ENTITY,
    &uk_nhs::ENTITY,
    &us_npi::ENTITY,
    &us_aba_routing::ENTITY,
    &ca_sin::ENTITY,
    &nl_bsn::ENTITY,
    &au_tfn::ENTITY,
    &au_abn::ENTITY,
    &us_mbi::ENTITY,
    &au_medicare::ENTITY,
    &de_tax_id::ENTITY,
    &de_social_security::ENTITY,
    &it_vat::ENTITY,
    &pl_pesel::ENTITY,
    &br_cpf::ENTITY,
    &tr_tckn::ENTITY,
    &se_personnummer::ENTITY,
    &za_id::ENTITY,
    &in_aadhaar::ENTITY,
    &uk_nino::ENTITY,
    &in_pan::ENTITY,
    &fr_nir::ENTITY,
    &es_nif::ENTITY,
    &es_nie::ENTITY,
    &it_fiscal_code::ENTITY,
    &fi_hetu::ENTITY,
    &sg_nric::ENTITY,
    &kr_rrn::ENTITY,
    &uk_driving_licence::ENTITY,
    &de_vat_id::ENTITY,
    &us_itin::ENTITY,
    &de_id_card::ENTITY,
    &uk_passport::ENTITY,
    &us_passport::ENTITY,
    &us_driver_license::ENTITY,
    &date_of_birth::ENTITY,
    &aws_secret_key::ENTITY,
    &password::ENTITY,
    &postal_address::ENTITY,
    &person_name::ENTITY,
];
const _: () = assert!(TABLE.len() <= u128::BITS as usize, "an `EntitySet` holds no more");

/// The entity, or all entities of the group, with this name. `None`: no such name.
pub fn named(name: &str) -> Option<EntitySet> {
    let set: EntitySet =
        ids().filter(|(_, entity)| entity.name == name || entity.groups.contains(&name)).map(|(id, _)| id).collect();
    (!set.is_empty()).then_some(set)
}

/// Every name that [`named`] knows, entities first: for "did you mean".
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = TABLE.iter().map(|entity| entity.name).collect();
    for &group in TABLE.iter().flat_map(|entity| entity.groups) {
        if !names.contains(&group) {
            names.push(group);
        }
    }
    names
}

/// The entity's fixed name.
pub fn entity_name(entity: EntityId) -> &'static str {
    TABLE.get(usize::from(entity.0)).map_or("", |entity| entity.name)
}

/// The table with its ids.
pub fn ids() -> impl Iterator<Item = (EntityId, &'static Entity)> {
    TABLE.iter().zip(0..).map(|(entity, id)| (EntityId(id), *entity))
}

#[cfg(test)]
mod tests;
