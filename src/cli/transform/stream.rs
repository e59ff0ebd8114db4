//! A body from a reader to a writer by one plan, in the order and with the bounds of the gateway: the start is read first,
//! and a body that ends there, or that a rule may block, is written only when all of it was judged. Memory is bounded by the
//! buffer and by what the filter holds. It refuses to know where bytes come from and go to.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;

use super::ending::Ending;
use crate::cli::input::coding_fault;
use crate::content::json::Limits;
use crate::content::kind::{Format, Kind};
use crate::policy::{BodyFault, BodyFilter, Failure, Findings, Plan, Verdict};
use crate::rules::Route;

/// Bytes read at once, and the longest body of an editing plan that is judged whole: the gateway's default for `buffer`.
const BUFFER: usize = 64 * 1024;

/// One body's way through a plan.
pub(super) struct Work<'r> {
    pub plan: &'r Arc<Plan>,
    content_type: &'r str,
    /// How much is read before anything is written.
    hold: usize,
    body_limit: usize,
    total: u64,
    /// Bytes read and written so far.
    pub read: u64,
    pub written: u64,
    pub edited: bool,
    pub findings: Findings,
}

impl<'r> Work<'r> {
    pub fn new(plan: &'r Arc<Plan>, route: &Route, content_type: &'r str) -> Self {
        let hold = if plan.may_block_body() { route.body_limit } else { BUFFER };
        let total = route.total_limit.unwrap_or(u64::MAX);
        let findings = Findings::default();
        Self {
            plan,
            content_type,
            hold,
            body_limit: route.body_limit,
            total,
            read: 0,
            written: 0,
            edited: false,
            findings,
        }
    }

    /// Does it; `progress` hears how much of the source has been read.
    pub fn run(
        &mut self,
        input: &mut (impl Read + Named),
        output: &mut impl Write,
        mut progress: impl FnMut(u64),
    ) -> Result<(), Ending> {
        let (start, ended) = self.begin(input, &mut progress)?;
        let Some(mut filter) = self.filter(&start)? else {
            self.write(&start, output)?;
            return self.copy(input, output, progress);
        };
        if !ended && self.plan.may_block_body() && !filter.is_endless() {
            let what = "larger than what may be held for a rule that blocks (`limits.body`)";
            return Err(Ending::Unreadable { failure: Failure::Oversize, at: self.hold as u64, what });
        }
        let result = self.judge(&mut filter, &start, ended, input, output, progress);
        self.edited = filter.changed();
        self.findings = filter.into_findings();
        result
    }

    /// What reads such a body. `None`: no rule looks at it. This is the one place that knows which kinds can be read.
    fn filter(&self, start: &[u8]) -> Result<Option<BodyFilter>, Ending> {
        let refuse = |failure, what| Err(Ending::Unreadable { failure, at: 0, what });
        match Kind::of([self.content_type.as_bytes()], start) {
            Kind::Known(format) => match self.plan.trouble_with(format) {
                Some(what) => refuse(Failure::Unsupported, what),
                None if self.plan.reads_body() || format == Format::Json => {
                    // What cannot be judged in parts must be held whole: an event, a field of a form.
                    let hold = if matches!(format, Format::Events | Format::Form | Format::Multipart(_)) {
                        self.body_limit
                    } else {
                        self.hold
                    };
                    Ok(Some(BodyFilter::new(self.plan, format, Limits::default(), hold).strict()))
                }
                None => Ok(None),
            },
            Kind::Empty => refuse(Failure::Malformed, "the body is empty"),
            Kind::Unsupported(_) if !self.plan.reads_body() => Ok(None),
            Kind::Unsupported(what) => refuse(Failure::Unsupported, what),
        }
    }

    /// Reads until the body ends, or a little more than `hold` is there.
    fn begin(
        &mut self,
        input: &mut (impl Read + Named),
        progress: &mut impl FnMut(u64),
    ) -> Result<(Vec<u8>, bool), Ending> {
        let mut start = Vec::new();
        let mut buffer = vec![0; BUFFER];
        while start.len() <= self.hold {
            let piece = self.next(input, &mut buffer)?;
            if piece.is_empty() {
                return Ok((start, true));
            }
            start.extend_from_slice(piece);
            progress(input.taken().unwrap_or(self.read));
        }
        Ok((start, false))
    }

