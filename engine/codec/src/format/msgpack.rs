//! MessagePack (<https://github.com/msgpack/msgpack/blob/master/spec.md>). Keys of maps must be
//! strings; an extension is read as its bytes, a number is written in its shortest form.

use super::{Bytes, DEPTH_MAX};
use temblor_lang::value::{Arena, Value};

pub(super) fn decode<'a>(message: &'a [u8], arena: &'a Arena) -> Result<Value<'a>, String> {
    let mut bytes = Bytes { rest: message };
    let value = value(&mut bytes, arena, 0)?;
    bytes.end().map(|()| value)
}

/// A big-endian number of 1, 2, 4 or 8 bytes.
fn unsigned(bytes: &mut Bytes<'_>, width: usize) -> Result<u64, String> {
    Ok(bytes.take(width)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

fn signed(bytes: &mut Bytes<'_>, width: usize) -> Result<i64, String> {
    let unused = 64 - 8 * width as u32;
    Ok((unsigned(bytes, width)? << unused) as i64 >> unused)
}

fn value<'a>(bytes: &mut Bytes<'a>, arena: &'a Arena, depth: usize) -> Result<Value<'a>, String> {
    if depth > DEPTH_MAX {
        return Err(format!("nested more than {DEPTH_MAX} levels"));
    }
    let [tag] = bytes.array()?;
    // The width of a number or length is in the last bits of most tags.
    let width = |first: u8| 1usize << (tag - first);
    Ok(match tag {
        0x00..=0x7f => Value::UInt(u64::from(tag)),
        0xe0..=0xff => Value::Int(i64::from(tag as i8)),
        0x80..=0x8f => map(bytes, u64::from(tag & 0x0f), arena, depth)?,
        0x90..=0x9f => array(bytes, u64::from(tag & 0x0f), arena, depth)?,
        0xa0..=0xbf => Value::Str(bytes.text(usize::from(tag & 0x1f))?),
        0xc0 => Value::Null,
        0xc2 => Value::Bool(false),
        0xc3 => Value::Bool(true),
        0xc4..=0xc6 => {
            let count = unsigned(bytes, width(0xc4))?;
            Value::Bytes(bytes.take(bytes.count(count)?)?)
        }
        0xc7..=0xc9 => {
            let count = unsigned(bytes, width(0xc7))?;
            bytes.take(1)?;
            Value::Bytes(bytes.take(bytes.count(count)?)?)
        }
        0xca => Value::Float(f64::from(f32::from_be_bytes(bytes.array()?))),
        0xcb => Value::Float(f64::from_be_bytes(bytes.array()?)),
        0xcc..=0xcf => Value::UInt(unsigned(bytes, width(0xcc))?),
        0xd0..=0xd3 => Value::Int(signed(bytes, width(0xd0))?),
        0xd4..=0xd8 => {
            bytes.take(1)?;
            Value::Bytes(bytes.take(width(0xd4))?)
        }
        0xd9..=0xdb => {
            let count = unsigned(bytes, width(0xd9))?;
            Value::Str(bytes.text(bytes.count(count)?)?)
        }
        0xdc | 0xdd => {
            let count = unsigned(bytes, 2 * width(0xdc))?;
            array(bytes, count, arena, depth)?
        }
        0xde | 0xdf => {
            let count = unsigned(bytes, 2 * width(0xde))?;
            map(bytes, count, arena, depth)?
        }
        0xc1 => return Err("0xc1 is no type of MessagePack".to_string()),
    })
}

fn array<'a>(
    bytes: &mut Bytes<'a>,
    count: u64,
    arena: &'a Arena,
    depth: usize,
) -> Result<Value<'a>, String> {
    let count = bytes.count(count)?;
    let mut items = arena.array_builder(count);
    for _ in 0..count {
        items.push(value(bytes, arena, depth + 1)?);
    }
    Ok(items.finish())
}

fn map<'a>(
    bytes: &mut Bytes<'a>,
    count: u64,
    arena: &'a Arena,
    depth: usize,
) -> Result<Value<'a>, String> {
    let count = bytes.count(count)?;
    let mut record = arena.record_builder(count);
    for _ in 0..count {
        let key = value(bytes, arena, depth + 1)?;
        let key = key.as_str().ok_or("a key of a map is no string")?;
        record.insert(key, value(bytes, arena, depth + 1)?);
    }
    Ok(record.finish())
}

