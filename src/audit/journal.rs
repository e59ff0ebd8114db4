//! The journal: a preallocated, memory-mapped ring file in which a record is safe from `kill -9` the moment it is
//! copied in. One writer half, one reader half. It knows bytes and positions, nothing of records.
//!
//! This is the one module with `unsafe`: raw copies into a shared mapping, and atomics that live in it.
//!
//! # Layout
//!
//! A header page (magic, version, capacity, `head` and `tail` on cache lines of their own), then `capacity` bytes of
//! ring. Positions count bytes since the journal was made and only grow; a position's place in the ring is its
//! remainder. Bytes from `tail` to `head` are frames to be read:
//!
//! ```text
//! length: u32  checksum: u32  at: u64  payload        (little endian; CRC-32 over position, at and payload)
//! ```
//!
//! A frame is copied first and published by moving `head` with `Release`; so a process that dies half-way leaves
//! nothing. The checksum exists for what a dead *machine* leaves: pages that reached the disk in another order. It
//! covers the position, so that a frame of an earlier lap is not taken for a live one.
//!
//! SECURITY: the blocks are allocated up front, because a write to a mapped hole on a full disk is a SIGBUS. (A file
//! system that copies on write can break that promise; a file that is truncated from outside breaks it on all of
//! them.)

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::FallocateFlags;

const MAGIC: [u8; 8] = *b"FGJOURNL";
const VERSION: u64 = 1;
const HEADER: usize = 4096;
const VERSION_AT: usize = 8;
const CAPACITY_AT: usize = 16;
const HEAD_AT: usize = 128;
const TAIL_AT: usize = 256;

/// Bytes of a frame before its payload.
pub const FRAME_HEADER: usize = 16;
/// The largest ring that is believed when a file is opened: 1 GiB.
const MOST: u64 = 1 << 30;

/// There is no room for the frame.
#[derive(Debug, PartialEq, Eq)]
pub struct Full;

/// What is at the reader's place.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// A frame; its payload is in the buffer.
    Frame {
        /// The number that it was pushed with.
        at: u64,
    },
    /// Nothing yet.
    Empty,
    /// Bytes that were never a whole frame.
    Damaged,
}

#[derive(Debug)]
struct Ring {
    map: MmapRaw,
    file: File,
    capacity: u64,
}

/// The half that puts frames in. There is one per journal.
#[derive(Debug)]
pub struct JournalWriter(Arc<Ring>);

/// The half that takes frames out. There is one per journal.
#[derive(Debug)]
pub struct JournalReader {
    ring: Arc<Ring>,
    next: u64,
    path: PathBuf,
}

/// Makes a journal whose first frame has position `start`. A file at `path` is replaced.
pub fn create(path: &Path, capacity: u64, start: u64) -> io::Result<(JournalWriter, JournalReader)> {
    // Made under another name first, so that a process that dies here leaves no half-made journal.
    let unfinished = path.with_extension("new");
    let mut file =
        OpenOptions::new().read(true).write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
    let length = HEADER as u64 + capacity;
    if rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, length).is_err() {
        // COMPAT: not every file system can allocate ahead; those are made to by writing.
        io::copy(&mut io::Read::take(io::repeat(0), length), &mut file)?;
        file.flush()?;
    }
    // COMPAT: allocating ahead does not lengthen the file everywhere.
    file.set_len(length)?;
    let map = MmapOptions::new().len(length as usize).map_raw(&file)?;
    let ring = Ring { map, file, capacity };
    ring.word(VERSION_AT).store(VERSION, Ordering::Relaxed);
    ring.word(CAPACITY_AT).store(capacity, Ordering::Relaxed);
    ring.word(HEAD_AT).store(start, Ordering::Relaxed);
    ring.word(TAIL_AT).store(start, Ordering::Relaxed);
    ring.word(0).store(u64::from_le_bytes(MAGIC), Ordering::Release);
    std::fs::rename(&unfinished, path)?;
    Ok(halves(ring, path))
}

