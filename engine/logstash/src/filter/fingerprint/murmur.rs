//! MurmurHash3 of Austin Appleby (public domain), the variants x86_32 and x64_128, with seed 0 and,
//! as Logstash has it, seed 2 for the wide one.

/// The 32-bit hash.
pub(super) fn murmur3_32(bytes: &[u8]) -> u32 {
    const C1: u32 = 0xcc9e_2d51;
    const C2: u32 = 0x1b87_3593;
    let mix = |word: u32| word.wrapping_mul(C1).rotate_left(15).wrapping_mul(C2);
    let mut hash = 0_u32;
    let mut blocks = bytes.chunks_exact(4);
    for block in &mut blocks {
        hash ^= mix(u32::from_le_bytes(block.try_into().expect("blocks have four bytes")));
        hash = hash.rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    let tail = blocks.remainder().iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
    hash ^= mix(tail);
    hash ^= bytes.len() as u32;
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

fn mix1(word: u64) -> u64 {
    word.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

fn mix2(word: u64) -> u64 {
    word.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

fn finish(word: u64) -> u64 {
    let word = (word ^ (word >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let word = (word ^ (word >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    word ^ (word >> 33)
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// The seed that Logstash gives the wide hash.
const WIDE_SEED: u64 = 2;

/// The 128-bit hash, each half with its lowest byte first.
pub(super) fn murmur3_128(bytes: &[u8]) -> [u8; 16] {
    let (mut one, mut two) = (WIDE_SEED, WIDE_SEED);
    let mut blocks = bytes.chunks_exact(16);
    for block in &mut blocks {
        one ^= mix1(word(&block[..8]));
        one = one.rotate_left(27).wrapping_add(two).wrapping_mul(5).wrapping_add(0x52dc_e729);
        two ^= mix2(word(&block[8..]));
        two = two.rotate_left(31).wrapping_add(one).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    let tail = blocks.remainder();
    if tail.len() > 8 {
        two ^= mix2(word(&tail[8..]));
    }
    one ^= mix1(word(&tail[..tail.len().min(8)]));
    one ^= bytes.len() as u64;
    two ^= bytes.len() as u64;
    one = one.wrapping_add(two);
    two = two.wrapping_add(one);
    one = finish(one);
    two = finish(two);
    one = one.wrapping_add(two);
    two = two.wrapping_add(one);
    let mut out = [0; 16];
    out[..8].copy_from_slice(&one.to_le_bytes());
    out[8..].copy_from_slice(&two.to_le_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::{murmur3_32, murmur3_128};

    #[test]
    fn agrees_with_recorded_values() {
        assert_eq!(murmur3_32(b""), 0);
        assert_eq!(murmur3_32(b"hello"), 0x248b_fa47);
        let hex = |bytes: &[u8]| -> String {
            murmur3_128(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
        };
        assert_eq!(hex(b"1970-01-01T00:00:00.000Z"), "37785b62a8cae473acc315d39b66d86e");
        assert_eq!(hex(&123_i32.to_le_bytes()), "286816c693ac410ed63e1430dcd6f6fe");
        assert_eq!(hex(&2_148_483_647_i64.to_le_bytes()), "fdc7699a82556c8c584131f0133ee989");
    }
}
