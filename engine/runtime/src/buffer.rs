//! Buffers for input blocks, and the pool they come from and return to.
//!
//! Invariant: a buffer goes back to its pool when it is dropped; one that grew for a long line does
//! not, so that one giant line does not cost memory for the rest of the run.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

use crate::limits::POOL_BUFFERS_MAX;

/// Keeps free buffers of one size.
pub struct Pool {
    /// What is free now, at most [`POOL_BUFFERS_MAX`].
    free: Mutex<Vec<Vec<u8>>>,
    /// The length of every buffer here.
    block_bytes: usize,
}

impl Pool {
    /// A pool of buffers of the given length.
    pub fn new(block_bytes: usize) -> Arc<Self> {
        Arc::new(Pool { free: Mutex::new(Vec::new()), block_bytes })
    }

    /// The length of a fresh buffer.
    pub fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// A buffer whose content is unspecified.
    pub fn take(self: &Arc<Self>) -> Buffer {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let bytes = free.unwrap_or_else(|| vec![0; self.block_bytes]);
        Buffer { bytes, pool: Some(Arc::clone(self)) }
    }

    fn give_back(&self, bytes: Vec<u8>) {
        if bytes.len() != self.block_bytes {
            return;
        }
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if free.len() < POOL_BUFFERS_MAX {
            free.push(bytes);
        }
    }
}

/// Bytes on loan from a [`Pool`]; all of its length can be written.
pub struct Buffer {
    bytes: Vec<u8>,
    /// Where the bytes go back to; none for bytes that no pool lent.
    pool: Option<Arc<Pool>>,
}

impl Buffer {
    /// Bytes that belong to no pool: a small message takes no more memory than it has bytes.
    #[must_use]
    pub fn of_bytes(bytes: Vec<u8>) -> Self {
        Buffer { bytes, pool: None }
    }

    /// Makes the buffer at least `length` bytes long; the content stays.
    pub fn grow(&mut self, length: usize) {
        if length > self.bytes.len() {
            self.bytes.resize(length, 0);
        }
    }
}

impl Deref for Buffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(pool) = &self.pool {
            pool.give_back(std::mem::take(&mut self.bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_buffer_is_used_again_but_a_grown_one_is_not() {
        let pool = Pool::new(8);
        let mut first = pool.take();
        first[0] = 7;
        drop(first);
        let mut second = pool.take();
        assert_eq!(second[0], 7);
        second.grow(100);
        drop(second);
        assert_eq!(pool.take().len(), 8);
    }
}
