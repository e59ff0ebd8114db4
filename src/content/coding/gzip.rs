//! `gzip` (RFC 1952): members one after the other, each with a head, compressed data, and a checksum and length, both of which
//! are checked. What a head says beyond how long it is (names, times, comments) is nobody's: it does not get past us.

use crc32fast::Hasher;

use super::deflate::Inflate;
use super::{Codec, Moved};

const NOT_GZIP: &str = "not the gzip that it is said to be";
const CUT_OFF: &str = "gzip that breaks off";
const WRONG: &str = "gzip with a wrong checksum or length";
const BEHIND: &str = "bytes behind the end of gzip";

/// Flags of a head (section 2.3.1).
const HAS_HEAD_CHECKSUM: u8 = 2;
const HAS_EXTRA: u8 = 4;
const HAS_NAME: u8 = 8;
const HAS_COMMENT: u8 = 16;
const RESERVED: u8 = 0xe0;

/// Takes `gzip` off.
#[derive(Default)]
pub(super) struct Gzip {
    state: State,
    /// Whether a member has ended.
    has_member: bool,
    /// Of the head or the data at hand.
    checksum: Hasher,
    /// Of the data at hand, modulo 2^32.
    length: u32,
}

/// What comes next.
enum State {
    /// This byte of the ten that begin a head; the flags, once they have come.
    Head(usize, u8),
    /// What the flags announce, in its order.
    Optional(Option<Field>, u8),
    Data(Inflate),
    /// What has come of checksum and length.
    Tail([u8; 8], usize),
}

impl Default for State {
    fn default() -> Self {
        Self::Head(0, 0)
    }
}

/// An optional field of a head, under way.
#[derive(Clone, Copy)]
enum Field {
    /// The first byte of the length, if it has come.
    ExtraLength(Option<u8>),
    Extra(u16),
    /// Name or comment, up to a zero.
    Text,
    /// The first byte, if it has come.
    HeadChecksum(Option<u8>),
}

impl Codec for Gzip {
    fn run(&mut self, input: &[u8], room: &mut [u8]) -> Result<Moved, &'static str> {
        let mut moved = Moved::default();
        loop {
            let rest = input.get(moved.read..).unwrap_or_default();
            let room = room.get_mut(moved.written..).unwrap_or_default();
            if let State::Data(inflate) = &mut self.state {
                if rest.is_empty() && moved.read > 0 || room.is_empty() {
                    return Ok(moved);
                }
                let now = inflate.run(rest, room).ok_or(NOT_GZIP)?;
                let data = room.get(..now.written).unwrap_or_default();
                self.checksum.update(data);
                self.length = self.length.wrapping_add(data.len() as u32);
                (moved.read, moved.written) = (moved.read + now.read, moved.written + now.written);
                if inflate.has_ended {
                    self.state = State::Tail([0; 8], 0);
                } else if now == Moved::default() || rest.len() == now.read {
                    return Ok(moved);
                }
                continue;
            }
            let Some(&byte) = rest.first() else { return Ok(moved) };
            self.byte(byte)?;
            moved.read += 1;
        }
    }

    fn finish(&self) -> Result<(), &'static str> {
        if self.has_member && matches!(self.state, State::Head(0, _)) { Ok(()) } else { Err(CUT_OFF) }
    }
}

impl Gzip {
    /// The next byte, which is not of the data.
    fn byte(&mut self, byte: u8) -> Result<(), &'static str> {
        match &mut self.state {
            State::Head(at, flags) => {
                match *at {
                    0 if byte != 0x1f && self.has_member => return Err(BEHIND),
                    1 if byte != 0x8b && self.has_member => return Err(BEHIND),
                    0 if byte != 0x1f => return Err(NOT_GZIP),
                    1 if byte != 0x8b => return Err(NOT_GZIP),
                    2 if byte != 8 => return Err(NOT_GZIP),
                    3 if byte & RESERVED != 0 => return Err(NOT_GZIP),
                    3 => *flags = byte,
                    _ => {}
                }
                self.checksum.update(&[byte]);
                *at += 1;
                if *at == 10 {
                    self.state = State::Optional(None, *flags);
                    self.next_field();
                }
            }
            State::Optional(field, _) => {
                let is_over = match field {
                    Some(Field::ExtraLength(first @ None)) => {
                        *first = Some(byte);
                        false
                    }
                    Some(Field::ExtraLength(Some(first))) => {
                        let length = u16::from_le_bytes([*first, byte]);
                        *field = Some(Field::Extra(length));
                        length == 0
                    }
                    Some(Field::Extra(left)) => {
                        *left = left.saturating_sub(1);
                        *left == 0
                    }
                    Some(Field::Text) => byte == 0,
                    Some(Field::HeadChecksum(first @ None)) => {
                        *first = Some(byte);
                        return Ok(());
                    }
                    Some(Field::HeadChecksum(Some(first))) => {
                        let sum = u32::from(u16::from_le_bytes([*first, byte]));
                        if self.checksum.clone().finalize() & 0xffff != sum {
                            return Err(WRONG);
                        }
                        true
                    }
                    None => true,
                };
                self.checksum.update(&[byte]);
                if is_over {
                    self.next_field();
                }
            }
            State::Tail(tail, at) => {
                if let Some(place) = tail.get_mut(*at) {
                    *place = byte;
                }
                *at += 1;
                if *at == tail.len() {
                    let [a, b, c, d, rest @ ..] = *tail;
                    let checksum = std::mem::take(&mut self.checksum).finalize();
                    if u32::from_le_bytes([a, b, c, d]) != checksum || u32::from_le_bytes(rest) != self.length {
                        return Err(WRONG);
                    }
                    self.has_member = true;
                    self.state = State::default();
                }
            }
            State::Data(_) => {}
        }
        Ok(())
    }

    /// Goes on to the next field that the flags announce, or to the data.
    fn next_field(&mut self) {
        let State::Optional(field, flags) = &mut self.state else { return };
        // In this order, whatever the order of the flags (section 2.3).
        let fields = [
            (HAS_EXTRA, Field::ExtraLength(None)),
            (HAS_NAME, Field::Text),
            (HAS_COMMENT, Field::Text),
            (HAS_HEAD_CHECKSUM, Field::HeadChecksum(None)),
        ];
        if let Some((flag, next)) = fields.into_iter().find(|(flag, _)| *flags & flag != 0) {
            *flags &= !flag;
            *field = Some(next);
        } else {
            self.state = State::Data(Inflate::new(false));
            self.checksum = Hasher::new();
            self.length = 0;
        }
    }
}
