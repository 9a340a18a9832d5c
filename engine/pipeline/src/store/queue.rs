//! Kept events in order of arrival, with their bytes counted.

use super::Kept;
use std::collections::VecDeque;
use temblor_lang::builtin::CallError;
use temblor_lang::value::{Arena, Value};

/// A queue of kept events.
#[derive(Debug, Default)]
pub struct KeptQueue {
    events: VecDeque<Kept>,
    bytes: usize,
}

impl KeptQueue {
    /// Number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Bytes that the events take, near enough.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds an event at the end.
    pub fn push(&mut self, event: Kept) {
        self.bytes += event.bytes();
        self.events.push_back(event);
    }

    /// Takes the first event.
    pub fn pop(&mut self) -> Option<Kept> {
        let event = self.events.pop_front()?;
        self.bytes -= event.bytes();
        Some(event)
    }

    /// The first event.
    #[must_use]
    pub fn first(&self) -> Option<&Kept> {
        self.events.front()
    }

    /// The last event.
    #[must_use]
    pub fn last(&self) -> Option<&Kept> {
        self.events.back()
    }

    /// Takes all events.
    pub fn drain(&mut self) -> impl Iterator<Item = Kept> {
        self.bytes = 0;
        std::mem::take(&mut self.events).into_iter()
    }

    /// The events in order.
    pub fn iter(&self) -> impl Iterator<Item = &Kept> {
        self.events.iter()
    }

    /// As an array, for saving.
    #[must_use]
    pub fn save<'a>(&self, arena: &'a Arena) -> Value<'a> {
        arena.array(self.events.iter().map(|event| event.save(arena)))
    }

    /// What [`KeptQueue::save`] gave.
    ///
    /// # Errors
    /// When the value is not of that shape.
    pub fn restore(saved: Value<'_>) -> Result<Self, CallError> {
        let arena = Arena::new();
        let saved = saved.copy_into(&arena);
        let items = saved
            .as_array(&arena)
            .ok_or_else(|| CallError::failed("kept events must be an array"))?;
        let mut queue = Self::default();
        for item in items {
            queue.push(Kept::restore(*item)?);
        }
        Ok(queue)
    }
}
