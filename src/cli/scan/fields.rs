//! `--ndjson-field`: a document out of each line, and a line of findings for each. Lines without the field have none, which is
//! said once; a name that no line has is a mistake.

use std::io::Write;

use super::ending::Ending;
use super::jsonl::{Jsonl, Said};
use super::source::Source;
use crate::cli::say;
use crate::content::json::Fault;
use crate::scan::field::{self, Field, Stop};
use crate::scan::{Finding, Scan, Search, guess_whole};

/// How many lines had the field, and how many had not.
#[derive(Debug, Default)]
struct Tally {
    with: u64,
    without: u64,
}

/// Answers how much was found.
pub(super) fn run(
    name: &str,
    search: &Search,
    source: &mut Source,
    mut jsonl: Jsonl<'_, impl Write>,
) -> Result<u64, Ending> {
    let file = source.name().to_owned();
    let mut reader = Field::new(name);
    let mut tally = Tally::default();
    let result = source.pieces(|piece| {
        let mut each = |line: field::Line<'_>| row(search, &line, &mut tally, &mut jsonl);
        let result = match piece {
            Some(bytes) => reader.push(bytes, &mut each),
            None => reader.finish(&mut each),
        };
        jsonl.flush()?;
        result.map_err(|stop| {
            let (Stop::Fault(fault) | Stop::Theirs(fault)) = stop;
            Ending::Unreadable { name: file.clone(), format: "ndjson", guessed: false, fault }
        })
    });
    source.done();
    let found = jsonl.or_enough(result)?;
    match tally {
        Tally { with: 0, without: 1.. } => {
            Err(Ending::Usage(format!("no line of {file} is an object with a string `{name}`")))
        }
        Tally { without: 0, .. } => Ok(found),
        Tally { with, without } => {
            let all = with + without;
            let message =
                format!("fieldgate: {without} of {all} lines have no string `{name}`; nothing was looked at there");
            say(&message, &mut std::io::stderr());
            Ok(found)
        }
    }
}

fn row(
    search: &Search,
    line: &field::Line<'_>,
    tally: &mut Tally,
    jsonl: &mut Jsonl<'_, impl Write>,
) -> Result<(), Fault> {
    let mut findings: Vec<Said> = Vec::new();
    if let Some(document) = line.document {
        tally.with += 1;
        let words = jsonl.words();
        let mut sink = |finding: &Finding<'_>| findings.push(words.said(finding));
        Scan::whole(guess_whole(document), search, document.as_bytes(), &mut sink)?;
    } else {
        tally.without += 1;
    }
    jsonl.row(line.number, &mut findings);
    Ok(())
}
