//! The cases: raw requests and raw answers with what may come of them, one JSON object a line. Bytes are written as the
//! characters U+0000 to U+00FF; `<<text*1000>>` is a thousand times the text.

use std::path::Path;

use serde::Deserialize;

/// A request that a client might send.
#[derive(Debug, Clone, Deserialize)]
pub struct Request {
    /// Names it.
    pub id: String,
    /// The bytes.
    #[serde(alias = "req")]
    pub send: String,
    /// What may come of it.
    #[serde(alias = "accept")]
    pub may: Vec<Outcome>,
    /// Conditions on what the upstream sees, if it sees anything.
    #[serde(alias = "upstream", default)]
    pub seen: Seen,
    /// The reason.
    pub why: String,
}

/// What can come of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// A 4xx or 5xx or no answer, nothing forwarded, the connection closed.
    #[serde(alias = "reject_close")]
    Refused,
    /// Forwarded, well framed.
    #[serde(alias = "forward_clean")]
    Forwarded,
    /// Answered by the proxy itself, nothing forwarded.
    #[serde(alias = "answer_local")]
    Answered,
    /// It waits for more or closes; nothing complete is forwarded.
    #[serde(alias = "incomplete")]
    Waiting,
}

/// Conditions on what the upstream sees. One that is not known here is an error, not a pass.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "a list of conditions, each there or not")]
pub struct Seen {
    /// At most so many requests; one where nothing is said.
    pub max_requests: Option<usize>,
    /// Fields that must not arrive, in lower case.
    pub no_header: Vec<String>,
    /// Fields that must arrive, in lower case.
    pub has_header: Vec<String>,
    /// Bytes that must not arrive anywhere.
    pub no_bytes: Option<String>,
    /// What the first body begins with.
    pub body: Option<String>,
    /// A length or chunks, never both.
    pub single_framing: bool,
    /// A length in plain digits, or chunks.
    pub canonical_cl: bool,
    /// The client's connection is closed after the answer.
    pub close_after: bool,
    /// The target that must arrive.
    pub path: Option<String>,
    /// The target arrives as it was sent, or with unreserved characters decoded.
    #[serde(alias = "policy_path_equals_upstream_path")]
    pub same_path: bool,
    /// No line ends without CR.
    pub crlf_only: bool,
    /// It arrives at this upstream; there is no other that could be seen.
    pub same_upstream: bool,
    /// Nothing complete arrives.
    pub not_complete: bool,
}

/// An answer that an upstream might give.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Names it.
    pub id: String,
    /// The bytes.
    pub bytes: String,
    /// What the upstream does after them.
    pub then: Then,
    /// What may come of it.
    pub may: Vec<Delivery>,
    /// Fields that must not reach the client.
    pub gone: Vec<String>,
    /// Bytes that must not reach the client.
    pub never: Option<String>,
    /// The reason.
    pub why: String,
}

/// What an upstream does after its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Then {
    /// Keeps the connection for the next request.
    Keep,
    /// Closes in order.
    Fin,
    /// Resets the connection.
    Rst,
    /// Says nothing more.
    #[serde(alias = "hang")]
    Silence,
}

/// What the client may get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// A complete answer with this status.
    Status(u16),
    /// An answer that is visibly incomplete, or none.
    Cut,
    /// Anything, in time.
    Bounded,
}

impl Delivery {
    fn parse(word: &str) -> Option<Self> {
        match word {
            "cut" => Some(Self::Cut),
            "bounded" => Some(Self::Bounded),
            digits => digits.parse().ok().map(Self::Status),
        }
    }
}

/// Either way of writing down an answer: expectations as words, or as a sentence.
#[derive(Debug, Deserialize)]
struct AnswerLine {
    id: String,
    #[serde(alias = "resp")]
    answer: String,
    #[serde(alias = "end")]
    then: Then,
    #[serde(default)]
    may: Vec<String>,
    #[serde(default)]
    gone: Vec<String>,
    #[serde(default)]
    never: Option<String>,
    #[serde(default)]
    expect: Option<String>,
    why: String,
}

impl From<AnswerLine> for Answer {
    fn from(line: AnswerLine) -> Self {
        let may = line.may.iter().map(|word| Delivery::parse(word).unwrap_or_else(|| panic!("{}: `{word}`", line.id)));
        let mut case = Self {
            id: line.id.clone(),
            may: may.collect(),
            bytes: line.answer,
            then: line.then,
            gone: line.gone,
            never: line.never,
            why: line.why,
        };
        if let Some(sentence) = &line.expect {
            case.read_sentence(sentence);
        }
        assert!(!case.may.is_empty(), "{}: nothing may come of it", case.id);
        case
    }
}

impl Answer {
    /// Takes from a sentence such as `502 or passed` what can be judged.
    fn read_sentence(&mut self, sentence: &str) {
        let words = |text: &str| -> Vec<String> {
            text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').map(str::to_owned).collect()
        };
        let sent = self.bytes.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        for word in words(sentence) {
            let status = (word.len() == 3).then(|| word.parse::<u16>().ok()).flatten();
            match word.as_str() {
                "bounded" => self.may.push(Delivery::Bounded),
                "abort" | "streaming" => self.may.push(Delivery::Cut),
                "passed" | "re-emitted" | "removed" | "inspect" | "close-delimited" => {
                    self.may.push(Delivery::Status(sent));
                }
                _ => self.may.extend(status.map(Delivery::Status)),
            }
        }
        if let Some((names, _)) = sentence.split_once(" removed") {
            let fields = words(names).into_iter().map(|name| name.to_ascii_lowercase());
            self.gone.extend(fields.filter(|name| self.bytes.to_ascii_lowercase().contains(&format!("{name}:"))));
        }
        if sentence.contains("bytes never reach client") {
            self.never = self.bytes.split("\r\n\r\n").nth(1).map(str::to_owned);
        }
    }
}

/// The bytes of a text in which each character is one byte.
pub fn bytes(text: &str) -> Vec<u8> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("<<") {
        let (repeated, after) = behind.split_once(">>").expect("`>>`");
        let (part, times) = repeated.rsplit_once('*').expect("`*`");
        out.push_str(before);
        out.push_str(&part.repeat(times.parse().expect("a number")));
        rest = after;
    }
    out.push_str(rest);
    out.chars().map(|c| u8::try_from(u32::from(c)).expect("a character is a byte")).collect()
}

/// The requests of a folder.
pub fn requests(folder: &Path) -> Vec<Request> {
    read(&folder.join("requests.jsonl"))
}

/// The answers of a folder.
pub fn answers(folder: &Path) -> Vec<Answer> {
    read::<AnswerLine>(&folder.join("responses.jsonl")).into_iter().map(Answer::from).collect()
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> Vec<T> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .enumerate()
        .map(|(n, line)| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{}:{}: {error}", path.display(), n + 1))
        })
        .collect()
}
