//! The parts of a multipart body: each is judged on its own, by its own type, and those that cannot be read are refused, or pass
//! untouched and alone. A field of a form, which has a name and no file, is judged under its name, like those of other forms;
//! so are the names of files. It promises that no edit makes a boundary.

use super::BodyFault;
use super::judge::BodyJudge;
use super::reader::Reader;
use super::row::{malformed, pass};
use crate::content::json::{Limits, is_container, rewrite_whole};
use crate::content::kind::{Format, Kind, is_utf8};
use crate::content::multipart::{Boundary, Fault, Head, HeadFault, Parts, Piece};
use crate::policy::{Failure, Judged};

/// Bytes of a part by which it is known what it is, if they are not all blank.
const BEGINNING: usize = 256;

impl From<Fault> for BodyFault {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Malformed(what) => malformed(what),
            Fault::Oversize(what) => Self::Unreadable { failure: Failure::Oversize, at: 0, what },
        }
    }
}

fn unsupported(what: &'static str) -> BodyFault {
    BodyFault::Unreadable { failure: Failure::Unsupported, at: 0, what }
}

/// Rewrites the parts of one body.
pub(super) struct PartsReader {
    parts: Parts,
    desk: Desk,
}

impl PartsReader {
    /// At the start of a body. `hold`: bytes of a field that may be held until it is judged.
    pub(super) fn new(boundary: &Boundary, limits: Limits, hold: usize) -> Self {
        let parts = Parts::new(boundary);
        let guard = Guard { parts: Parts::new(boundary), tail: Vec::new() };
        Self { parts, desk: Desk { limits, hold, part: Part::None, length: (None, 0), guard, changed: false } }
    }

    pub(super) fn push(&mut self, judge: &mut BodyJudge, chunk: &[u8], out: &mut Vec<u8>) -> Result<(), BodyFault> {
        self.parts.push(chunk, |piece| self.desk.judge(judge, piece, out))
    }

    pub(super) fn finish(&mut self, judge: &mut BodyJudge, out: &mut Vec<u8>) -> Result<(), BodyFault> {
        self.parts.finish(|piece| self.desk.judge(judge, piece, out))?;
        self.desk.end_of_around(judge, out)
    }

    /// What was read and is not in any output goes out as it came.
    pub(super) fn give_up(&mut self, out: &mut Vec<u8>) {
        self.desk.let_pass(out);
        out.extend_from_slice(self.parts.held());
    }

    /// Bytes that were read and are not decided.
    pub(super) fn held(&self) -> usize {
        let of_part = match &self.desk.part {
            Part::None | Part::Passing => 0,
            Part::Begun(_, bytes) | Part::Field(_, bytes) => bytes.len(),
            Part::Read(reader) | Part::Around(reader) => reader.held(),
        };
        of_part + self.parts.held().len()
    }

    pub(super) fn changed(&self) -> bool {
        self.desk.changed || matches!(&self.desk.part, Part::Read(reader) | Part::Around(reader) if reader.changed())
    }
}

/// Where the parts are judged.
struct Desk {
    limits: Limits,
    hold: usize,
    part: Part,
    /// What the part says that its length is, and how much of it has come.
    length: (Option<u64>, u64),
    guard: Guard,
    changed: bool,
}

/// The part at hand.
enum Part {
    None,
    /// None: what is around the parts, which few readers show to anybody.
    Around(Reader),
    /// One of which too little has come to know what it is.
    Begun(About, Vec<u8>),
    /// The text of a field.
    Field(String, Vec<u8>),
    Read(Reader),
    /// It cannot be read, and policy lets it pass.
    Passing,
}

/// What a part's head says of it.
struct About {
    content_type: Option<String>,
    /// Of a field that is no file.
    field: Option<String>,
    /// Whether nothing but space has come of it.
    is_blank: bool,
}

impl Desk {
    fn judge(&mut self, judge: &mut BodyJudge, piece: Piece<'_>, out: &mut Vec<u8>) -> Result<(), BodyFault> {
        match piece {
            Piece::Line(line) => {
                self.end_of_around(judge, out)?;
                self.guard.tail.clear();
                out.extend_from_slice(line);
                Ok(())
            }
            Piece::Around(text) => {
                if matches!(self.part, Part::None) {
                    judge.leave_document();
                    self.part = Part::Around(Reader::new(&judge.plan, Format::Text, self.limits, self.hold));
                }
                self.guarded(judge, out, |desk, judge, out| desk.data(judge, text, out))
            }
            Piece::Head(head) => self.begin(judge, head, out),
            Piece::Data(data) => {
                self.length.1 += data.len() as u64;
                self.guarded(judge, out, |desk, judge, out| desk.data(judge, data, out))
            }
            Piece::End => self.guarded(judge, out, Self::end),
        }
    }

