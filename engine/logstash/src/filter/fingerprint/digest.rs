//! The methods: digests of SHA and MD5, with a key as HMAC (RFC 2104), MurmurHash3, network
//! addresses, punctuation.

use super::murmur::{murmur3_32, murmur3_128};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::Datum;

/// How a digest is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::filter) enum Method {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
    Md5,
    Murmur3,
    Murmur3Wide,
    Ipv4Network,
    Uuid,
    Punctuation,
}

impl Method {
    pub(in crate::filter) const NAMES: &[&str] = &[
        "SHA1",
        "SHA256",
        "SHA384",
        "SHA512",
        "MD5",
        "MURMUR3",
        "MURMUR3_128",
        "IPV4_NETWORK",
        "UUID",
        "PUNCTUATION",
    ];

    pub(in crate::filter) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "SHA1" => Method::Sha1,
            "SHA256" => Method::Sha256,
            "SHA384" => Method::Sha384,
            "SHA512" => Method::Sha512,
            "MD5" => Method::Md5,
            "MURMUR3" => Method::Murmur3,
            "MURMUR3_128" => Method::Murmur3Wide,
            "IPV4_NETWORK" => Method::Ipv4Network,
            "UUID" => Method::Uuid,
            "PUNCTUATION" => Method::Punctuation,
            _ => return None,
        })
    }

    /// The digest of `value`, whose text is `text`.
    pub(in crate::filter) fn digest<'a>(
        self,
        value: &Datum<'_>,
        text: &str,
        key: Option<&str>,
        base64: bool,
        arena: &'a Arena,
    ) -> Datum<'a> {
        let bytes = match self {
            Method::Murmur3 => {
                let hash = match value {
                    Datum::Int(number) => murmur3_32(&number.to_le_bytes()),
                    _ => murmur3_32(text.as_bytes()),
                };
                return Datum::Int(i64::from(hash));
            }
            Method::Ipv4Network => return network(text, key, arena),
            Method::Punctuation => {
                let kept = |c: &char| !c.is_alphanumeric() && !c.is_whitespace() && !c.is_control();
                return Datum::Str(arena.str(&text.chars().filter(kept).collect::<String>()));
            }
            Method::Uuid => return Datum::Null,
            Method::Murmur3Wide => match value {
                Datum::Int(number) => match i32::try_from(*number) {
                    Ok(small) => murmur3_128(&small.to_le_bytes()),
                    Err(_) => murmur3_128(&number.to_le_bytes()),
                },
                _ => murmur3_128(text.as_bytes()),
            }
            .to_vec(),
            Method::Sha1 => hash::<Sha1, Hmac<Sha1>>(text, key),
            Method::Sha256 => hash::<Sha256, Hmac<Sha256>>(text, key),
            Method::Sha384 => hash::<Sha384, Hmac<Sha384>>(text, key),
            Method::Sha512 => hash::<Sha512, Hmac<Sha512>>(text, key),
            Method::Md5 => hash::<Md5, Hmac<Md5>>(text, key),
        };
        let text = if base64 { STANDARD.encode(&bytes) } else { hexadecimal(&bytes) };
        Datum::Str(arena.str(&text))
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).expect("half a byte is a digit");
    let mut text = String::with_capacity(2 * bytes.len());
    text.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
    text
}

fn hash<D: Digest, M: Mac + hmac::digest::KeyInit>(text: &str, key: Option<&str>) -> Vec<u8> {
    let Some(key) = key else { return D::digest(text.as_bytes()).to_vec() };
    let mac = <M as Mac>::new_from_slice(key.as_bytes());
    let mut mac = mac.expect("HMAC takes keys of any length");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

/// The address with only the first bits of `key`.
fn network<'a>(text: &str, key: Option<&str>, arena: &'a Arena) -> Datum<'a> {
    let length = key.and_then(|key| key.parse::<u32>().ok()).filter(|length| *length <= 32);
    let (Some(length), Ok(address)) = (length, text.parse::<IpAddr>()) else { return Datum::Null };
    let network = match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - length).unwrap_or(0);
            IpAddr::from(Ipv4Addr::from(u32::from(address) & mask))
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - length).unwrap_or(0);
            IpAddr::from(Ipv6Addr::from(u128::from(address) & mask))
        }
    };
    Datum::Str(arena.str(&network.to_string()))
}
