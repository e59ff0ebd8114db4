//! The memory in which bodies may be held, for all exchanges together. It promises that what is held never comes to more than
//! the operator allows; what is held, and why, it refuses to know.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// So much of each body is not counted: most bodies are smaller, and cost nothing but this comparison.
pub const FREE: usize = 64 << 10;

/// All of it.
#[derive(Debug)]
pub struct Memory {
    used: AtomicUsize,
    limit: usize,
}

/// There is no room at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRoom;

impl Memory {
    /// So many bytes.
    pub const fn new(limit: usize) -> Self {
        Self { used: AtomicUsize::new(0), limit }
    }

    /// Bytes in use.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Bytes that there are.
    pub const fn limit(&self) -> usize {
        self.limit
    }
}

/// What one body has of it. Given back when dropped.
#[derive(Debug)]
pub struct Held {
    memory: Arc<Memory>,
    bytes: usize,
}

impl Held {
    /// Nothing yet.
    pub const fn nothing(memory: Arc<Memory>) -> Self {
        Self { memory, bytes: 0 }
    }

    /// Whether none of it is taken.
    pub const fn is_nothing(&self) -> bool {
        self.bytes == 0
    }

    /// From now on it is a body of which `bytes` are held: more than before, or less. They count twice, as they came and as
    /// they will leave.
    pub fn set(&mut self, bytes: usize) -> Result<(), NoRoom> {
        let bytes = bytes.saturating_sub(FREE).saturating_mul(2);
        if let Some(more) = bytes.checked_sub(self.bytes) {
            if more > 0 {
                let before = self.memory.used.fetch_add(more, Ordering::Relaxed);
                if before.saturating_add(more) > self.memory.limit {
                    self.memory.used.fetch_sub(more, Ordering::Relaxed);
                    return Err(NoRoom);
                }
            }
        } else {
            self.memory.used.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
        }
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.memory.used.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_counted_and_given_back() {
        let memory = Arc::new(Memory::new(1000));
        let mut one = Held::nothing(Arc::clone(&memory));
        let mut two = Held::nothing(Arc::clone(&memory));
        assert_eq!((one.set(FREE), memory.used()), (Ok(()), 0));
        assert_eq!((one.set(FREE + 300), memory.used()), (Ok(()), 600));
        assert_eq!((two.set(FREE + 201), memory.used()), (Err(NoRoom), 600));
        assert_eq!((two.set(FREE + 200), memory.used()), (Ok(()), 1000));
        assert_eq!((one.set(10), memory.used()), (Ok(()), 400));
        assert_eq!((one.set(usize::MAX), memory.used()), (Err(NoRoom), 400));
        drop(two);
        assert_eq!((one.set(FREE + 500), memory.used()), (Ok(()), 1000));
        drop(one);
        assert_eq!(memory.used(), 0);
    }
}
