//! `fieldgate scan`: personal data and secrets in a file or standard input, offline. It reads flags, feeds [`crate::scan`], and
//! prints; it has no way to change anything.

mod ending;
mod fields;
mod jsonl;
mod report;
mod source;

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueEnum};

use super::input::Input;
use super::progress::Progress;
use super::say;
use crate::content::json::Fault;
use crate::pii::detector::{named, names};
use crate::pii::{Confidence, Customs, EntitySet};
use crate::rules::{self, suggest};
use crate::scan::{Finding, Format, Guess, Scan as Reader, Search};
use ending::Ending;
use jsonl::{Jsonl, Words};
use report::Report;
use source::Source;

const AFTER_HELP: &str = "Exit codes:
  0  read to its end, whether something was found or not
  1  input or output failed on the way
  2  a mistake in what was asked for
  3  with --fail: something was found
  4  the input is not what it is read as; the reason and the byte are told

Offsets (`start`, `end`, `byte`) count bytes of the input from its start, as they are written: in JSON with escapes, in CSV with
doubled quotes. With --ndjson-field they count bytes of the field's value, decoded, from its start. `line` counts from 1 and is
given for ndjson, csv and text; `path` is the key path, or the column.

Values are never printed without --show-values; a key that is personal data itself is shown as what it is, like `$.[email]`.
Text must be UTF-8. Objects that are all the rest of a log line are read as JSON. What an input is can only be guessed when its
first 64 KiB or all of it is there: for a stream that grows say --input.

Examples:
  fieldgate scan export.json
  fieldgate scan --detect pii,secrets --fail fixtures/users.csv
  kubectl logs api | fieldgate scan --input text --format jsonl -
  zcat events.ndjson.gz | fieldgate scan --ndjson-field message -";

