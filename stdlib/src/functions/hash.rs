//! `std::hash` and `std::mask`: digests and the hiding of what must not be stored. Digests are
//! lower-case hexadecimal text.

use super::binary::hexadecimal;
use super::re::{regex, substituted};
use crate::declare::{
    Outcome, Params, count, finish, octets, optional, pure, text, text_in, text_or, unsigned, value,
};
use hmac::{Hmac, Mac};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};
use temblor_lang::builtin::{Call, CallError, Function};
use temblor_lang::value::Kind::{Any, Integer, String};
use temblor_lang::value::{Kind, Value, hash128};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

const DATA: Params = &[("data", Kind::Any)];
const KEYED: Params = &[("key", Kind::Any), ("data", Kind::Any)];

/// The functions of these modules.
pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "std::hash::sha256",
        DATA,
        String,
        "The SHA-256 (FIPS 180-4) of a text or of bytes.",
        &[
            r#"hash::sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad""#,
        ],
        |call, arguments| Ok(hexadecimal(call, &Sha256::digest(octets(arguments, 0)?))),
    ),
    pure(
        "std::hash::sha512",
        DATA,
        String,
        "The SHA-512 (FIPS 180-4) of a text or of bytes.",
        &[r#"string::substr(hash::sha512("abc"), 0, 16) == "ddaf35a193617aba""#],
        |call, arguments| Ok(hexadecimal(call, &Sha512::digest(octets(arguments, 0)?))),
    ),
    pure(
        "std::hash::sha1",
        DATA,
        String,
        "The SHA-1 (FIPS 180-4) of a text or of bytes; for old systems, not for security.",
        &[r#"hash::sha1("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d""#],
        |call, arguments| Ok(hexadecimal(call, &Sha1::digest(octets(arguments, 0)?))),
    ),
    pure(
        "std::hash::md5",
        DATA,
        String,
        "The MD5 (RFC 1321) of a text or of bytes; for old systems, not for security.",
        &[r#"hash::md5("abc") == "900150983cd24fb0d6963f7d28e17f72""#],
        |call, arguments| Ok(hexadecimal(call, &Md5::digest(octets(arguments, 0)?))),
    ),
    pure(
        "std::hash::hmac_sha256",
        KEYED,
        String,
        "The HMAC (RFC 2104) of the data with SHA-256.",
        &[
            r#"hash::hmac_sha256("key", "The quick brown fox jumps over the lazy dog") == "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8""#,
        ],
        |call, arguments| {
            let mac = Hmac::<Sha256>::new_from_slice(octets(arguments, 0)?)
                .expect("HMAC takes keys of any length");
            let tag = mac.chain_update(octets(arguments, 1)?).finalize().into_bytes();
            Ok(hexadecimal(call, &tag))
        },
    ),
    pure(
        "std::hash::hmac_sha1",
        KEYED,
        String,
        "The HMAC (RFC 2104) of the data with SHA-1.",
        &[
            r#"hash::hmac_sha1("key", "The quick brown fox jumps over the lazy dog") == "de7c9b85b8b78aa6bc8a7a36f70a90701c9db4d9""#,
        ],
        |call, arguments| {
            let mac = Hmac::<Sha1>::new_from_slice(octets(arguments, 0)?)
                .expect("HMAC takes keys of any length");
            let tag = mac.chain_update(octets(arguments, 1)?).finalize().into_bytes();
            Ok(hexadecimal(call, &tag))
        },
    ),
    pure(
        "std::hash::xxh3",
        DATA,
        String,
        "The XXH3 of 64 bits of a text or of bytes: fast, not for security.",
        &[r#"hash::xxh3("") == "2d06800538d394c2""#],
        |call, arguments| Ok(hexadecimal(call, &xxh3_64(octets(arguments, 0)?).to_be_bytes())),
    ),
    pure(
        "std::hash::xxh3_128",
        DATA,
        String,
        "The XXH3 of 128 bits of a text or of bytes: fast, not for security.",
        &[r#"hash::xxh3_128("") == "99aa06d3014798d86001c324468d497f""#],
        |call, arguments| Ok(hexadecimal(call, &xxh3_128(octets(arguments, 0)?).to_be_bytes())),
    ),
    optional(
        1,
        pure(
            "std::hash::murmur3",
            &[("data", Any), ("seed", Integer)],
            Integer,
            "The MurmurHash3 of 32 bits of a text or of bytes, as an integer. The seed is 0 when \
             left out.",
            &[r#"hash::murmur3("hello") == 613153351"#, r#"hash::murmur3("", 1) == 1364076727"#],
            |_, arguments| {
                let seed = if arguments.len() > 1 { unsigned(arguments, 1)? } else { 0 };
                let seed = u32::try_from(seed)
                    .map_err(|_| CallError::failed("the seed must fit 32 bits"))?;
                Ok(Value::UInt(u64::from(murmur3(octets(arguments, 0)?, seed))))
            },
        ),
    ),
    pure(
        "std::hash::crc32",
        DATA,
        Integer,
        "The CRC-32 (ISO 3309, as in gzip) of a text or of bytes, as an integer.",
        &[r#"hash::crc32("123456789") == 3421780262"#],
        |_, arguments| Ok(Value::UInt(u64::from(crc32(octets(arguments, 0)?)))),
    ),
    pure(
        "std::hash::value",
        &[("value", Any)],
        String,
        "A digest of 128 bits of any value: equal values have equal digests, whatever the order \
         of fields. The same on every machine; not for security.",
        &[r#"hash::value({"a": 1, "b": 2}) == hash::value({"b": 2, "a": 1})"#],
        |call, arguments| Ok(hexadecimal(call, &hash128(value(arguments, 0)).to_be_bytes())),
    ),
    optional(
        1,
        pure(
            "std::mask::keep_last",
            &[("text", String), ("count", Integer), ("cover", String)],
            String,
            "The text with all but its last `count` characters covered, by `*` unless said \
             otherwise. A text that is not longer than that is covered whole.",
            &[
                r#"mask::keep_last("4111111111111111", 4) == "************1111""#,
                r#"mask::keep_last("123", 4) == "***""#,
            ],
            |call, arguments| covered(call, arguments, |at, length, kept| at + kept >= length),
        ),
    ),
    optional(
        1,
        pure(
            "std::mask::keep_first",
            &[("text", String), ("count", Integer), ("cover", String)],
            String,
            "The text with all but its first `count` characters covered, by `*` unless said \
             otherwise. A text that is not longer than that is covered whole.",
            &[r#"mask::keep_first("secret", 2, "x") == "sexxxx""#],
            |call, arguments| covered(call, arguments, |at, _, kept| at < kept),
        ),
    ),
    optional(
        1,
        pure(
            "std::mask::redact",
            &[("text", String), ("pattern", String), ("cover", String)],
            String,
            "The text with every match of the regular expression replaced by `[REDACTED]` or \
             what is given.",
            &[
                r#"mask::redact("id 4711 ok", "[0-9]+") == "id [REDACTED] ok""#,
                r#"mask::redact("a@b.c d", "[^ ]+@[^ ]+", "<mail>") == "<mail> d""#,
            ],
            |call, arguments| {
                let pattern = regex(text(arguments, 1)?)?;
                let cover = text_or(arguments, 2, "[REDACTED]")?;
                Ok(substituted(call, &pattern, text(arguments, 0)?, cover, 0))
            },
        ),
    ),
    pure(
        "std::mask::pseudonym",
        &[("text", String), ("key", String)],
        String,
        "A stable stand-in for the text: the first 16 digits of its HMAC with SHA-256. Who has \
         not the key can neither undo nor guess it.",
        &[
            r#"mask::pseudonym("anna", "k") == mask::pseudonym("anna", "k")"#,
            r#"string::len(mask::pseudonym("anna", "k")) == 16"#,
        ],
        |call, arguments| {
            let mac = Hmac::<Sha256>::new_from_slice(text(arguments, 1)?.as_bytes())
                .expect("HMAC takes keys of any length");
            let tag = mac.chain_update(text(arguments, 0)?).finalize().into_bytes();
            Ok(hexadecimal(call, &tag[..8]))
        },
    ),
];

/// Covers the characters for which `is_kept` (position, length, count) is false.
fn covered<'a>(
    call: &Call<'a>,
    arguments: &[Value<'a>],
    is_kept: fn(usize, usize, usize) -> bool,
) -> Outcome<'a> {
    let (text, kept) = (text(arguments, 0)?, count(arguments, 1)?);
    let cover = text_or(arguments, 2, "*")?;
    let length = text.chars().count();
    let kept = if length <= kept { 0 } else { kept };
    let mut result = text_in(call.arena, text.len());
    for (at, character) in text.chars().enumerate() {
        if is_kept(at, length, kept) {
            result.push(character);
        } else {
            result.push_str(cover);
        }
    }
    Ok(finish(result))
}

/// MurmurHash3_x86_32 (Austin Appleby, public domain).
fn murmur3(data: &[u8], seed: u32) -> u32 {
    let mix = |word: u32| word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let mut state = seed;
    let mut blocks = data.chunks_exact(4);
    for block in &mut blocks {
        let word = u32::from_le_bytes([block[0], block[1], block[2], block[3]]);
        state = (state ^ mix(word)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    let tail = blocks.remainder();
    if !tail.is_empty() {
        let word = tail.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
        state ^= mix(word);
    }
    state ^= data.len() as u32;
    state = (state ^ (state >> 16)).wrapping_mul(0x85eb_ca6b);
    state = (state ^ (state >> 13)).wrapping_mul(0xc2b2_ae35);
    state ^ (state >> 16)
}

/// The table-driven CRC-32 with the reflected polynomial 0xEDB88320.
fn crc32(data: &[u8]) -> u32 {
    const TABLE: [u32; 256] = crc_table();
    let step = |crc: u32, byte: &u8| TABLE[((crc ^ u32::from(*byte)) & 0xff) as usize] ^ (crc >> 8);
    !data.iter().fold(!0, step)
}

const fn crc_table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut crc = index as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
            bit += 1;
        }
        table[index] = crc;
        index += 1;
    }
    table
}
