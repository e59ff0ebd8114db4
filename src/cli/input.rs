//! Where a body comes from: a file, or standard input. It says at once what cannot be read, in the user's words.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// A body's source, with a name for messages.
pub(super) struct Input {
    reader: Box<dyn Read>,
    name: String,
    length: Option<u64>,
}

impl Input {
    /// Opens a file; `-` is standard input.
    pub fn open(path: &Path) -> Result<Self, String> {
        if path == Path::new("-") {
            return Ok(Self { reader: Box::new(io::stdin().lock()), name: "standard input".to_owned(), length: None });
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
        Ok(Self { reader: Box::new(file), name, length })
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

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}
