//! `unpack`: what bytes stand for.

use super::super::Stop;
use crate::logstash::ruby::value::Value;

/// `unpack` of hexadecimal digits, bits and bytes.
pub(super) fn unpack(bytes: &[u8], format: &str) -> Result<Vec<Value>, Stop> {
    Ok(match format.chars().next() {
        Some('H') => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            vec![Value::text(&hex)]
        }
        Some('B') => {
            let bits: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
            vec![Value::text(&bits)]
        }
        Some('C' | 'c') => bytes.iter().map(|byte| Value::Int(i64::from(*byte))).collect(),
        Some('U') => {
            let text = String::from_utf8_lossy(bytes);
            text.chars().map(|c| Value::Int(i64::from(c as u32))).collect()
        }
        Some('N') => bytes
            .chunks_exact(4)
            .map(|four| {
                Value::Int(four.iter().fold(0, |number, byte| number << 8 | i64::from(*byte)))
            })
            .collect(),
        _ => return Err(Stop::raise("ArgumentError", "this format of unpack is not known")),
    })
}
