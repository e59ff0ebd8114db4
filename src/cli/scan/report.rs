//! What was found, for people: entity, place, how often and how sure, and where to look first. Without leave it has no way to
//! say a value.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write as _;

use super::jsonl::Words;
use crate::cli::audit::shown;
use crate::pii::Confidence;
use crate::scan::Finding;

/// Places that are told apart. In a file whose keys are data there is no end to them.
const MOST_PLACES: usize = 10_000;
/// Characters of a value that are shown.
const VALUE_SHOWN: usize = 80;

/// Counts findings by entity and place.
#[derive(Debug)]
pub(super) struct Report<'a> {
    words: Words<'a>,
    least: Confidence,
    places: HashMap<(&'static str, String), Tally>,
    /// How many there were.
    pub found: u64,
    /// How many of them are not in `places`.
    more: u64,
}

/// The findings of one entity in one place.
#[derive(Debug)]
struct Tally {
    certain: u64,
    likely: u64,
    possible: u64,
    first: u64,
    line: Option<u64>,
    value: Option<String>,
}

impl Tally {
    fn of(finding: &Finding<'_>, words: Words<'_>) -> Self {
        let value = words.value(finding).map(|value| value.chars().take(VALUE_SHOWN).collect());
        Self { certain: 0, likely: 0, possible: 0, first: finding.start, line: finding.line, value }
    }

    fn count(&self) -> u64 {
        self.certain + self.likely + self.possible
    }

    /// `2 certain, 1 likely`
    fn counts(&self) -> String {
        let counts = [(self.certain, "certain"), (self.likely, "likely"), (self.possible, "possible")];
        let counts: Vec<_> =
            counts.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}")).collect();
        counts.join(", ")
    }

    /// `line 3, byte 41`
    fn place(&self) -> String {
        match self.line {
            Some(line) => format!("line {line}, byte {}", self.first),
            None => format!("byte {}", self.first),
        }
    }
}

impl<'a> Report<'a> {
    pub fn new(words: Words<'a>, least: Confidence) -> Self {
        Self { words, least, places: HashMap::new(), found: 0, more: 0 }
    }

    pub fn add(&mut self, finding: &Finding<'_>) {
        self.found += 1;
        let key = (finding.name, self.words.place(finding));
        if self.places.len() >= MOST_PLACES && !self.places.contains_key(&key) {
            self.more += 1;
            return;
        }
        let words = self.words;
        let tally = self.places.entry(key).or_insert_with(|| Tally::of(finding, words));
        match finding.confidence {
            Confidence::Certain => tally.certain += 1,
            Confidence::Likely => tally.likely += 1,
            Confidence::Possible => tally.possible += 1,
        }
    }

    /// A line about the input and one for each place: the surest and most frequent first.
    pub fn render(&self, head: &str) -> String {
        let mut places: Vec<_> = self.places.iter().collect();
        places.sort_unstable_by_key(|((entity, place), tally)| {
            (Reverse(tally.certain > 0), Reverse(tally.count()), *entity, place.as_str())
        });
        let rows: Vec<_> = places
            .iter()
            .map(|((entity, place), tally)| [(*entity).to_owned(), shown(place), tally.counts(), tally.place()])
            .collect();
        let width = |column: usize| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths = [width(0), width(1), width(2)];
        let surer = match self.least {
            Confidence::Certain => "certain",
            Confidence::Likely => "likely or certain",
            Confidence::Possible => "possible or surer",
        };
        let mut text = match self.found {
            0 => format!("{head}: nothing found that is {surer}\n"),
            1 => format!("{head}: 1 finding, {surer}\n"),
            some => format!("{head}: {some} findings, {surer}\n"),
        };
        for ([entity, place, counts, first], (_, tally)) in rows.iter().zip(&places) {
            let [a, b, c] = widths;
            let value = tally.value.as_deref().map(|value| format!("  {}", shown(value))).unwrap_or_default();
            // Writing to a `String` does not fail.
            writeln!(text, "    {entity:a$}  {place:b$}  {counts:c$}  first: {first}{value}").ok();
        }
        if self.more > 0 {
            writeln!(text, "    and {} in further places; `--format jsonl` lists them", self.more).ok();
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::json::Path;
    use crate::pii::{Customs, EntityId};

    fn add(report: &mut Report<'_>, key: &str, entity: u8, confidence: Confidence, start: u64) {
        let mut path = Path::default();
        path.push_name(key);
        let entity = EntityId(entity);
        report.add(&Finding {
            entity,
            name: entity.name(),
            confidence,
            start,
            end: start + 3,
            line: None,
            path: &path,
            value: "x\u{1b}y",
        });
    }

    #[test]
    fn it_counts_by_entity_and_place() {
        let none = Customs::default();
        let mut report = Report::new(Words::new(false, Confidence::Likely, &none), Confidence::Likely);
        assert_eq!(report.render("f"), "f: nothing found that is likely or certain\n");
        add(&mut report, "mail", 0, Confidence::Likely, 7);
        add(&mut report, "mail", 0, Confidence::Likely, 17);
        add(&mut report, "card", 1, Confidence::Certain, 40);
        add(&mut report, "card", 1, Confidence::Likely, 60);
        add(&mut report, "jane@example.com", 0, Confidence::Certain, 80);
        let expected = "f: 5 findings, likely or certain
    credit_card  $.card     1 certain, 1 likely  first: byte 40
    email        $.[email]  1 certain            first: byte 80
    email        $.mail     2 likely             first: byte 7
";
        assert_eq!(report.render("f"), expected);
    }

    #[test]
    fn values_are_shown_with_leave_and_do_not_steer_the_terminal() {
        let none = Customs::default();
        let mut report = Report::new(Words::new(true, Confidence::Possible, &none), Confidence::Possible);
        add(&mut report, "jane@example.com", 0, Confidence::Possible, 1);
        let expected = "f: 1 finding, possible or surer
    email  $['jane@example.com']  1 possible  first: byte 1  x\\u{1b}y
";
        assert_eq!(report.render("f"), expected);
    }

    #[test]
    fn there_is_an_end_to_places() {
        let none = Customs::default();
        let mut report = Report::new(Words::new(false, Confidence::Likely, &none), Confidence::Likely);
        for n in 0..MOST_PLACES + 5 {
            add(&mut report, &format!("k{n}x"), 0, Confidence::Likely, 0);
        }
        assert!(report.render("f").ends_with("    and 5 in further places; `--format jsonl` lists them\n"));
    }
}