    /// Nothing that is written between two boundaries may hold a third.
    fn guarded(
        &mut self,
        judge: &mut BodyJudge,
        out: &mut Vec<u8>,
        write: impl FnOnce(&mut Self, &mut BodyJudge, &mut Vec<u8>) -> Result<(), BodyFault>,
    ) -> Result<(), BodyFault> {
        let from = out.len();
        write(self, judge, out)?;
        self.guard.check(out.get(from..).unwrap_or_default())
    }

    /// A part begins.
    fn begin(&mut self, judge: &mut BodyJudge, block: &[u8], out: &mut Vec<u8>) -> Result<(), BodyFault> {
        judge.leave_document();
        (self.length, self.part) = ((None, 0), Part::Passing);
        let head = match Head::of(block) {
            Ok(head) => head,
            Err(HeadFault::Malformed(what)) => return Err(malformed(what)),
            Err(HeadFault::Unsupported(what)) => {
                pass(judge, unsupported(what))?;
                out.extend_from_slice(block);
                return Ok(());
            }
        };
        let BodyJudge { plan, findings, edited, blocked, .. } = judge;
        match plan.judge_part_head(&head, findings) {
            Judged::Pass => out.extend_from_slice(block),
            Judged::Edit(new) => {
                self.guard.check(new.as_bytes())?;
                self.guard.tail.clear();
                out.extend_from_slice(new.as_bytes());
                (self.changed, *edited) = (true, true);
            }
            Judged::Block(_, rule) => {
                *blocked = Some(rule);
                return Err(BodyFault::Blocked);
            }
        }
        let is_file = head.param("filename").or(head.param("filename*")).is_some();
        let field = head.param("name").filter(|_| !is_file).map(str::to_owned);
        self.length.0 = head.length;
        self.part = Part::Begun(
            About { content_type: head.content_type.map(str::to_owned), field, is_blank: true },
            Vec::new(),
        );
        Ok(())
    }

    /// More of the part at hand.
    fn data(&mut self, judge: &mut BodyJudge, data: &[u8], out: &mut Vec<u8>) -> Result<(), BodyFault> {
        match &mut self.part {
            Part::None | Part::Passing => out.extend_from_slice(data),
            Part::Around(reader) | Part::Read(reader) => {
                let result = reader.push(judge, data, out);
                return result.or_else(|fault| self.pass(judge, fault, out));
            }
            Part::Begun(about, held) => {
                held.extend_from_slice(data);
                about.is_blank = about.is_blank && data.iter().all(u8::is_ascii_whitespace);
                let is_enough = held.len() >= BEGINNING && !about.is_blank;
                if is_enough || held.len() > self.hold {
                    return self.decide(judge, out);
                }
            }
            Part::Field(_, held) => {
                held.extend_from_slice(data);
                if held.len() > self.hold {
                    let what = "a field is larger than what may be held (`limits.body`)";
                    let fault = BodyFault::Unreadable { failure: Failure::Oversize, at: 0, what };
                    return self.pass(judge, fault, out);
                }
            }
        }
        Ok(())
    }

