//! A bar for people who wait: on a terminal, for bodies that take a while, and never anywhere else.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Below this nobody would see it.
const WORTH_A_BAR: u64 = 16 << 20;

/// Shows how far the reading is.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    length: Option<u64>,
    wanted: bool,
}

impl Progress {
    /// `wanted`: nothing else is written to the terminal.
    pub fn new(length: Option<u64>, wanted: bool) -> Self {
        Self { bar: None, length, wanted: wanted && io::stderr().is_terminal() }
    }

    /// So many bytes have been read.
    pub fn at(&mut self, bytes: u64) {
        if !self.wanted {
            return;
        }
        if self.length.unwrap_or(bytes) >= WORTH_A_BAR {
            self.bar.get_or_insert_with(|| bar(self.length)).set_position(bytes);
        }
    }

    /// Takes the bar away: what comes next is said on a clean line.
    pub fn done(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(length: Option<u64>) -> ProgressBar {
    let (bar, template) = match length {
        Some(length) => (ProgressBar::new(length), "{bar:40} {bytes}/{total_bytes}  {bytes_per_sec}  {eta} left"),
        None => (ProgressBar::no_length(), "{spinner} {bytes}  {bytes_per_sec}  {elapsed}"),
    };
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
    bar.with_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()))
}
