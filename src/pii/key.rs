//! What one key says about its value, whatever it lies in. Pure: the same key always means the same; that is why it may be
//! remembered. It refuses to know the container ([`super::context`] combines).

use std::cell::RefCell;

use super::entity::EntitySet;
use super::lexicon::{self, Weight, Words};

/// What a key says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyMeaning {
    /// Its value is one of these.
    For(EntitySet),
    /// Its value is something else: a version, an order number.
    Against,
    /// Its value is a text, which may hold anything.
    Text,
    /// Nothing of its own (`number`, `value`): the container's word holds.
    Filler,
    /// Nothing.
    Silent,
}

/// Keys that a thread remembers. A power of two.
const SLOTS: usize = 512;
/// The longest key that is remembered, in bytes.
const LONGEST: usize = 23;

/// One remembered key. The key's length and bytes, padded with zeros, so that comparing is comparing arrays.
#[derive(Clone, Copy)]
struct Slot {
    key: [u8; LONGEST + 1],
    meaning: KeyMeaning,
}

thread_local! {
    // PERF: APIs use few keys and repeat them in every message; reading the lexicon for one costs 115 to 209 ns (measured on a
    // busy machine), comparing 24 bytes a fraction. Direct-mapped and bounded: 512 keys a thread.
    static REMEMBERED: RefCell<Box<[Option<Slot>]>> = RefCell::new(vec![None; SLOTS].into_boxed_slice());
}

impl KeyMeaning {
    /// What `key` says.
    pub(super) fn of(key: &str) -> Self {
        let Some(padded) = padded(key.as_bytes()) else { return Self::read(key) };
        REMEMBERED.with_borrow_mut(|slots| {
            let Some(slot) = slots.get_mut(slot_of(&padded)) else { return Self::read(key) };
            match slot {
                Some(known) if known.key == padded => known.meaning,
                _ => slot.insert(Slot { key: padded, meaning: Self::read(key) }).meaning,
            }
        })
    }

    /// The last word is the head of a name: `phone_version` is a version, `version_phone` a phone.
    fn read(key: &str) -> Self {
        let words = Words::of(key);
        let mut speaks_for = EntitySet::EMPTY;
        let (mut against, mut is_head, mut only_filler) = (false, true, true);
        let mut end = words.count();
        while end > 0 {
            let Some((meaning, first)) = words.phrase_before(end) else {
                (end, is_head, only_filler) = (end - 1, false, false);
                continue;
            };
            end = first;
            match meaning.weight {
                _ if !meaning.as_key.is_empty() => {
                    let named = if is_head { meaning.as_key } else { meaning.as_key.without(lexicon::whole()) };
                    speaks_for = speaks_for.union(named);
                }
                Weight::Filler => continue,
                Weight::Text if is_head => return Self::Text,
                Weight::Against | Weight::AgainstAsKey if is_head => return Self::Against,
                Weight::Against | Weight::AgainstAsKey => against = true,
                Weight::For | Weight::Text => {}
            }
            (is_head, only_filler) = (false, false);
        }
        match () {
            () if !speaks_for.is_empty() => Self::For(speaks_for),
            () if against => Self::Against,
            () if only_filler => Self::Filler,
            () => Self::Silent,
        }
    }
}

fn padded(key: &[u8]) -> Option<[u8; LONGEST + 1]> {
    let mut padded = [0; LONGEST + 1];
    padded.get_mut(..key.len()).filter(|_| key.len() <= LONGEST)?.copy_from_slice(key);
    padded[LONGEST] = key.len() as u8;
    Some(padded)
}

/// Mixes the three words of a padded key.
fn slot_of(padded: &[u8; LONGEST + 1]) -> usize {
    let (words, _) = padded.as_chunks::<8>();
    let mixed = words.iter().fold(0_u64, |mixed, word| {
        (mixed.rotate_left(23) ^ u64::from_le_bytes(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    });
    (mixed >> 32) as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembering_changes_nothing() {
        let keys: Vec<String> =
            ["phone", "phone_version", "number", "notes", "ssn", "", "a key that is too long to be remembered"]
                .into_iter()
                .map(str::to_owned)
                .chain((0..4 * SLOTS).map(|n| format!("{}{n}", ["ssn", "order_id", "k", "e-mail"][n % 4])))
                .collect();
        for _ in 0..2 {
            for key in &keys {
                assert_eq!(KeyMeaning::of(key), KeyMeaning::read(key), "{key}");
            }
        }
    }

    #[test]
    fn a_key_and_its_zero_padded_twin_differ() {
        assert_ne!(padded(b"ssn"), padded(b"ssn\0"));
    }
}