    /// Decides what the part at hand is, by its label and its beginning.
    fn decide(&mut self, judge: &mut BodyJudge, out: &mut Vec<u8>) -> Result<(), BodyFault> {
        let Part::Begun(about, held) = std::mem::replace(&mut self.part, Part::Passing) else { return Ok(()) };
        // RFC 7578, section 4.4.
        let label = about.content_type.as_deref().unwrap_or("text/plain");
        let is_text = label.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("text/"));
        let trouble = match Kind::of([label.as_bytes()], &held) {
            Kind::Known(Format::Json | Format::Text) if is_text && about.field.is_some() => {
                self.part = Part::Field(about.field.unwrap_or_default(), Vec::new());
                return self.data(judge, &held, out);
            }
            Kind::Known(Format::Multipart(_)) => Some("multipart in multipart"),
            Kind::Known(format) => match judge.plan.trouble_with(format) {
                None => {
                    self.part = Part::Read(Reader::new(&judge.plan, format, self.limits, self.hold));
                    return self.data(judge, &held, out);
                }
                trouble => trouble,
            },
            Kind::Empty => None,
            Kind::Unsupported(what) => Some(what),
        };
        if let Some(what) = trouble {
            pass(judge, unsupported(what))?;
        }
        out.extend_from_slice(&held);
        Ok(())
    }

    /// The part at hand has ended.
    fn end(&mut self, judge: &mut BodyJudge, out: &mut Vec<u8>) -> Result<(), BodyFault> {
        if matches!(self.part, Part::Begun(..)) {
            self.decide(judge, out)?;
        }
        match &mut self.part {
            Part::Field(..) => self.end_of_field(judge, out)?,
            Part::Read(reader) | Part::Around(reader) => {
                let result = reader.finish(judge, out);
                result.or_else(|fault| self.pass(judge, fault, out))?;
            }
            Part::None | Part::Begun(..) | Part::Passing => {}
        }
        self.changed |= matches!(&self.part, Part::Read(reader) | Part::Around(reader) if reader.changed());
        self.part = Part::None;
        // SECURITY: a reader that goes by it would see other parts.
        match self.length {
            (Some(said), true_length) if said != true_length => {
                pass(judge, malformed("a part of another length than it says"))
            }
            (Some(_) | None, _) => Ok(()),
        }
    }

    fn end_of_around(&mut self, judge: &mut BodyJudge, out: &mut Vec<u8>) -> Result<(), BodyFault> {
        if matches!(self.part, Part::Around(_)) {
            self.length = (None, 0);
            self.guarded(judge, out, Self::end)?;
        }
        Ok(())
    }

    fn end_of_field(&mut self, judge: &mut BodyJudge, out: &mut Vec<u8>) -> Result<(), BodyFault> {
        let Part::Field(name, value) = std::mem::replace(&mut self.part, Part::Passing) else { return Ok(()) };
        let before = judge.begin_document();
        let result = self.field(judge, &name, &value);
        judge.end_document(before, !matches!(result, Err(BodyFault::Unreadable { .. })));
        let new = match result {
            Ok(new) => new,
            Err(fault) => {
                pass(judge, fault)?;
                None
            }
        };
        self.changed |= new.is_some();
        out.extend_from_slice(new.as_deref().unwrap_or(&value));
        Ok(())
    }

    /// Judges the text of a field: JSON if it is an object or array, and otherwise under the field's name. `None`: it stays.
    fn field(&self, judge: &mut BodyJudge, name: &str, value: &[u8]) -> Result<Option<Vec<u8>>, BodyFault> {
        let text = std::str::from_utf8(value).map_err(|_| malformed("not UTF-8"))?;
        // RFC 7578, section 4.6: what it says is about all the other parts.
        if name == "_charset_" && !is_utf8(&text.trim_ascii().to_ascii_lowercase()) {
            return Err(unsupported("charset"));
        }
        if is_container(text) {
            let program = judge.plan.program().clone();
            return Ok(rewrite_whole(&program, self.limits, judge, value)?);
        }
        if let Some(what) = judge.plan.trouble_with(Format::Text) {
            return Err(unsupported(what));
        }
        let BodyJudge { plan, findings, edited, blocked, .. } = judge;
        match plan.judge_part_field(name, text, findings) {
            Judged::Pass => Ok(None),
            Judged::Edit(new) => {
                *edited = true;
                Ok(Some(new.into_bytes()))
            }
            Judged::Block(_, rule) => {
                *blocked = Some(rule);
                Err(BodyFault::Blocked)
            }
        }
    }

    /// Lets the part at hand pass if policy says so.
    fn pass(&mut self, judge: &mut BodyJudge, fault: BodyFault, out: &mut Vec<u8>) -> Result<(), BodyFault> {
        pass(judge, fault)?;
        self.let_pass(out);
        Ok(())
    }

    fn let_pass(&mut self, out: &mut Vec<u8>) {
        match &mut self.part {
            Part::Around(reader) | Part::Read(reader) => {
                self.changed |= reader.changed();
                reader.give_up(out);
            }
            Part::Begun(_, held) | Part::Field(_, held) => out.extend_from_slice(held),
            Part::None | Part::Passing => {}
        }
        self.part = Part::Passing;
    }
}

/// Watches what is written in a part. SECURITY: where an edit takes something out, what was before and behind it could be put
/// together to a boundary, and what follows would be a part that nobody has judged as one.
struct Guard {
    parts: Parts,
    /// What was written last, shorter than a boundary.
    tail: Vec<u8>,
}

impl Guard {
    fn check(&mut self, written: &[u8]) -> Result<(), BodyFault> {
        let short = self.parts.boundary_length().saturating_sub(1);
        let start = written.get(..short).unwrap_or(written);
        self.tail.extend_from_slice(start);
        if self.parts.has_boundary(&self.tail) || self.parts.has_boundary(written) {
            return Err(malformed("an edit that would make a boundary"));
        }
        if written.len() > short {
            self.tail.clear();
            self.tail.extend_from_slice(written.get(written.len() - short..).unwrap_or_default());
        } else {
            self.tail.drain(..self.tail.len().saturating_sub(short));
        }
        Ok(())
    }
}
