//! Networks and addresses (RFC 4632, RFC 4291): their text forms and the test whether an address
//! lies in one of many ranges. Ranges are merged and sorted, so a test is one binary search.

use super::FormatError;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use temblor_lang::value::{Arena, Value};

/// A network: an address whose host bits are zero, and the length of its prefix in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// The first address.
    pub address: IpAddr,
    /// Number of leading bits that all its addresses share.
    pub prefix_bits: u8,
}

impl Network {
    /// Reads `10.0.0.0/8`, `2001:db8::/32` or an address, which is a network of one. Trailing
    /// zero octets of IPv4 may be left out (`10/8`).
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let Some((address, bits)) = text.rsplit_once('/') else {
            let address = parse_address(text)?;
            return Some(Self { address, prefix_bits: bits_of(address) });
        };
        let network = Self { address: parse_address(address)?, prefix_bits: bits.parse().ok()? };
        network.has_zero_host_bits().then_some(network)
    }

    fn has_zero_host_bits(self) -> bool {
        if self.prefix_bits > bits_of(self.address) {
            return false;
        }
        match self.address {
            IpAddr::V4(address) => address.to_bits() & !mask_v4(self.prefix_bits) == 0,
            IpAddr::V6(address) => address.to_bits() & !mask_v6(self.prefix_bits) == 0,
        }
    }

    /// `{"prefix": [10, 0, 0, 0], "mask": [255, 0, 0, 0]}`; eight numbers of 16 bits for IPv6.
    #[must_use]
    pub fn to_value(self, arena: &Arena) -> Value<'_> {
        let (prefix, mask) = match self.address {
            IpAddr::V4(address) => {
                let mask = Ipv4Addr::from_bits(mask_v4(self.prefix_bits));
                (numbers(address.octets(), arena), numbers(mask.octets(), arena))
            }
            IpAddr::V6(address) => {
                let mask = Ipv6Addr::from_bits(mask_v6(self.prefix_bits));
                (numbers(address.segments(), arena), numbers(mask.segments(), arena))
            }
        };
        let mut record = arena.record_builder(2);
        record.append("prefix", prefix);
        record.append("mask", mask);
        record.finish()
    }
}

fn numbers<const N: usize, T: Into<u64>>(parts: [T; N], arena: &Arena) -> Value<'_> {
    arena.array(parts.into_iter().map(|part| Value::UInt(part.into())))
}

fn bits_of(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn mask_v4(bits: u8) -> u32 {
    u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0)
}

fn mask_v6(bits: u8) -> u128 {
    u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0)
}

/// An address, where IPv4 may lack trailing octets and have leading zeros.
fn parse_address(text: &str) -> Option<IpAddr> {
    text.parse().ok().or_else(|| {
        let mut octets = [0_u8; 4];
        for (at, part) in text.split('.').enumerate() {
            *octets.get_mut(at)? = part.parse().ok()?;
        }
        Some(IpAddr::from(octets))
    })
}

/// A set of IPv4 ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ipv4Ranges {
    /// First and last address of each range, sorted, without overlap.
    ranges: Box<[(u32, u32)]>,
}

impl Ipv4Ranges {
    /// Reads ranges separated by commas.
    ///
    /// # Errors
    /// A sentence that names the range that cannot be read.
    pub(crate) fn compile(list: &str) -> Result<Self, String> {
        let mut ranges = Vec::new();
        for text in list.split(',').map(str::trim) {
            ranges.push(parse_range(text).ok_or_else(|| range_error(text))?);
        }
        Ok(Self { ranges: merge(ranges) })
    }

    /// Whether `address` is in one of the ranges.
    #[must_use]
    pub(crate) fn contains(&self, address: Ipv4Addr) -> bool {
        let bits = address.to_bits();
        let after = self.ranges.partition_point(|(first, _)| *first <= bits);
        after > 0 && bits <= self.ranges[after - 1].1
    }

    /// First and last address of each range in ascending order.
    #[must_use]
    pub(crate) fn as_slice(&self) -> &[(u32, u32)] {
        &self.ranges
    }
}

fn range_error(text: &str) -> String {
    match Network::parse(text) {
        Some(Network { address: IpAddr::V6(_), .. }) => {
            format!("'{text}' is an IPv6 range; only IPv4 ranges can be listed")
        }
        _ => format!(
            "'{text}' is no IPv4 range; write it like 10.0.0.0/8, with zeros after the prefix"
        ),
    }
}

/// Joins ranges that touch or overlap.
fn merge(mut ranges: Vec<(u32, u32)>) -> Box<[(u32, u32)]> {
    ranges.sort_unstable();
    let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
    for (first, last) in ranges {
        match merged.last_mut() {
            Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
            _ => merged.push((first, last)),
        }
    }
    merged.into()
}

