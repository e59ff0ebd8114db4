//! A body of many documents: each is judged on its own, with its own paths, keys and claims, and written before the next
//! one is looked at. One that cannot be read is refused, or passes untouched and alone.

use std::fmt;

use super::judge::BodyJudge;
use super::{BodyFault, OnFailure};
use crate::content::documents::{Documents, Ends, Piece};
use crate::content::events::{self, EventEnds};
use crate::content::json::{Limits, Rewriter, rewrite_whole};
use crate::policy::{Failure, Judged};

/// RS (RFC 7464, section 2.2). No JSON text holds it.
const RECORD_SEPARATOR: u8 = 0x1e;

/// What the documents are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Document {
    /// JSON texts, with this byte between them.
    Json(u8),
    /// Server-sent events.
    Event,
    /// Pairs of a form.
    Pair,
}

impl Document {
    pub(super) const LINE: Self = Self::Json(b'\n');
    pub(super) const RECORD: Self = Self::Json(RECORD_SEPARATOR);

    fn ends(self) -> Ends {
        match self {
            Self::Json(byte) => Ends::Byte(byte),
            Self::Event => Ends::Events(EventEnds::default()),
            Self::Pair => Ends::Byte(b'&'),
        }
    }
}

/// Rewrites the documents of one body.
pub(super) struct Row {
    documents: Documents,
    desk: Desk,
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Row").field("documents", &self.documents).finish_non_exhaustive()
    }
}

impl Row {
    /// At the start of a body. `hold`: bytes of a document that may be held until it is judged. A longer JSON text streams
    /// through if `may_stream`; a longer document of any other kind is oversize.
    pub(super) fn new(document: Document, limits: Limits, hold: usize, may_stream: bool) -> Self {
        let desk = Desk { document, limits, may_stream, long: None, changed: false };
        Self { documents: Documents::new(document.ends(), hold), desk }
    }

    pub(super) fn push(&mut self, judge: &mut BodyJudge, chunk: &[u8], out: &mut Vec<u8>) -> Result<(), BodyFault> {
        self.documents.push(chunk, |piece| self.desk.judge(judge, &piece, out))
    }

    pub(super) fn finish(&mut self, judge: &mut BodyJudge, out: &mut Vec<u8>) -> Result<(), BodyFault> {
        self.documents.finish(|piece| self.desk.judge(judge, &piece, out))
    }

    /// Bytes of a document whose end has not come.
    pub(super) fn held(&self) -> usize {
        self.documents.held()
            + match &self.desk.long {
                Some(Long::Streaming(rewriter)) => rewriter.held().len(),
                Some(Long::Passing) | None => 0,
            }
    }

    pub(super) fn changed(&self) -> bool {
        self.desk.changed || matches!(&self.desk.long, Some(Long::Streaming(rewriter)) if rewriter.changed())
    }
}

/// Where the documents are judged.
struct Desk {
    document: Document,
    limits: Limits,
    may_stream: bool,
    long: Option<Long>,
    changed: bool,
}

/// A document that is longer than what may be held.
enum Long {
    Streaming(Box<Rewriter>),
    /// It could not be read, and policy lets it pass.
    Passing,
}

impl Desk {
    fn judge(&mut self, judge: &mut BodyJudge, piece: &Piece<'_>, out: &mut Vec<u8>) -> Result<(), BodyFault> {
        match piece {
            Piece::Whole(document) => self.whole(judge, document, out),
            Piece::Part(bytes) => self.part(judge, bytes, out),
            Piece::End => self.end_of_long(judge, out),
        }
    }

    /// INVARIANT: after a fault nothing of the document is in `out`.
    fn whole(&mut self, judge: &mut BodyJudge, document: &[u8], out: &mut Vec<u8>) -> Result<(), BodyFault> {
        let before = judge.begin_document();
        let result = match self.document {
            Document::Json(end) => self.json(judge, document, end, out),
            Document::Event => self.event(judge, document, out),
            Document::Pair => pair(judge, document, out),
        };
        judge.end_document(before, !matches!(result, Err(BodyFault::Unreadable { .. })));
        match result {
            Ok(changed) => self.changed |= changed,
            Err(fault) => {
                pass(judge, fault)?;
                out.extend_from_slice(document);
            }
        }
        Ok(())
    }

    /// A JSON text and the byte behind it. Blank lines are nobody's.
    fn json(&self, judge: &mut BodyJudge, document: &[u8], end: u8, out: &mut Vec<u8>) -> Result<bool, BodyFault> {
        let text = document.strip_suffix(&[end]).unwrap_or(document);
        let new = if is_blank(text) { None } else { self.rewritten(judge, text)? };
        let Some(new) = new else {
            out.extend_from_slice(document);
            return Ok(false);
        };
        out.extend_from_slice(&new);
        out.extend_from_slice(document.get(text.len()..).unwrap_or_default());
        Ok(true)
    }