/// Tags of one kind, for lengths up to the mask, of 8, 16 and 32 bits.
struct Tags {
    /// Tag of short lengths and the longest of them.
    short: Option<(u8, usize)>,
    byte: Option<u8>,
    two: u8,
    four: u8,
}

const STRING: Tags = Tags { short: Some((0xa0, 31)), byte: Some(0xd9), two: 0xda, four: 0xdb };
const BINARY: Tags = Tags { short: None, byte: Some(0xc4), two: 0xc5, four: 0xc6 };
const ARRAY: Tags = Tags { short: Some((0x90, 15)), byte: None, two: 0xdc, four: 0xdd };
const MAP: Tags = Tags { short: Some((0x80, 15)), byte: None, two: 0xde, four: 0xdf };

fn push_head(tags: &Tags, length: usize, out: &mut Vec<u8>) -> Result<(), String> {
    match (tags.short, tags.byte, u8::try_from(length), u16::try_from(length)) {
        (Some((tag, most)), ..) if length <= most => out.push(tag | length as u8),
        (_, Some(tag), Ok(length), _) => out.extend_from_slice(&[tag, length]),
        (.., Ok(length)) => {
            out.push(tags.two);
            out.extend_from_slice(&length.to_be_bytes());
        }
        _ => {
            let length = u32::try_from(length)
                .map_err(|_| format!("{length} is longer than MessagePack allows"))?;
            out.push(tags.four);
            out.extend_from_slice(&length.to_be_bytes());
        }
    }
    Ok(())
}

pub(super) fn encode<'a>(
    value: Value<'a>,
    arena: &'a Arena,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    if let Some(record) = value.as_record(arena) {
        push_head(&MAP, record.len(), out)?;
        for (key, value) in record.iter() {
            push_head(&STRING, key.len(), out)?;
            out.extend_from_slice(key.as_bytes());
            encode(value, arena, out)?;
        }
    } else if let Some(items) = value.as_array(arena) {
        push_head(&ARRAY, items.len(), out)?;
        for item in items {
            encode(*item, arena, out)?;
        }
    } else if let Some(text) = value.as_str() {
        push_head(&STRING, text.len(), out)?;
        out.extend_from_slice(text.as_bytes());
    } else if let Value::Bytes(bytes) = value {
        push_head(&BINARY, bytes.len(), out)?;
        out.extend_from_slice(bytes);
    } else {
        push_plain(value, out);
    }
    Ok(())
}

fn push_plain(value: Value<'_>, out: &mut Vec<u8>) {
    match (value.as_bool(), value.as_u64(), value.as_i64(), value.as_f64()) {
        (Some(flag), ..) => out.push(0xc2 | u8::from(flag)),
        (_, Some(number), ..) => push_unsigned(number, out),
        (_, _, Some(number), _) => push_negative(number, out),
        (_, _, _, Some(number)) => {
            out.push(0xcb);
            out.extend_from_slice(&number.to_be_bytes());
        }
        _ => out.push(0xc0),
    }
}

fn push_unsigned(number: u64, out: &mut Vec<u8>) {
    match number {
        0..=0x7f => out.push(number as u8),
        0x80..=0xff => out.extend_from_slice(&[0xcc, number as u8]),
        0x100..=0xffff => {
            out.push(0xcd);
            out.extend_from_slice(&(number as u16).to_be_bytes());
        }
        0x1_0000..=0xffff_ffff => {
            out.push(0xce);
            out.extend_from_slice(&(number as u32).to_be_bytes());
        }
        _ => {
            out.push(0xcf);
            out.extend_from_slice(&number.to_be_bytes());
        }
    }
}

fn push_negative(number: i64, out: &mut Vec<u8>) {
    match number {
        -32.. => out.push(number as u8),
        -0x80.. => out.extend_from_slice(&[0xd0, number as u8]),
        -0x8000.. => {
            out.push(0xd1);
            out.extend_from_slice(&(number as i16).to_be_bytes());
        }
        -0x8000_0000.. => {
            out.push(0xd2);
            out.extend_from_slice(&(number as i32).to_be_bytes());
        }
        _ => {
            out.push(0xd3);
            out.extend_from_slice(&number.to_be_bytes());
        }
    }
}
