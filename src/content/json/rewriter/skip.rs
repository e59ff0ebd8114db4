//! Containers in which nothing is selected and nothing is shown, skipped at one go. It validates what it skips and keeps no
//! more than a bit for each open container: no stack, no path. Where one is not wholly there, or anything in it is not as it
//! should be, it answers that, and nothing is lost but the time: the other roads find out what it is.

use crate::content::json::block::Marks;
use crate::content::json::lexer;
use crate::content::json::string::{self, Scan};

use super::flight::{ahead, passed};
use super::ground::Ground;

/// How deep it goes: a bit for each container, and one more that stands before them.
const DEEPEST: usize = 63;

/// The containers that are open, innermost last: whether each is an object.
struct Open {
    kinds: u64,
    room: usize,
}

impl Open {
    /// Goes into a container. `None`: too deep.
    #[inline]
    fn enter(&mut self, is_object: bool) -> Option<()> {
        self.room = self.room.checked_sub(1)?;
        self.kinds = self.kinds << 1 | u64::from(is_object);
        Some(())
    }

    /// Leaves one by this bracket; whether it was the last. `None`: it is another's.
    #[inline]
    fn leave(&mut self, bracket: u8) -> Option<bool> {
        let fits = if self.is_object() { bracket == b'}' } else { bracket == b']' };
        self.room += 1;
        self.kinds >>= 1;
        fits.then_some(self.kinds == 1)
    }

    #[inline]
    fn is_object(&self) -> bool {
        self.kinds & 1 != 0
    }
}

/// The end of the container that begins at `at`, which may hold `room` levels, its own among them. `None`: it needs a closer look.
// PERF: one function, so that where it stands is a register.
#[inline(never)]
pub(super) fn skipped(ground: &Ground<'_>, marks: &mut Marks, mut at: usize, room: usize) -> Option<usize> {
    // Containers that lie around the same odd place are not all tried, or depth would multiply the work.
    if at < marks.odd {
        return None;
    }
    let bytes = ground.bytes;
    let mut open = Open { kinds: 1, room: room.min(DEEPEST) };
    // The value at `at`, and what comes up to the next one.
    'values: while let Some(&first) = bytes.get(at) {
        let mut is_first = matches!(first, b'{' | b'[');
        if is_first {
            if open.enter(first == b'{').is_none() {
                break;
            }
        } else {
            let Some(end) = scalar_end(ground, marks, at, first) else { break };
            at = end;
        }
        loop {
            // Behind a value, or on the bracket that has just opened.
            while open.is_object()
                && let Some(end) = member_end(ground, marks, at, if is_first { b'{' } else { b',' })
            {
                (at, is_first) = (end, false);
            }
            let Some(start) = gap_end(ground, at + usize::from(is_first)) else { break 'values };
            let lead = match bytes.get(start) {
                Some(bracket @ (b'}' | b']')) => match open.leave(*bracket) {
                    Some(true) => return Some(start + 1),
                    Some(false) => {
                        (at, is_first) = (start + 1, false);
                        continue;
                    }
                    None => break 'values,
                },
                Some(b',') if !is_first => start + 1,
                Some(_) if is_first => start,
                Some(_) | None => break 'values,
            };
            let Some(value) = value_behind(ground, marks, lead, open.is_object()) else { break 'values };
            at = value;
            break;
        }
    }
    marks.odd = at;
    None
}

/// The end of the member behind the comma or brace at `at`, if it is a scalar, and nothing about it is odd: most are.
#[expect(clippy::inline_always, reason = "PERF: in the loop its parts are shared with what is around it")]
#[inline(always)]
fn member_end(ground: &Ground<'_>, marks: &mut Marks, at: usize, lead: u8) -> Option<usize> {
    let bytes = ground.bytes;
    if ahead(bytes, at) != Some([lead, b'"']) {
        return None;
    }
    let quote = marks.stop(bytes, at + 2);
    let [end, colon, first] = ahead(bytes, quote)?;
    let is_plain = end == b'"' && colon == b':' && quote - at <= ground.token;
    if is_plain { passed::<false>(ground, marks, quote + 2, first) } else { None }
}

fn scalar_end(ground: &Ground<'_>, marks: &mut Marks, at: usize, first: u8) -> Option<usize> {
    match first {
        b'"' => string_end(ground.bytes, marks, at).map(|quote| quote + 1),
        _ => passed::<false>(ground, marks, at, first),
    }
}

/// Where the next value begins, behind white space and, in an object, its key.
#[inline]
fn value_behind(ground: &Ground<'_>, marks: &mut Marks, at: usize, is_object: bool) -> Option<usize> {
    let start = gap_end(ground, at)?;
    if is_object { value_of(ground, marks, start) } else { Some(start) }
}

/// Where the value of the member begins whose key begins at `at`.
fn value_of(ground: &Ground<'_>, marks: &mut Marks, at: usize) -> Option<usize> {
    let bytes = ground.bytes;
    if *bytes.get(at)? != b'"' {
        return None;
    }
    let quote = string_end(bytes, marks, at).filter(|quote| quote - at <= ground.token)?;
    let colon = gap_end(ground, quote + 1)?;
    if *bytes.get(colon)? != b':' {
        return None;
    }
    gap_end(ground, colon + 1)
}

/// The closing quote of the string that begins at `at`.
fn string_end(bytes: &[u8], marks: &mut Marks, at: usize) -> Option<usize> {
    let stop = marks.stop(bytes, at + 1);
    match bytes.get(stop)? {
        b'"' => Some(stop),
        _ => escaped_end(bytes, stop),
    }
}

#[cold]
fn escaped_end(bytes: &[u8], at: usize) -> Option<usize> {
    match string::scan(bytes, at, &mut true) {
        Ok(Scan::End(quote)) => Some(quote),
        Ok(Scan::More(_)) | Err(_) => None,
    }
}

/// Behind white space of which so much may be held back.
#[inline]
fn gap_end(ground: &Ground<'_>, at: usize) -> Option<usize> {
    Some(lexer::space_end(ground.bytes, at)).filter(|end| end - at <= ground.token)
}
