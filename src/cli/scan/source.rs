//! The input, piece by piece: what it is, how far it was read, how it ended. It refuses to know what is looked for.

use std::io::{ErrorKind, Read};

use super::ending::Ending;
use crate::cli::input::{Input, coding_fault};
use crate::cli::progress::Progress;
use crate::content::coding::{Coding, Codings};
use crate::scan::{BEGINNING, Format, Guess, guess};

/// Bytes read at once.
const BUFFER: usize = 64 * 1024;
/// How packed data begins, and with what it is packed. Brotli has no beginning.
const BEGINNINGS: [(&[u8], Coding); 2] = [(b"\x1f\x8b", Coding::Gzip), (b"\x28\xb5\x2f\xfd", Coding::Zstd)];

pub(super) struct Source {
    input: Input,
    progress: Option<Progress>,
    /// What was read to guess by.
    beginning: Vec<u8>,
    ended: bool,
    /// Bytes read so far, unpacked.
    pub read: u64,
}

/// With what a file is packed, by its name's ending.
pub(super) fn packed_with(ending: &str) -> Option<Coding> {
    match ending.to_ascii_lowercase().as_str() {
        "gz" | "gzip" => Some(Coding::Gzip),
        "zst" | "zstd" => Some(Coding::Zstd),
        "br" => Some(Coding::Brotli),
        _ => None,
    }
}

impl Source {
    pub fn new(input: Input, progress: Progress) -> Self {
        Self { input, progress: Some(progress), beginning: Vec::new(), ended: false, read: 0 }
    }

    /// Unpacks what is packed: as its name says, or its beginning.
    pub fn unpack(&mut self, said: Option<Coding>) -> Result<(), Ending> {
        let name = self.name().to_owned();
        let beginning = self.input.beginning().map_err(|error| Ending::Read(name, error))?;
        let begins = || BEGINNINGS.iter().find(|(start, _)| beginning.starts_with(start)).map(|(_, coding)| *coding);
        if let Some(coding) = said.or_else(begins) {
            // Whoever searches a file of their own may wait for its end.
            self.input.unpack(&Codings::one(coding), u64::MAX);
        }
        Ok(())
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
                Err(error) => {
                    let name = self.name().to_owned();
                    return Err(match coding_fault(&error) {
                        Some(fault) => Ending::Packed(name, fault),
                        None => Ending::Read(name, error),
                    });
                }
            }
        };
        self.ended = length == 0;
        self.read += length as u64;
        if let Some(progress) = &mut self.progress {
            progress.at(self.input.taken());
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