/// Find personal data and secrets in a file or standard input
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Scan {
    /// What to read; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
    /// What the input is [default: guessed from the file's ending, or else from its beginning]
    #[arg(long, value_enum, value_name = "FORMAT")]
    input: Option<InputFormat>,
    /// Entities and groups to look for; `fieldgate entities` lists them [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    detect: Vec<String>,
    /// Look for the detectors of these rule files, too: a folder or a file
    #[arg(long, value_name = "FOLDER")]
    rules: Option<PathBuf>,
    /// How sure a finding must be
    #[arg(long, value_enum, default_value_t = Least::Likely, value_name = "CONFIDENCE")]
    min_confidence: Least,
    /// How to say it: a summary when all is read, or a line of JSON for each finding as it is found
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<OutputFormat>,
    /// Print the values, too
    #[arg(long)]
    show_values: bool,
    /// Exit with 3 when something was found
    #[arg(long)]
    fail: bool,
    /// The input is JSON lines: search this string of each line as a document of its own (JSON, CSV or text) and print a line
    /// of JSON with all its findings
    #[arg(long, value_name = "NAME", conflicts_with = "input")]
    ndjson_field: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum InputFormat {
    /// One JSON text
    Json,
    /// JSON texts, one to a line
    Ndjson,
    /// A table with a header row; `,`, `;` or tab between cells
    Csv,
    /// Text, such as logs
    Text,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// By entity and key path
    Human,
    /// Each finding
    Jsonl,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Least {
    /// The shape alone
    Possible,
    /// Validated, or the shape where the keys or words around it name it
    Likely,
    /// Validated and named, or unmistakable
    Certain,
}

impl Scan {
    pub(super) fn execute(self) -> ExitCode {
        let fail = self.fail;
        match self.run() {
            Ok(found) if fail && found > 0 => 3.into(),
            Ok(_) => ExitCode::SUCCESS,
            Err(ending) => {
                say(&format!("fieldgate: {}", ending.message()), &mut io::stderr());
                ending.code()
            }
        }
    }

    /// Answers how much was found.
    fn run(self) -> Result<u64, Ending> {
        let customs = self.customs()?;
        let search = Search::new(entities(&self.detect, &customs)?, customs.clone(), self.least());
        let input = Input::open(&self.file).map_err(Ending::Usage)?;
        let is_human = self.format.unwrap_or(OutputFormat::Human) == OutputFormat::Human;
        // The bar and the lines would write over each other.
        let is_quiet = is_human && self.ndjson_field.is_none();
        let progress = Progress::new(input.length(), is_quiet || !io::stdout().is_terminal());
        let mut source = Source::new(input, progress);
        let out = BufWriter::new(io::stdout().lock());
        let jsonl = Jsonl::new(out, self.words(&customs));
        match &self.ndjson_field {
            Some(_) if self.format == Some(OutputFormat::Human) => Err(Ending::Usage(
                "with `--ndjson-field` the output is a line for each line; `--format human` has none".to_owned(),
            )),
            Some(name) => fields::run(name, &search, &mut source, jsonl),
            None if is_human => self.summarise(&search, &mut source),
            None => self.list(&search, &mut source, jsonl),
        }
    }

    fn words<'a>(&self, customs: &'a Customs) -> Words<'a> {
        Words::new(self.show_values, self.least(), customs)
    }

    /// The detectors of the operator's own, where rules were named.
    fn customs(&self) -> Result<Arc<Customs>, Ending> {
        let Some(folder) = &self.rules else { return Ok(Arc::default()) };
        let ruleset = rules::load(&rules::Source::from(folder.clone())).map_err(|problems| {
            let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
            Ending::Usage(format!("the rules have mistakes\n{}", shown.join("\n")))
        })?;
        Ok(ruleset.customs)
    }

    fn least(&self) -> Confidence {
        match self.min_confidence {
            Least::Possible => Confidence::Possible,
            Least::Likely => Confidence::Likely,
            Least::Certain => Confidence::Certain,
        }
    }

    /// What the user, or the file's name, says that it is.
    fn said(&self) -> Option<Guess> {
        match self.input {
            Some(InputFormat::Json) => Some(Guess::Json),
            Some(InputFormat::Ndjson) => Some(Guess::Lines),
            Some(InputFormat::Csv) => Some(Guess::Csv),
            Some(InputFormat::Text) => Some(Guess::Text),
            None => self.file.extension().and_then(|ending| Guess::by_extension(&ending.to_string_lossy())),
        }
    }

    /// Prints a summary at the end, also of what was found before a fault.
    fn summarise(&self, search: &Search, source: &mut Source) -> Result<u64, Ending> {
        let format = source.format(self.said())?;
        let mut report = Report::new(self.words(search.customs()), self.least());
        let mut reader = Reader::new(format, search);
        let mut sink = |finding: &Finding<'_>| report.add(finding);
        let fault = self.unreadable(source, format);
        let result = source.pieces(|piece| {
            match piece {
                Some(bytes) => reader.push(bytes, &mut sink),
                None => reader.finish(&mut sink),
            }
            .map_err(&fault)
        });
        source.done();
        let head = format!("{}: {}, {} bytes", source.name(), format.name(), source.read);
        match io::stdout().lock().write_all(report.render(&head).as_bytes()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(Ending::Write(error)),
            Ok(()) | Err(_) => {}
        }
        result.map(|()| report.found)
    }

    /// Prints each finding as it is found.
    fn list(&self, search: &Search, source: &mut Source, mut jsonl: Jsonl<'_, impl Write>) -> Result<u64, Ending> {
        let format = source.format(self.said())?;
        let mut reader = Reader::new(format, search);
        let fault = self.unreadable(source, format);
        let result = source.pieces(|piece| {
            let mut sink = |finding: &Finding<'_>| jsonl.finding(finding);
            let result = match piece {
                Some(bytes) => reader.push(bytes, &mut sink),
                None => reader.finish(&mut sink),
            };
            // What was found is out with every piece: somebody may be reading on.
            jsonl.flush()?;
            result.map_err(&fault)
        });
        source.done();
        jsonl.or_enough(result)
    }

    /// What is said of a fault.
    fn unreadable(&self, source: &Source, format: Format) -> impl Fn(Fault) -> Ending + use<> {
        let (name, guessed) = (source.name().to_owned(), self.input.is_none());
        move |fault| Ending::Unreadable { name: name.clone(), format: format.name(), guessed, fault }
    }
}

fn entities(detect: &[String], customs: &Customs) -> Result<EntitySet, Ending> {
    if detect.is_empty() {
        return Ok(EntitySet::all().union(EntitySet::all_own()));
    }
    let mut set = EntitySet::EMPTY;
    for name in detect.iter().map(|name| name.trim()) {
        let Some(entities) = named(name).or_else(|| customs.named(name)) else {
            let hint =
                match suggest::closest(name, customs.list().iter().map(|custom| custom.name.as_str()).chain(names())) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "`fieldgate entities` lists them".to_owned(),
                };
            return Err(Ending::Usage(format!("there is no entity or group `{name}`; {hint}")));
        };
        set = set.union(entities);
    }
    Ok(set)
}