    fn event(&self, judge: &mut BodyJudge, event: &[u8], out: &mut Vec<u8>) -> Result<bool, BodyFault> {
        if events::has_stray_line(event) {
            return Err(malformed("a line that belongs to no event"));
        }
        let data = events::data(event).filter(|data| !is_blank(data));
        let new = match &data {
            Some(data) if events::is_json(data) => self.rewritten(judge, data)?,
            Some(data) => judge.text(data)?,
            None => None,
        };
        let (Some(old), Some(new)) = (data, new) else {
            out.extend_from_slice(event);
            return Ok(false);
        };
        events::replace_data(event, &old, &new, out);
        Ok(true)
    }

    fn rewritten(&self, judge: &mut BodyJudge, text: &[u8]) -> Result<Option<Vec<u8>>, BodyFault> {
        let program = judge.plan.program().clone();
        Ok(rewrite_whole(&program, self.limits, judge, text)?)
    }

    fn part(&mut self, judge: &mut BodyJudge, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), BodyFault> {
        let long = match &mut self.long {
            Some(long) => long,
            none => {
                judge.leave_document();
                none.insert(match self.document {
                    Document::Json(_) if self.may_stream => {
                        Long::Streaming(Box::new(Rewriter::new(judge.plan.program().clone(), self.limits)))
                    }
                    Document::Json(_) | Document::Event | Document::Pair => {
                        pass(judge, oversize(self.document))?;
                        Long::Passing
                    }
                })
            }
        };
        let (text, end) = match self.document {
            Document::Json(end) => bytes.split_at_checked(bytes.strip_suffix(&[end]).unwrap_or(bytes).len()),
            Document::Event | Document::Pair => None,
        }
        .unwrap_or((bytes, b""));
        match long {
            Long::Passing => out.extend_from_slice(text),
            Long::Streaming(rewriter) => {
                let mut result = rewriter.push(judge, text, out);
                if result.is_ok() && !end.is_empty() {
                    result = rewriter.finish(judge, out);
                }
                if let Err(fault) = result {
                    pass(judge, fault.into())?;
                    out.extend_from_slice(rewriter.held());
                    self.changed |= rewriter.changed();
                    *long = Long::Passing;
                } else if !end.is_empty() {
                    self.changed |= rewriter.changed();
                    *long = Long::Passing;
                }
            }
        }
        out.extend_from_slice(end);
        Ok(())
    }

    /// A long document has ended, at its own end or with the body.
    fn end_of_long(&mut self, judge: &mut BodyJudge, out: &mut Vec<u8>) -> Result<(), BodyFault> {
        if let Some(Long::Streaming(mut rewriter)) = self.long.take() {
            let result = rewriter.finish(judge, out);
            self.changed |= rewriter.changed();
            if let Err(fault) = result {
                pass(judge, fault.into())?;
                out.extend_from_slice(rewriter.held());
            }
        }
        Ok(())
    }
}

/// Judges a pair of a form and the `&` behind it.
fn pair(judge: &mut BodyJudge, document: &[u8], out: &mut Vec<u8>) -> Result<bool, BodyFault> {
    let pair = document.strip_suffix(b"&").unwrap_or(document);
    let text = std::str::from_utf8(pair).map_err(|_| malformed("not UTF-8"))?;
    let BodyJudge { plan, findings, edited, blocked, .. } = judge;
    match plan.judge_form_pair(text, findings) {
        Judged::Pass => {
            out.extend_from_slice(document);
            Ok(false)
        }
        Judged::Edit(new) => {
            out.extend_from_slice(new.as_bytes());
            out.extend_from_slice(document.get(pair.len()..).unwrap_or_default());
            *edited = true;
            Ok(true)
        }
        Judged::Block(_, rule) => {
            *blocked = Some(rule);
            Err(BodyFault::Blocked)
        }
    }
}

pub(super) fn malformed(what: &'static str) -> BodyFault {
    BodyFault::Unreadable { failure: Failure::Malformed, at: 0, what }
}

fn oversize(document: Document) -> BodyFault {
    let what = match document {
        Document::Json(_) => "a line is larger than what may be held (`limits.body`)",
        Document::Event => "an event is larger than what may be held (`limits.body`)",
        Document::Pair => "a field is larger than what may be held (`limits.body`)",
    };
    BodyFault::Unreadable { failure: Failure::Oversize, at: 0, what }
}

/// Lets what cannot be read pass if policy says so, and remembers it.
pub(super) fn pass(judge: &mut BodyJudge, fault: BodyFault) -> Result<(), BodyFault> {
    match fault {
        BodyFault::Unreadable { failure, what, .. }
            if !judge.is_strict && judge.plan.on_failure(failure) == OnFailure::Pass =>
        {
            judge.note_passed(failure, what);
            Ok(())
        }
        BodyFault::Unreadable { .. } | BodyFault::Blocked => Err(fault),
    }
}

fn is_blank(text: &[u8]) -> bool {
    text.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}
