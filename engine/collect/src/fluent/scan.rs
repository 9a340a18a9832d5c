//! Finds the end of a MessagePack value in a stream without reading it.
//!
//! Invariant: each byte is looked at once, however the value arrives, and no deeper than [`NESTING_MAX`].

/// How deep arrays and maps may nest.
pub(crate) const NESTING_MAX: usize = 128;

/// The place of a scan within one value.
#[derive(Clone, Debug)]
pub(crate) struct Scan {
    /// Where the next element begins.
    at: usize,
    /// For each array or map that is open, how many elements are still to come.
    open: Vec<u64>,
}

impl Default for Scan {
    fn default() -> Self {
        Self { at: 0, open: vec![1] }
    }
}

/// An element: how long it is, and how many further elements belong to it.
struct Element {
    length: usize,
    children: u64,
}

impl Scan {
    /// Goes on in `bytes`, which begin with the value: where the value ends, or `None` when more bytes are
    /// needed.
    ///
    /// # Errors
    /// A sentence: this is no MessagePack, too deep, or longer than `bytes_max`.
    pub(super) fn end(&mut self, bytes: &[u8], bytes_max: usize) -> Result<Option<usize>, String> {
        loop {
            while self.open.last() == Some(&0) {
                self.open.pop();
            }
            let Some(left) = self.open.last_mut() else { return Ok(Some(self.at)) };
            let Some(element) = element(bytes, self.at)? else { return Ok(None) };
            let end = self.at.saturating_add(element.length);
            if end > bytes_max {
                return Err(format!("a message is longer than {bytes_max} bytes"));
            }
            if end > bytes.len() {
                return Ok(None);
            }
            *left -= 1;
            self.at = end;
            if element.children > 0 {
                if self.open.len() > NESTING_MAX {
                    return Err(format!("a message nests deeper than {NESTING_MAX}"));
                }
                self.open.push(element.children);
            }
        }
    }
}

/// The element at a place; `None` when its head is not whole.
fn element(bytes: &[u8], at: usize) -> Result<Option<Element>, String> {
    let Some(&marker) = bytes.get(at) else { return Ok(None) };
    let number = |width: usize| {
        let found = bytes.get(at + 1..at + 1 + width)?;
        Some(found.iter().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte)))
    };
    let plain = |length: usize| Some(Element { length, children: 0 });
    // A head of `width` bytes that says how many bytes follow, and `more` bytes besides.
    let sized = |width: usize, more: usize| {
        let length = usize::try_from(number(width)?).ok()?;
        plain(length.saturating_add(1 + width + more))
    };
    let nested = |width: usize, each: u64| {
        Some(Element { length: 1 + width, children: number(width)? * each })
    };
    let short = u64::from(marker & 0x0f);
    Ok(match marker {
        0x00..=0x7f | 0xc0 | 0xc2 | 0xc3 | 0xe0..=0xff => plain(1),
        0x80..=0x8f => Some(Element { length: 1, children: short * 2 }),
        0x90..=0x9f => Some(Element { length: 1, children: short }),
        0xa0..=0xbf => plain(1 + usize::from(marker & 0x1f)),
        0xc1 => return Err("the byte 0xc1 is no MessagePack".to_string()),
        0xc4 | 0xd9 => sized(1, 0),
        0xc5 | 0xda => sized(2, 0),
        0xc6 | 0xdb => sized(4, 0),
        0xc7 => sized(1, 1),
        0xc8 => sized(2, 1),
        0xc9 => sized(4, 1),
        0xcc | 0xd0 => plain(2),
        0xcd | 0xd1 => plain(3),
        0xca | 0xce | 0xd2 => plain(5),
        0xcb | 0xcf | 0xd3 => plain(9),
        0xd4..=0xd8 => plain(2 + (1 << (marker - 0xd4))),
        0xdc => nested(2, 1),
        0xdd => nested(4, 1),
        0xde => nested(2, 2),
        0xdf => nested(4, 2),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmpv::Value;

    fn encoded(value: &Value) -> Vec<u8> {
        let mut bytes = Vec::new();
        rmpv::encode::write_value(&mut bytes, value).unwrap();
        bytes
    }

    fn samples() -> Vec<Value> {
        let long = "x".repeat(70_000);
        let many: Vec<Value> = (0..70_000_i64).map(|one| Value::from(one * 70_001 - 5)).collect();
        let map: Vec<(Value, Value)> =
            (0..20).map(|one| (Value::from(one), Value::from(f64::from(one)))).collect();
        vec![
            Value::Nil,
            Value::from(true),
            Value::from(-1),
            Value::F32(1.5),
            Value::from("short"),
            Value::from("x".repeat(40)),
            Value::from("x".repeat(300)),
            Value::from(long),
            Value::Binary(vec![7; 10]),
            Value::Binary(vec![7; 300]),
            Value::Ext(0, vec![1; 8]),
            Value::Ext(5, vec![1; 3]),
            Value::Ext(5, vec![1; 300]),
            Value::Array(Vec::new()),
            Value::Map(map),
            Value::Array(vec![Value::Array(many), Value::Map(Vec::new())]),
        ]
    }

    #[test]
    fn the_end_of_every_kind_of_value_is_found_at_its_last_byte() {
        for value in samples() {
            let mut bytes = encoded(&value);
            let length = bytes.len();
            let mut scan = Scan::default();
            for cut in (0..length).step_by(length.div_ceil(40)) {
                assert_eq!(scan.end(&bytes[..cut], 1 << 20), Ok(None), "{cut} of {length}");
            }
            bytes.extend_from_slice(b"more");
            assert_eq!(scan.end(&bytes, 1 << 20), Ok(Some(length)));
        }
    }

    #[test]
    fn what_is_too_deep_too_long_or_nothing_at_all_is_told() {
        let end = |bytes: &[u8]| Scan::default().end(bytes, 1000);
        assert_eq!(end(&[0x91; NESTING_MAX]), Ok(None));
        assert!(end(&[0x91; NESTING_MAX + 1]).unwrap_err().contains("nests deeper than 128"));
        assert!(end(b"\xdb\xff\xff\xff\xff").unwrap_err().contains("longer than 1000 bytes"));
        assert!(end(b"\xc1").unwrap_err().contains("0xc1"));
    }
}