/// First and last address of `a.b.c.d/bits`. Fewer octets than four keep the last one last, as in
/// classic network tools: `10.1` is `10.0.0.1`; an octet may be empty, which is zero.
fn parse_range(text: &str) -> Option<(u32, u32)> {
    let (address, bits) = match text.split_once('/') {
        Some((address, bits)) => (address, parse_prefix_bits(bits)?),
        None if text.ends_with('.') => return None,
        None => (text, 32),
    };
    let parts = address.split('.').map(parse_octet).collect::<Option<Vec<u8>>>()?;
    let (last, leading) = parts.split_last()?;
    let mut octets = [0; 4];
    octets.get_mut(..leading.len()).filter(|_| leading.len() < 4)?.copy_from_slice(leading);
    octets[3] = *last;
    let first = u32::from_be_bytes(octets);
    let mask = mask_v4(bits);
    (first & !mask == 0).then_some((first, first | !mask))
}

fn parse_octet(text: &str) -> Option<u8> {
    if text.is_empty() {
        return Some(0);
    }
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// One or two digits; whatever follows the second is not looked at.
fn parse_prefix_bits(text: &str) -> Option<u8> {
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| byte - b'0');
    let bits = match text.as_bytes() {
        [] => return None,
        [one] => digit(one)?,
        [ten, one, ..] => digit(ten)? * 10 + digit(one)?,
    };
    (bits <= 32).then_some(bits)
}

/// The network or address in `text` as a record, see [`Network::to_value`].
///
/// # Errors
/// When it is neither.
pub fn parse<'a>(text: &str, arena: &'a Arena) -> Result<Value<'a>, FormatError> {
    Network::parse(text)
        .map(|network| network.to_value(arena))
        .ok_or_else(|| FormatError::new(text, 0, "an IP address or network"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_lang::value::to_json;

    #[test]
    fn reads_networks() {
        let v4 = r#"{"prefix":[10,1,2,3],"mask":[255,255,255,255]}"#;
        let cases: &[(&str, Option<&str>)] = &[
            ("10.1.2.3", Some(v4)),
            ("010.1.2.3", Some(v4)),
            ("10.1.2.3/24", None),
            ("10.1.2.0/24", Some(r#"{"prefix":[10,1,2,0],"mask":[255,255,255,0]}"#)),
            ("10/8", Some(r#"{"prefix":[10,0,0,0],"mask":[255,0,0,0]}"#)),
            ("0.0.0.0/0", Some(r#"{"prefix":[0,0,0,0],"mask":[0,0,0,0]}"#)),
            ("10.0.0.0/33", None),
            ("10.0.0.0/", None),
            ("256.0.0.1", None),
            ("1.2.3.4.5", None),
            ("", None),
            (" 10.0.0.1", None),
            (
                "2001:db8::/32",
                Some(r#"{"prefix":[8193,3512,0,0,0,0,0,0],"mask":[65535,65535,0,0,0,0,0,0]}"#),
            ),
            ("2001:db8::1/32", None),
            ("::/0", Some(r#"{"prefix":[0,0,0,0,0,0,0,0],"mask":[0,0,0,0,0,0,0,0]}"#)),
        ];
        let arena = Arena::new();
        for (text, expected) in cases {
            let found = parse(text, &arena).ok().map(to_json);
            assert_eq!(found.as_deref(), *expected, "{text}");
        }
    }

    #[test]
    fn tests_ranges() {
        let ranges = Ipv4Ranges::compile("10.0.0.0/8, 192.168.0.0/16,1.2.3.4").expect("good");
        for (text, expected) in [
            ("10.0.0.0", true),
            ("10.255.255.255", true),
            ("11.0.0.0", false),
            ("9.255.255.255", false),
            ("192.168.3.4", true),
            ("1.2.3.4", true),
            ("1.2.3.5", false),
        ] {
            assert_eq!(ranges.contains(text.parse().expect("an address")), expected, "{text}");
        }
        assert_eq!(
            Ipv4Ranges::compile("0.0.0.0/1,128.0.0.0/1").expect("good").as_slice(),
            &[(0, u32::MAX)]
        );
    }

    #[test]
    fn refuses_bad_ranges() {
        for (list, reason) in [
            ("10.0.0.1/8", "no IPv4 range"),
            ("10/8", "no IPv4 range"),
            ("10.0.0.0/33", "no IPv4 range"),
            ("1.", "no IPv4 range"),
            ("256.1.1.1", "no IPv4 range"),
            ("1.2.3.4.5", "no IPv4 range"),
            ("2001:db8::/32", "IPv6"),
            ("::1", "IPv6"),
        ] {
            let error = Ipv4Ranges::compile(list).expect_err(list);
            assert!(error.contains(reason), "{list}: {error}");
        }
    }

    #[test]
    fn short_ranges_are_read_as_ever() {
        for (list, first, last) in [
            ("10", 10, 10),
            ("10.1", 0x0a00_0001, 0x0a00_0001),
            ("1..2.3", 0x0100_0203, 0x0100_0203),
            ("10.0.0.0/245", 0x0a00_0000, 0x0a00_00ff),
            ("/8", 0, 0x00ff_ffff),
            ("1../24.", 0x0100_0000, 0x0100_00ff),
        ] {
            let ranges = Ipv4Ranges::compile(list).expect(list);
            assert_eq!(ranges.as_slice(), &[(first, last)], "{list}");
        }
    }
}
