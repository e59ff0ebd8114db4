//! However a key is spelled and whatever a value stands in, it is found: every entity's own examples, written otherwise.

use super::*;
use entities::Entity;

/// The first examples of `entity` whose match is the whole value: key and value.
fn whole_examples(entity: &Entity) -> impl Iterator<Item = (&'static str, String)> {
    entity.examples.iter().filter_map(|(key, example)| {
        let value = example.replace('¦', "");
        let inner = value.strip_prefix('«')?.strip_suffix('»')?;
        Some((*key, inner.to_owned())).filter(|(_, inner)| !inner.contains('«'))
    })
}

fn is_found(detector: &Detector, id: EntityId, path: &str, text: &str, span: std::ops::Range<usize>) -> bool {
    let mut found = Vec::new();
    detector.find(text, under(path), &mut found);
    found.iter().any(|one| {
        one.entity == id && one.confidence >= Confidence::Likely && (one.start, one.end) == (span.start, span.end)
    })
}

/// Brackets, quotes and the end of a sentence are not of the value, and do not hide it.
#[test]
fn what_a_value_stands_in_does_not_matter() {
    let around = [
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("<", ">"),
        ("\"", "\""),
        ("'", "'"),
        ("`", "`"),
        ("“", "”"),
        ("„", "“"),
        ("«", "»"),
        ("「", "」"),
        ("", ". Then"),
        ("", "."),
        ("", ", and"),
        ("", "; and"),
        ("", "! And"),
        ("", "? And"),
        ("", ")."),
        ("\t", "\n"),
        ("=", "&x=1"),
        ("| ", " |"),
        ("**", "**"),
        ("<b>", "</b>"),
        (">", "<"),
    ];
    let mut missed = Vec::new();
    for (id, entity) in ids().filter(|(_, entity)| !entity.reader.is_whole()) {
        let detector = Detector::new(all());
        for (key, value) in whole_examples(entity).take(3) {
            for (before, after) in around {
                let text = format!("{before}{value}{after}");
                if !is_found(&detector, id, key, &text, before.len()..before.len() + value.len()) {
                    missed.push(format!("{}: `{key}`: `{text}`", entity.name));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{} missed\n{}", missed.len(), missed.join("\n"));
}

/// In a text, a word before a value says as much as a key over it.
#[test]
fn what_joins_a_word_to_its_value_does_not_matter() {
    let joints = [
        ("", ": ", ""),
        ("", ":", ""),
        ("", " : ", ""),
        ("", "=", ""),
        ("", " = ", ";"),
        ("", " ", ""),
        ("", " is ", "."),
        ("the ", " was ", ", I think"),
        ("My ", " - ", ""),
        ("", " – ", ""),
        ("", " (", ")"),
        ("<", ">", "</x>"),
        ("", "\t", "\n"),
        ("| ", " | ", " |"),
        ("{'", "': '", "'}"),
        ("{\"", "\": \"", "\"}"),
        ("", " => ", ""),
        ("", " -> ", ""),
        ("", ":\n  ", "\n"),
        ("", " #", ""),
        ("", " no. ", ""),
        ("", " number: ", ""),
        ("?", "=", "&x=1"),
        ("--", "=", " -v"),
        ("--", " ", " -v"),
        ("", ": «", "»"),
        ("**", ":** ", ""),
    ];
    let mut missed = Vec::new();
    let detector = Detector::new(all());
    for (id, entity) in ids().filter(|(_, entity)| !entity.reader.is_whole()) {
        let Some((_, value)) = whole_examples(entity).next() else { continue };
        // A word that names nothing else: a bare `passport` is a British one.
        let others = || ids().filter(|(other, _)| *other != id).flat_map(|(_, other)| other.keys.split(','));
        let own = entity.keys.split(',').map(str::trim).find(|word| others().all(|other| other.trim() != *word));
        let Some(word) = own else { continue };
        for (before, joint, after) in joints {
            let start = before.len() + word.len() + joint.len();
            let text = format!("{before}{word}{joint}{value}{after}");
            if !is_found(&detector, id, "", &text, start..start + value.len()) {
                missed.push(format!("{}: `{text}`", entity.name));
            }
        }
    }
    assert!(missed.is_empty(), "{} missed\n{}", missed.len(), missed.join("\n"));
}

/// `card number` as it is spelled in APIs, tables and settings.
#[test]
fn how_a_key_is_spelled_does_not_matter() {
    let upper_first = |word: &str| {
        let mut letters = word.chars();
        letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
    };
    let mut missed = Vec::new();
    for (_, entity) in ids() {
        for phrase in entity.keys.split(',').map(|phrase| phrase.split_whitespace().collect::<Vec<_>>()) {
            let plain = phrase.join(" ");
            let expected = under(&plain);
            let pascal: String = phrase.iter().map(|word| upper_first(word)).collect();
            let camel = phrase.first().map_or("", |first| first).to_owned()
                + &phrase.iter().skip(1).map(|word| upper_first(word)).collect::<String>();
            let spelled = [
                phrase.join("_"),
                phrase.join("-"),
                phrase.join("_").to_uppercase(),
                phrase.join("").to_uppercase(),
                upper_first(&phrase.join(" ")),
                format!("customer.{}", phrase.join(".")),
                format!("x-{}", phrase.join("-")),
                format!("{} 2", phrase.join(" ")),
                format!("{}[0]", phrase.join("_")),
                pascal,
                camel,
            ];
            for one in spelled {
                if under(&one) != expected {
                    missed.push(format!("{}: `{one}` is not `{plain}`", entity.name));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{} missed\n{}", missed.len(), missed.join("\n"));
}