    /// Judges `start`, and what comes after it if there is more.
    fn judge(
        &mut self,
        filter: &mut BodyFilter,
        start: &[u8],
        ended: bool,
        input: &mut (impl Read + Named),
        output: &mut impl Write,
        mut progress: impl FnMut(u64),
    ) -> Result<(), Ending> {
        let plan = self.plan;
        let mut out = Vec::new();
        let mut buffer = vec![0; if ended { 0 } else { BUFFER }];
        let mut piece = start;
        loop {
            filter.push(piece, &mut out).map_err(|fault| ending(fault, &filter.verdict(), plan))?;
            if ended {
                break;
            }
            self.write(&out, output)?;
            out.clear();
            piece = self.next(input, &mut buffer)?;
            if piece.is_empty() {
                break;
            }
            progress(input.taken().unwrap_or(self.read));
        }
        filter.finish(&mut out).map_err(|fault| ending(fault, &filter.verdict(), plan))?;
        self.write(&out, output)
    }

    /// The rest of a body that no rule looks at.
    fn copy(
        &mut self,
        input: &mut (impl Read + Named),
        output: &mut impl Write,
        mut progress: impl FnMut(u64),
    ) -> Result<(), Ending> {
        let mut buffer = vec![0; BUFFER];
        loop {
            let piece = self.next(input, &mut buffer)?;
            if piece.is_empty() {
                return Ok(());
            }
            self.write(piece, output)?;
            progress(input.taken().unwrap_or(self.read));
        }
    }

    /// The next bytes; none at the end.
    fn next<'b>(&mut self, input: &mut (impl Read + Named), buffer: &'b mut [u8]) -> Result<&'b [u8], Ending> {
        let length = loop {
            match input.read(buffer) {
                Ok(length) => break length,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(match coding_fault(&error) {
                        Some(fault) => Ending::Unreadable { failure: fault.into(), at: self.read, what: fault.what() },
                        None => Ending::Read(input.name().to_owned(), error),
                    });
                }
            }
        };
        self.read += length as u64;
        if self.read > self.total {
            let what = "larger than this route allows (`limits.total`)";
            return Err(Ending::Unreadable { failure: Failure::Oversize, at: self.total, what });
        }
        Ok(buffer.get(..length).unwrap_or_default())
    }

    fn write(&mut self, bytes: &[u8], output: &mut impl Write) -> Result<(), Ending> {
        if bytes.is_empty() {
            return Ok(());
        }
        // What is decided is out at once: the input may be somebody who types.
        output.write_all(bytes).and_then(|()| output.flush()).map_err(Ending::Write)?;
        self.written += bytes.len() as u64;
        Ok(())
    }
}

/// What a source is called in messages.
pub(super) trait Named {
    fn name(&self) -> &str;

    /// How much of it was read, where that is not what was read from it.
    fn taken(&self) -> Option<u64> {
        None
    }
}

impl Named for super::Input {
    fn name(&self) -> &str {
        self.name()
    }

    fn taken(&self) -> Option<u64> {
        Some(self.taken())
    }
}

impl Named for &[u8] {
    fn name(&self) -> &'static str {
        "memory"
    }
}

fn ending(fault: BodyFault, verdict: &Verdict, plan: &Plan) -> Ending {
    match (fault, verdict) {
        (BodyFault::Unreadable { failure, at, what }, _) => Ending::Unreadable { failure, at, what },
        (BodyFault::Blocked, Verdict::Block(block, rule)) => {
            let (policy, rule) =
                plan.rule(*rule).map_or_else(Default::default, |rule| (rule.policy.to_string(), rule.id.to_string()));
            Ending::Blocked { policy, rule, status: block.status }
        }
        // The filter says blocked only after a rule has blocked; were it otherwise, nothing must pass either.
        (BodyFault::Blocked, Verdict::Pass | Verdict::Edit) => {
            Ending::Read("the body".to_owned(), io::Error::other("judging stopped without a rule"))
        }
    }
}
