//! Where a body comes from: a file, or standard input, packed or not. It says at once what cannot be read, in the user's words.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

use crate::content::coding::{self, Codings, Decoder};

/// Bytes read at once.
const BUFFER: usize = 64 * 1024;

/// A body's source, with a name for messages.
pub(super) struct Input {
    reader: BufReader<Box<dyn Read>>,
    name: String,
    length: Option<u64>,
    taken: u64,
    unpacking: Option<Unpacking>,
}

/// A source that is decoded while it is read.
struct Unpacking {
    decoder: Decoder,
    unpacked: Vec<u8>,
    /// How much of `unpacked` has been read.
    read: usize,
    /// Whether the decoder has more to give without further input.
    has_more: bool,
    ended: bool,
}

impl Input {
    /// Opens a file; `-` is standard input.
    pub fn open(path: &Path) -> Result<Self, String> {
        let new = |reader, name, length| {
            let reader = BufReader::with_capacity(BUFFER, reader);
            Self { reader, name, length, taken: 0, unpacking: None }
        };
        if path == Path::new("-") {
            return Ok(new(Box::new(io::stdin().lock()), "standard input".to_owned(), None));
        }
        let name = format!("`{}`", path.display());
        let trouble = |error: &io::Error| {
            let kind = error.kind();
            if kind == ErrorKind::NotFound {
                format!("there is no file {name}")
            } else if kind == ErrorKind::PermissionDenied {
                format!("{name} may not be read by this user")
            } else {
                format!("cannot read {name}: {error}")
            }
        };
        let file = File::open(path).map_err(|error| trouble(&error))?;
        let about = file.metadata().map_err(|error| trouble(&error))?;
        if about.is_dir() {
            return Err(format!("{name} is a folder; what is read is one file, or `-` for standard input"));
        }
        let length = about.is_file().then_some(about.len());
        Ok(new(Box::new(file), name, length))
    }

    /// From here on it reads what the source decodes to; see [`coding_fault`].
    pub fn unpack(&mut self, codings: &Codings, most: u64) {
        let decoder = Decoder::new(codings, most);
        let unpacking = Unpacking { decoder, unpacked: Vec::new(), read: 0, has_more: false, ended: false };
        self.unpacking = (!codings.is_empty()).then_some(unpacking);
    }

    /// How it begins; what can be had at once, and nothing of it is lost.
    pub fn beginning(&mut self) -> io::Result<&[u8]> {
        loop {
            match self.reader.fill_buf() {
                Ok(_) => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.reader.buffer())
    }

    /// How many bytes were read of the source, as it is.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// For messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// In bytes, where it is known before.
    pub fn length(&self) -> Option<u64> {
        self.length
    }
}

/// Why a read failed, if that is what it cannot be decoded for.
pub(super) fn coding_fault(error: &io::Error) -> Option<coding::Fault> {
    error.get_ref().and_then(|inner| inner.downcast_ref()).copied()
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(unpacking) = &mut self.unpacking else {
            let length = self.reader.read(buffer)?;
            self.taken += length as u64;
            return Ok(length);
        };
        loop {
            let ready = unpacking.unpacked.get(unpacking.read..).unwrap_or_default();
            if !ready.is_empty() || unpacking.ended {
                let length = (&*ready).read(buffer)?;
                unpacking.read += length;
                return Ok(length);
            }
            self.taken += unpacking.step(&mut self.reader)?;
        }
    }
}

impl Unpacking {
    /// Decodes a piece, with what the source has if there is nothing left to do. Answers how much it took of it.
    fn step(&mut self, source: &mut BufReader<Box<dyn Read>>) -> io::Result<u64> {
        let fault = |fault: coding::Fault| io::Error::new(ErrorKind::InvalidData, fault);
        // Nobody is waited for while there is something to do.
        let packed = if self.has_more { source.buffer() } else { source.fill_buf()? };
        let (length, mut rest) = (packed.len(), packed);
        if rest.is_empty() && !self.has_more {
            self.ended = true;
            self.decoder.finish().map_err(fault)?;
            return Ok(0);
        }
        self.unpacked.clear();
        self.read = 0;
        self.has_more = self.decoder.step(&mut rest, &mut self.unpacked).map_err(fault)?;
        let taken = length - rest.len();
        source.consume(taken);
        Ok(taken as u64)
    }
}
