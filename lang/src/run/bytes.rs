//! Bytes literals: parts of any number of bits, packed most significant bit first.

use super::{Eval, Run, failure};
use crate::error::EvalError;
use crate::program::{BytesKind, BytesPart};
use crate::value::Value;

/// Bits of a part without a size.
const DEFAULT_BITS: u32 = 8;

/// Whole bytes, and the bits that do not fill one yet.
#[derive(Default)]
struct Packer {
    bytes: Vec<u8>,
    /// The pending bits, right-aligned.
    pending: u8,
    /// How many they are, 0 to 7.
    pending_bits: u32,
}

impl Packer {
    fn push_bit(&mut self, bit: bool) {
        self.pending = (self.pending << 1) | u8::from(bit);
        self.pending_bits += 1;
        if self.pending_bits == u8::BITS {
            self.bytes.push(self.pending);
            (self.pending, self.pending_bits) = (0, 0);
        }
    }

    /// The low `bits` of `number`, most significant first.
    fn push(&mut self, number: u64, bits: u32) {
        for bit in (0..bits).rev() {
            self.push_bit(number >> bit & 1 == 1);
        }
    }

    fn finish(mut self) -> Vec<u8> {
        if self.pending_bits > 0 {
            self.bytes.push(self.pending);
        }
        self.bytes
    }
}

impl<'a> Run<'a, '_, '_> {
    pub(super) fn bytes(&mut self, parts: &'a [BytesPart]) -> Eval<'a> {
        let mut packer = Packer::default();
        for part in parts {
            let value = self.eval(&part.value)?;
            let length = value.shallow_steps();
            self.arena().step(length);
            if packer.bytes.len() + length > self.arena().bytes_left() {
                // What cannot be had is asked for, so that it is known what is used up.
                let _ = self.arena().charge(packer.bytes.len() + length);
            }
            self.afford(part.span)?;
            push_part(&mut packer, part, value)?;
        }
        Ok(Value::Bytes(self.arena().bytes(&packer.finish())))
    }
}

fn push_part(packer: &mut Packer, part: &BytesPart, value: Value<'_>) -> Result<(), EvalError> {
    let bits = part.size.unwrap_or(DEFAULT_BITS);
    match part.kind {
        BytesKind::Binary => return push_binary(packer, part, value),
        BytesKind::UnsignedBig => packer.push(unsigned(part, value)?, bits),
        BytesKind::SignedBig => packer.push(signed(part, value)?, bits),
        BytesKind::UnsignedLittle => push_little(packer, unsigned(part, value)?, bits),
        BytesKind::SignedLittle => push_little(packer, signed(part, value)?, bits),
    }
    Ok(())
}

fn unsigned(part: &BytesPart, value: Value<'_>) -> Result<u64, EvalError> {
    value.as_u64().ok_or_else(|| failure::not_an_integer(false, value, part.span))
}

fn signed(part: &BytesPart, value: Value<'_>) -> Result<u64, EvalError> {
    let number = value.as_i64().ok_or_else(|| failure::not_an_integer(true, value, part.span))?;
    Ok(number.cast_unsigned())
}

/// The bytes of the low `bits` of the number, rounded up to whole bytes, in reverse order; of these
/// the low `bits`.
fn push_little(packer: &mut Packer, number: u64, bits: u32) {
    let number = number & (u64::MAX >> (u64::BITS - bits));
    let unused = u64::BITS - bits.div_ceil(u8::BITS) * u8::BITS;
    packer.push((number << unused).swap_bytes(), bits);
}

fn push_binary(packer: &mut Packer, part: &BytesPart, value: Value<'_>) -> Result<(), EvalError> {
    let Some(bytes) = value.as_bytes() else {
        return Err(failure::conflicting_type(value.kind(), "bytes or string", part.span));
    };
    let taken = match part.size {
        None => bytes,
        Some(size) => bytes
            .get(..size as usize)
            .ok_or_else(|| failure::too_few_bytes(size, bytes.len(), part.span))?,
    };
    taken.iter().for_each(|byte| packer.push(u64::from(*byte), u8::BITS));
    Ok(())
}