/// Opens what an earlier process left. `Ok(None)`: the file is not a journal of this version.
pub fn open(path: &Path) -> io::Result<Option<(JournalWriter, JournalReader)>> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let length = file.metadata()?.len();
    let Some(capacity) = length.checked_sub(HEADER as u64).filter(|n| (1..=MOST).contains(n)) else {
        return Ok(None);
    };
    let map = MmapOptions::new().len(length as usize).map_raw(&file)?;
    let ring = Ring { map, file, capacity };
    let is_ours = ring.word(0).load(Ordering::Relaxed) == u64::from_le_bytes(MAGIC)
        && ring.word(VERSION_AT).load(Ordering::Relaxed) == VERSION
        && ring.word(CAPACITY_AT).load(Ordering::Relaxed) == capacity
        && ring.pending() <= capacity;
    Ok(is_ours.then(|| halves(ring, path)))
}

/// Bytes waiting in the journal at `path`, without mapping or touching it; 0 if it is not a journal.
pub fn pending(path: &Path) -> io::Result<u64> {
    let mut header = [0; HEADER];
    if File::open(path)?.read_at(&mut header, 0)? < HEADER || header[..8] != MAGIC {
        return Ok(0);
    }
    let word = |at: usize| header[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    Ok(word(HEAD_AT).saturating_sub(word(TAIL_AT)))
}

fn halves(ring: Ring, path: &Path) -> (JournalWriter, JournalReader) {
    let ring = Arc::new(ring);
    let next = ring.word(TAIL_AT).load(Ordering::Acquire);
    (JournalWriter(Arc::clone(&ring)), JournalReader { ring, next, path: path.to_owned() })
}

impl Ring {
    /// One of the header's words.
    #[expect(unsafe_code, reason = "an atomic in the mapped header")]
    fn word(&self, offset: usize) -> &AtomicU64 {
        debug_assert!(offset.is_multiple_of(8) && offset + 8 <= HEADER);
        // SAFETY: the mapping is at least a header long, page-aligned and lives as long as `self`; offsets are the
        // multiples of 8 above, inside the header; these bytes are only ever touched as atomics.
        unsafe { AtomicU64::from_ptr(self.map.as_mut_ptr().add(offset).cast()) }
    }

    fn pending(&self) -> u64 {
        let tail = self.word(TAIL_AT).load(Ordering::Acquire);
        self.word(HEAD_AT).load(Ordering::Acquire).wrapping_sub(tail)
    }

    /// Where `position` is in the ring, and how many bytes follow it before the ring's end.
    fn place(&self, position: u64) -> (usize, usize) {
        let offset = position % self.capacity;
        (HEADER + offset as usize, (self.capacity - offset) as usize)
    }

    /// Copies into the ring. Only the writer half calls this, and only for bytes that are not published.
    #[expect(unsafe_code, reason = "a copy into the mapping")]
    fn put(&self, position: u64, bytes: &[u8]) {
        debug_assert!(bytes.len() as u64 <= self.capacity);
        let (place, before_end) = self.place(position);
        let (first, second) = bytes.split_at(bytes.len().min(before_end));
        let base = self.map.as_mut_ptr();
        // SAFETY: `place` is below header + capacity, which is the mapping's length; the first part ends at or before
        // the ring's end, the second (at most `capacity` long) starts at the ring's beginning. Nobody reads these
        // bytes: the reader half stops at `head`, and there is one writer half.
        unsafe {
            std::ptr::copy_nonoverlapping(first.as_ptr(), base.add(place), first.len());
            std::ptr::copy_nonoverlapping(second.as_ptr(), base.add(HEADER), second.len());
        }
    }

    /// Copies out of the ring. Only the reader half calls this, and only for bytes between `tail` and `head`.
    #[expect(unsafe_code, reason = "a copy out of the mapping")]
    fn take(&self, position: u64, into: &mut [u8]) {
        debug_assert!(into.len() as u64 <= self.capacity);
        let (place, before_end) = self.place(position);
        let (first, second) = into.split_at_mut(into.len().min(before_end));
        let base = self.map.as_ptr();
        // SAFETY: bounds as in `put`. Nobody writes these bytes: the writer half keeps out of what lies between
        // `tail` and `head`, and `head` was read with `Acquire`.
        unsafe {
            std::ptr::copy_nonoverlapping(base.add(place), first.as_mut_ptr(), first.len());
            std::ptr::copy_nonoverlapping(base.add(HEADER), second.as_mut_ptr(), second.len());
        }
    }
}

impl JournalWriter {
    /// Bytes that the ring holds.
    pub fn capacity(&self) -> u64 {
        self.0.capacity
    }

    /// Bytes that are waiting for the reader.
    pub fn pending(&self) -> u64 {
        self.0.pending()
    }

    /// Copies a frame in and publishes it. When this returns, the frame outlives the process.
    pub fn push(&mut self, at: u64, payload: &[u8]) -> Result<(), Full> {
        let ring = &*self.0;
        let whole = (FRAME_HEADER + payload.len()) as u64;
        if ring.pending().saturating_add(whole) > ring.capacity {
            return Err(Full);
        }
        let head = ring.word(HEAD_AT).load(Ordering::Relaxed);
        let mut header = [0; FRAME_HEADER];
        header[..4].copy_from_slice(&(payload.len() as u32).to_le_bytes());
        header[4..8].copy_from_slice(&checksum(head, at, payload).to_le_bytes());
        header[8..].copy_from_slice(&at.to_le_bytes());
        ring.put(head, &header);
        ring.put(head + FRAME_HEADER as u64, payload);
        ring.word(HEAD_AT).store(head + whole, Ordering::Release);
        Ok(())
    }
}

impl JournalReader {
    /// Reads the next frame into `payload` and steps over it. The ring keeps it until `release`.
    pub fn next(&mut self, payload: &mut Vec<u8>) -> Next {
        let ring = &*self.ring;
        let waiting = ring.word(HEAD_AT).load(Ordering::Acquire).wrapping_sub(self.next);
        if waiting == 0 {
            return Next::Empty;
        }
        if waiting < FRAME_HEADER as u64 || waiting > ring.capacity {
            return Next::Damaged;
        }
        let mut header = [0; FRAME_HEADER];
        ring.take(self.next, &mut header);
        let [l0, l1, l2, l3, c0, c1, c2, c3, at @ ..] = header;
        let length = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
        let at = u64::from_le_bytes(at);
        if (FRAME_HEADER + length) as u64 > waiting {
            return Next::Damaged;
        }
        payload.resize(length, 0);
        ring.take(self.next + FRAME_HEADER as u64, payload);
        if checksum(self.next, at, payload) != u32::from_le_bytes([c0, c1, c2, c3]) {
            return Next::Damaged;
        }
        self.next += (FRAME_HEADER + length) as u64;
        Next::Frame { at }
    }

    /// The position after the last frame read.
    pub fn position(&self) -> u64 {
        self.next
    }

    /// The first position that is still kept.
    pub fn tail(&self) -> u64 {
        self.ring.word(TAIL_AT).load(Ordering::Relaxed)
    }

    /// Gives everything before `position`, which must have been read, back to the writer.
    pub fn release(&mut self, position: u64) {
        debug_assert!(position <= self.next && position >= self.tail());
        self.ring.word(TAIL_AT).store(position, Ordering::Release);
    }

    /// Goes back to the first frame that is still kept.
    pub fn rewind(&mut self) {
        self.next = self.tail();
    }

    /// Steps over everything that is there: what comes next cannot be read. Returns the bytes skipped.
    pub fn skip_all(&mut self) -> u64 {
        let head = self.ring.word(HEAD_AT).load(Ordering::Acquire);
        let skipped = head.wrapping_sub(self.next);
        self.next = head;
        skipped
    }

    /// Bytes that are kept.
    pub fn pending(&self) -> u64 {
        self.ring.pending()
    }

    /// Bytes that the ring holds.
    pub fn capacity(&self) -> u64 {
        self.ring.capacity
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file another name.
    pub fn rename(&mut self, to: PathBuf) -> io::Result<()> {
        std::fs::rename(&self.path, &to)?;
        self.path = to;
        Ok(())
    }

    /// Whether everything that is kept can be read.
    pub fn is_sound(&mut self) -> bool {
        let mut payload = Vec::new();
        while let Next::Frame { .. } = self.next(&mut payload) {}
        let is_sound = self.next(&mut payload) == Next::Empty;
        self.rewind();
        is_sound
    }

    /// Whether the file at the path is the one that is mapped. If not, what is put in will be gone with the process.
    pub fn is_in_place(&self) -> bool {
        let mapped = self.ring.file.metadata().map(|meta| (meta.dev(), meta.ino()));
        let named = std::fs::metadata(&self.path).map(|meta| (meta.dev(), meta.ino()));
        matches!((mapped, named), (Ok(mapped), Ok(named)) if mapped == named)
    }
}

fn checksum(position: u64, at: u64, payload: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&position.to_le_bytes());
    crc.update(&at.to_le_bytes());
    crc.update(payload);
    crc.finalize()
}
