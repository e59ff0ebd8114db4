//! The input, piece by piece: what it is, how far it was read, how it ended. It refuses to know what is looked for.

use std::io::{ErrorKind, Read};

use super::ending::Ending;
use crate::cli::input::Input;
use crate::cli::progress::Progress;
use crate::scan::{BEGINNING, Format, Guess, guess};

/// Bytes read at once.
const BUFFER: usize = 64 * 1024;
const GZIP: &[u8] = b"\x1f\x8b";

pub(super) struct Source {
    input: Input,
    progress: Option<Progress>,
    /// What was read to guess by.
    beginning: Vec<u8>,
    ended: bool,
    /// Bytes read so far.
    pub read: u64,
}

impl Source {
    pub fn new(input: Input, progress: Progress) -> Self {
        Self { input, progress: Some(progress), beginning: Vec::new(), ended: false, read: 0 }
    }

    /// For messages.
    pub fn name(&self) -> &str {
        self.input.name()
    }

    /// Takes the progress bar away.
    pub fn done(&mut self) {
        if let Some(progress) = self.progress.take() {
            progress.done();
        }
    }

    /// What the input is: as it was said, or by its beginning.
    pub fn format(&mut self, said: Option<Guess>) -> Result<Format, Ending> {
        match said {
            Some(guess @ (Guess::Json | Guess::Lines | Guess::Text)) => Ok(guess.with(b"")),
            Some(Guess::Csv) => {
                self.begin(|beginning| beginning.contains(&b'\n'))?;
                Ok(Guess::Csv.with(&self.beginning))
            }
            None => {
                self.begin(|_| false)?;
                Ok(guess(&self.beginning, self.ended))
            }
        }
    }

    /// Reads the beginning, until it is enough.
    fn begin(&mut self, is_enough: impl Fn(&[u8]) -> bool) -> Result<(), Ending> {
        let mut buffer = vec![0; BUFFER];
        while self.beginning.len() < BEGINNING && !self.ended && !is_enough(&self.beginning) {
            let length = self.next(&mut buffer)?;
            self.beginning.extend_from_slice(buffer.get(..length).unwrap_or_default());
        }
        Ok(())
    }

    /// Reads into the buffer; 0 is the end.
    fn next(&mut self, buffer: &mut [u8]) -> Result<usize, Ending> {
        let length = loop {
            match self.input.read(buffer) {
                Ok(length) => break length,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Ending::Read(self.name().to_owned(), error)),
            }
        };
        if self.read == 0 && buffer.get(..length).is_some_and(|start| start.starts_with(GZIP)) {
            return Err(Ending::Compressed(self.name().to_owned()));
        }
        self.ended = length == 0;
        self.read += length as u64;
        if let Some(progress) = &mut self.progress {
            progress.at(self.read);
        }
        Ok(length)
    }

    /// Shows every piece of the input, and then its end.
    pub fn pieces(&mut self, mut each: impl FnMut(Option<&[u8]>) -> Result<(), Ending>) -> Result<(), Ending> {
        let beginning = std::mem::take(&mut self.beginning);
        if !beginning.is_empty() {
            each(Some(&beginning))?;
        }
        let mut buffer = vec![0; BUFFER];
        while !self.ended {
            let length = self.next(&mut buffer)?;
            if length > 0 {
                each(Some(buffer.get(..length).unwrap_or_default()))?;
            }
        }
        each(None)
    }
}
