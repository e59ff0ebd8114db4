//! What is to be said about each entity: what the table holds, and what context it needs, which is tried out on its examples.

use serde::{Serialize, Serializer};

use crate::pii::entities::{Entity, ids, limits_of};
use crate::pii::{Confidence, Context, Detector, EntityId, EntitySet};

/// One entity.
#[derive(Debug, Serialize)]
pub(super) struct Facts {
    pub name: &'static str,
    pub groups: &'static [&'static str],
    pub standard: &'static str,
    pub check: &'static str,
    pub context: Need,
    pub examples: Vec<Example>,
    pub counter_examples: Vec<Example>,
    pub limits: &'static str,
}

/// A value under a key; of an example the match is between `«` and `»`.
#[derive(Debug, Serialize)]
pub(super) struct Example {
    pub key: &'static str,
    #[serde(serialize_with = "without_marks")]
    pub value: &'static str,
}

/// Whether the key path or the words before a value must name the entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// No example needs it.
    Nothing,
    /// Some examples need it.
    Sometimes,
    /// All examples need it.
    Always,
    /// The key must name it; words in a text are not enough.
    Key,
}

impl Need {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Nothing => "not needed",
            Self::Sometimes => "some forms",
            Self::Always => "needed",
            Self::Key => "key path only",
        }
    }

    fn of(id: EntityId, entity: &Entity) -> Self {
        if entity.is_by_key_only() {
            return Self::Key;
        }
        let detector = Detector::new(EntitySet::EMPTY.with(id));
        let is_found_alone = |value: &str| {
            let mut found = Vec::new();
            detector.find(&alone(value, entity.is_by_prefix_only()), Context::default(), &mut found);
            found.iter().any(|one| one.confidence >= Confidence::Likely)
        };
        let alone = entity.examples.iter().filter(|(_, value)| is_found_alone(value)).count();
        match alone {
            0 => Self::Always,
            some if some == entity.examples.len() => Self::Nothing,
            _ => Self::Sometimes,
        }
    }
}

impl Serialize for Need {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.words())
    }
}

/// Every entity, in order of its name.
pub(super) fn of_all() -> Vec<Facts> {
    let mut facts: Vec<_> = ids().map(|(id, entity)| of(id, entity)).collect();
    facts.sort_unstable_by_key(|one| one.name);
    facts
}

fn of(id: EntityId, entity: &Entity) -> Facts {
    let examples = |list: &'static [(&'static str, &'static str)]| {
        list.iter().map(|(key, value)| Example { key, value }).collect::<Vec<_>>()
    };
    Facts {
        name: entity.name,
        groups: entity.groups,
        standard: entity.standard,
        check: entity.check,
        context: Need::of(id, entity),
        examples: examples(entity.examples),
        counter_examples: examples(entity.counter_examples),
        limits: limits_of(entity.name),
    }
}

/// What is between the marks of an example, and with `word` what is joined to it.
fn alone(example: &str, word: bool) -> String {
    let Some((before, rest)) = example.split_once('«') else { return example.replace('¦', "") };
    let (inner, behind) = rest.split_once('»').unwrap_or((rest, ""));
    let joined = |c: &char| word && !c.is_whitespace();
    let start = before.len() - before.chars().rev().take_while(joined).map(char::len_utf8).sum::<usize>();
    let behind: String = behind.chars().take_while(joined).collect();
    format!("{}{inner}{behind}", before.get(start..).unwrap_or_default()).replace('¦', "")
}

/// The table keeps examples of secrets apart with `¦`; programs want them whole.
fn without_marks<S: Serializer>(value: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&value.replace('¦', ""))
}

#[cfg(test)]
mod tests {
    use super::{Need, alone, of_all};

    #[track_caller]
    fn check(name: &str, expected: Need) {
        let facts = of_all();
        let one = facts.iter().find(|one| one.name == name).unwrap();
        assert_eq!(one.context, expected, "{name}");
    }

    #[test]
    fn values_stand_alone() {
        assert_eq!(alone("SSN «1-2», x", false), "1-2");
        assert_eq!(alone("at https://u:«p¦w»@h/ x", true), "https://u:pw@h/");
        assert_eq!(alone("x", true), "x");
    }

    #[test]
    fn what_context_is_needed_is_tried_out() {
        check("email", Need::Nothing);
        check("jwt", Need::Nothing);
        check("url_credentials", Need::Nothing);
        check("phone", Need::Sometimes);
        check("us_npi", Need::Always);
        check("date_of_birth", Need::Always);
        check("person_name", Need::Key);
        check("postal_address", Need::Key);
    }
}
