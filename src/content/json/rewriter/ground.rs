//! What is known of the ground below a flight: the text, what a glance tells, and the container that it is in. It is looked up
//! when a container begins and when one ends, so that members and elements cost nothing but their bytes.

use crate::content::json::block::Marks;
use crate::content::json::selector::{Cursor, Program, State, StateId};
use crate::content::json::{Container, Glance, Judge, Limits, Show};

use super::engine::Run;
use super::frame::Frame;
use super::skip;

/// What is the same for all members or elements of the innermost container.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each asked by its own name")]
pub(super) struct Scope<'a> {
    pub(super) state: &'a State,
    pub(super) is_object: bool,
    /// Where members lead whose name no selector writes; where elements lead.
    pub(super) child: &'a State,
    pub(super) child_id: StateId,
    pub(super) each_key: bool,
    pub(super) each_value: bool,
    /// All that is not passed leads to `child`.
    pub(super) is_one: bool,
    /// How many levels may be open below.
    pub(super) room: usize,
}

impl<'a> Scope<'a> {
    #[inline]
    pub(super) fn of(stack: &[Frame], ground: &Ground<'a>) -> Option<Self> {
        let frame = stack.last()?;
        let state = Cursor::tabled(ground.program, frame.state)?;
        let everything = ground.everything || frame.shown;
        let is_object = frame.container == Container::Object;
        let one = if is_object { Some(state.names.other) } else { Cursor::every_element(state) };
        let child_id = one.unwrap_or(0);
        let child = Cursor::tabled(ground.program, child_id)?;
        let each_key = everything || frame.unforeseen || state.every_key || !child.keys.is_empty();
        let each_value = everything || one.is_none() || !child.scalar.is_empty();
        let room = ground.depth.saturating_sub(stack.len());
        Some(Self { state, is_object, child, child_id, each_key, each_value, is_one: one.is_some(), room })
    }

    /// The end of the container that begins at `at`, if nothing in it can be of interest.
    #[inline]
    pub(super) fn skipped<const PROMISING: bool>(
        &self,
        ground: &Ground<'_>,
        marks: &mut Marks,
        at: usize,
        first: u8,
    ) -> Option<usize> {
        let skips = !PROMISING && self.child.is_barren && matches!(first, b'{' | b'[');
        if skips { skip::skipped(ground, marks, at, self.room) } else { None }
    }
}

/// What it flies over.
pub(super) struct Ground<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) program: &'a Program,
    pub(super) glance: Glance,
    pub(super) everything: bool,
    /// [`Limits::depth`], [`Limits::token`] and [`Limits::window`].
    pub(super) depth: usize,
    pub(super) token: usize,
    pub(super) window: usize,
    /// The longest key and value that need no closer look.
    pub(super) key: usize,
    pub(super) string: usize,
    pub(super) number: usize,
}

impl<'a> Ground<'a> {
    pub(super) fn of<J: Judge>(run: &Run<'a, J>, limits: Limits, glance: Glance) -> Self {
        let Limits { depth, token, window, .. } = limits;
        Self {
            bytes: run.text.as_bytes(),
            program: run.program,
            glance,
            everything: run.show == Show::Everything,
            depth,
            token,
            window,
            key: token.min(glance.length.saturating_sub(1)),
            string: window.min(glance.length.saturating_sub(1)),
            number: token.min(glance.number.saturating_sub(1)),
        }
    }
}
