//! What is known not to be recognised, or to be taken for something else: for the documentation. It stands apart from the
//! entities' own files because most have nothing to say here beyond what their check says.

/// By entity.
const LIMITS: &[(&str, &str)] = &[
    (
        "person_name",
        "by key path only: a name in running text is not found, and neither is the value of a bare `name`, `display_name` or \
         `account_name`, which is as often that of a product, a plan or a place",
    ),
    (
        "postal_address",
        "by key path only: an address in running text is not found; town, postcode and country under keys of their own are \
         not either, and neither is a value without a number or a word for a street",
    ),
    ("email", "under reserved domains (`example`, `test`, `local`, `internal`) only in context"),
    ("phone", "national formats only in context: most numbers of seven to ten digits are something else"),
    ("credit_card", "lengths that are rare for the issuer, such as thirteen digits, only in context"),
    (
        "uk_passport",
        "nine digits like the US ones: where the words say `passport` and no country, it is this one that is named",
    ),
    (
        "us_passport",
        "nine digits like the UK ones: where the words say `passport` and no country, `uk_passport` is named",
    ),
    ("uk_driving_licence", "the last two characters are a check that is not public"),
    ("kr_rrn", "numbers given since October 2020 have no check digit"),
    ("in_pan", "no check digit that is public"),
    ("us_ssn", "no check digit: without context, a number that is written 3-2-4 is only possible"),
    (
        "us_driver_license",
        "every state has its own format: only the length and the kinds of characters are checked, so that under a bare \
         `license_number` that of a software is taken for one",
    ),
    ("stripe_key", "publishable keys (`pk_`) are public and left alone"),
    ("date_of_birth", "a date is one only in context"),
    ("password", "has no shape: placeholders and sentences about passwords are left alone"),
];

/// What is known of this entity; empty for most.
pub fn limits_of(entity: &str) -> &'static str {
    LIMITS.iter().find(|(name, _)| *name == entity).map_or("", |(_, limits)| limits)
}

#[cfg(test)]
mod tests {
    use super::LIMITS;
    use crate::pii::entities::ids;

    #[test]
    fn every_name_is_an_entity() {
        for (name, _) in LIMITS {
            assert!(ids().any(|(_, entity)| entity.name == *name), "{name}");
        }
    }
}
