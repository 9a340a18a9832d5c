//! The `tremor` codec: a version (16 bits, 0), then a value: a tag byte and its content. All numbers
//! are in network order, lengths have 64 bits.

use super::{Bytes, DEPTH_MAX};
use temblor_lang::value::{Arena, Value};

const VERSION: [u8; 2] = [0, 0];
const NULL: u8 = 0;
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const INT: u8 = 3;
const UINT: u8 = 4;
const FLOAT: u8 = 5;
const STRING: u8 = 6;
const BYTES: u8 = 7;
const ARRAY: u8 = 8;
const RECORD: u8 = 9;

pub(super) fn decode<'a>(message: &'a [u8], arena: &'a Arena) -> Result<Value<'a>, String> {
    let mut bytes = Bytes { rest: message };
    let version = bytes.array::<2>()?;
    if version != VERSION {
        let version = u16::from_be_bytes(version);
        return Err(format!("version {version} of the tremor format is not known"));
    }
    let value = value(&mut bytes, arena, 0)?;
    bytes.end().map(|()| value)
}

fn length(bytes: &mut Bytes<'_>) -> Result<usize, String> {
    let length = u64::from_be_bytes(bytes.array()?);
    bytes.count(length)
}

fn value<'a>(bytes: &mut Bytes<'a>, arena: &'a Arena, depth: usize) -> Result<Value<'a>, String> {
    if depth > DEPTH_MAX {
        return Err(format!("nested more than {DEPTH_MAX} levels"));
    }
    let [tag] = bytes.array()?;
    Ok(match tag {
        NULL => Value::Null,
        TRUE => Value::Bool(true),
        FALSE => Value::Bool(false),
        INT => Value::Int(i64::from_be_bytes(bytes.array()?)),
        UINT => Value::UInt(u64::from_be_bytes(bytes.array()?)),
        FLOAT => Value::Float(f64::from_be_bytes(bytes.array()?)),
        STRING => {
            let length = length(bytes)?;
            Value::Str(bytes.text(length)?)
        }
        BYTES => {
            let length = length(bytes)?;
            Value::Bytes(bytes.take(length)?)
        }
        ARRAY => {
            let count = length(bytes)?;
            let mut items = arena.array_builder(count);
            for _ in 0..count {
                items.push(value(bytes, arena, depth + 1)?);
            }
            items.finish()
        }
        RECORD => {
            let count = length(bytes)?;
            let mut record = arena.record_builder(count);
            for _ in 0..count {
                let length = length(bytes)?;
                let key = bytes.text(length)?;
                record.insert(key, value(bytes, arena, depth + 1)?);
            }
            record.finish()
        }
        tag => return Err(format!("{tag} is no tag of a value")),
    })
}

pub(super) fn encode<'a>(value: Value<'a>, arena: &'a Arena, out: &mut Vec<u8>) {
    out.extend_from_slice(&VERSION);
    push(value, arena, out);
}

fn push_length(length: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&(length as u64).to_be_bytes());
}

fn push<'a>(value: Value<'a>, arena: &'a Arena, out: &mut Vec<u8>) {
    if let Some(record) = value.as_record(arena) {
        out.push(RECORD);
        push_length(record.len(), out);
        for (key, value) in record.iter() {
            push_length(key.len(), out);
            out.extend_from_slice(key.as_bytes());
            push(value, arena, out);
        }
    } else if let Some(items) = value.as_array(arena) {
        out.push(ARRAY);
        push_length(items.len(), out);
        items.iter().for_each(|item| push(*item, arena, out));
    } else if let Some(text) = value.as_str() {
        out.push(STRING);
        push_length(text.len(), out);
        out.extend_from_slice(text.as_bytes());
    } else if let Value::Bytes(bytes) = value {
        out.push(BYTES);
        push_length(bytes.len(), out);
        out.extend_from_slice(bytes);
    } else {
        push_plain(value, out);
    }
}

fn push_plain(value: Value<'_>, out: &mut Vec<u8>) {
    match (value.as_bool(), value.as_u64(), value.as_i64(), value.as_f64()) {
        (Some(flag), ..) => out.push(if flag { TRUE } else { FALSE }),
        (_, Some(number), ..) => {
            out.push(UINT);
            out.extend_from_slice(&number.to_be_bytes());
        }
        (_, _, Some(number), _) => {
            out.push(INT);
            out.extend_from_slice(&number.to_be_bytes());
        }
        (_, _, _, Some(number)) => {
            out.push(FLOAT);
            out.extend_from_slice(&number.to_be_bytes());
        }
        _ => out.push(NULL),
    }
}
