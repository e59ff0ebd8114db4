//! Where the token at hand ends, searched on from where the last chunk left off, and the faults that are found on the way.

use crate::content::json::string::{self, Flaw, Scan};
use crate::content::json::{Fault, lexer};

use super::engine::{Engine, Run};

/// Where a token ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// At this index: of the closing quote, or behind the last byte of anything else.
    End(usize),
    /// Beyond what has arrived.
    Wait,
    /// Beyond the limit.
    Long,
}

impl Engine {
    /// Finds the end of the string at `pos`.
    #[inline]
    pub(super) fn string_end<J>(&mut self, run: &Run<'_, J>, limit: usize) -> Result<Found, Fault> {
        let start = self.pos;
        // One byte more than content and quotes: a longer string shows itself there, however the chunks fall.
        let cap = start.saturating_add(limit).saturating_add(2);
        let seen = run.input.get(..cap).unwrap_or(run.input);
        if self.scanned <= start {
            self.scanned = start + 1;
            self.escaped = false;
        }
        match string::scan(seen, self.scanned, &mut self.escaped) {
            Ok(Scan::End(quote)) => {
                self.scanned = 0;
                Ok(Found::End(quote))
            }
            Ok(Scan::More(_)) if seen.len() == cap => {
                self.scanned = 0;
                Ok(Found::Long)
            }
            Ok(Scan::More(safe)) => {
                self.scanned = safe;
                Ok(Found::Wait)
            }
            Err(flaw) => Err(self.flawed(flaw)),
        }
    }

    /// Finds the end of the number at `pos`.
    pub(super) fn number_end<J>(&mut self, run: &Run<'_, J>) -> Result<Found, Fault> {
        let start = self.pos;
        let end = lexer::number_end(run.input, self.scanned.max(start));
        if end - start > self.limits.token {
            return Err(self.oversize(start + self.limits.token, "number"));
        }
        if end == run.input.len() && !run.last {
            self.scanned = end;
            return Ok(Found::Wait);
        }
        self.scanned = 0;
        if !lexer::is_number(run.input.get(start..end).unwrap_or_default()) {
            return Err(self.malformed(start, "not a number"));
        }
        Ok(Found::End(end))
    }

    /// Finds the end of the literal at `pos`.
    pub(super) fn literal_end<J>(&self, run: &Run<'_, J>, first: u8) -> Result<Found, Fault> {
        let rest = run.input.get(self.pos..).unwrap_or_default();
        match lexer::literal(first) {
            Some(word) if rest.starts_with(word) => Ok(Found::End(self.pos + word.len())),
            Some(word) if !run.last && word.starts_with(rest) => Ok(Found::Wait),
            _ => Err(self.malformed(self.pos, "expected a value")),
        }
    }

    pub(super) fn malformed(&self, at: usize, what: &'static str) -> Fault {
        Fault::Malformed { at: self.base + at as u64, what }
    }

    pub(super) fn flawed(&self, flaw: Flaw) -> Fault {
        self.malformed(flaw.at, flaw.what)
    }

    pub(super) fn oversize(&self, at: usize, what: &'static str) -> Fault {
        Fault::Oversize { at: self.base + at as u64, what }
    }
}
