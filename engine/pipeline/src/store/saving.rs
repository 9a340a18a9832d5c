//! Tables as compact bytes, for saved states: fixed-width little-endian numbers and texts with
//! their length in front. Reading takes any bytes and fails with a reason, never by a panic.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::borrow::Cow;
use temblor_lang::builtin::CallError;
use temblor_lang::value::{Arena, Value};

/// Writes a saved state.
#[derive(Debug, Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// An empty state with room for `capacity` bytes.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self(Vec::with_capacity(capacity))
    }

    /// Adds a number.
    pub fn number(&mut self, number: u64) -> &mut Self {
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    /// Adds a hash.
    pub fn hash(&mut self, hash: u128) -> &mut Self {
        self.0.extend_from_slice(&hash.to_le_bytes());
        self
    }

    /// The bytes as a value. Written as JSON they become base64 text.
    #[must_use]
    pub fn finish(self, arena: &Arena) -> Value<'_> {
        Value::Bytes(arena.bytes(&self.0))
    }
}

/// Reads a saved state.
#[derive(Debug)]
pub struct Reader<'s> {
    bytes: Cow<'s, [u8]>,
    at: usize,
}

impl<'s> Reader<'s> {
    /// Reads what [`Writer::finish`] gave, or its base64 text.
    ///
    /// # Errors
    /// When the value is neither.
    pub fn new(saved: Option<Value<'s>>) -> Result<Self, CallError> {
        let bytes = match saved {
            Some(Value::Bytes(bytes)) => Cow::Borrowed(bytes),
            Some(Value::Str(text)) => Cow::Owned(
                STANDARD.decode(text).map_err(|_| damaged("the table is not base64 text"))?,
            ),
            _ => return Err(damaged("the table is missing")),
        };
        Ok(Self { bytes, at: 0 })
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], CallError> {
        let part = self.bytes.get(self.at..self.at + N);
        let part = part.and_then(|part| part.try_into().ok());
        self.at += N;
        part.ok_or_else(|| damaged("the table ends too early"))
    }

    /// The next number.
    ///
    /// # Errors
    /// At the end.
    pub fn number(&mut self) -> Result<u64, CallError> {
        self.take().map(u64::from_le_bytes)
    }

    /// The next number, in the range of `T`.
    ///
    /// # Errors
    /// At the end, or when it is too large.
    pub fn small<T: TryFrom<u64>>(&mut self) -> Result<T, CallError> {
        T::try_from(self.number()?).map_err(|_| damaged("a number is too large"))
    }

    /// The next hash.
    ///
    /// # Errors
    /// At the end.
    pub fn hash(&mut self) -> Result<u128, CallError> {
        self.take().map(u128::from_le_bytes)
    }

    /// Whether everything has been read.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }
}

fn damaged(what: &str) -> CallError {
    CallError::failed(format!("the saved state is damaged: {what}"))
}
