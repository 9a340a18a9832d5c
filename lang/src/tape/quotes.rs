//! Where the strings of a JSON text end: the one thing that vector instructions find faster than a
//! walk. 64 bytes become one word with a bit for each quote; what is between an opening and a
//! closing one follows from a carry-less multiplication (Langdale and Lemire, "Parsing gigabytes of
//! JSON per second", VLDB Journal 28, 2019; simdjson's way of finding escaped characters).

/// The strings of a text.
#[derive(Debug, Default)]
pub(super) struct Strings {
    /// The places of the closing quotes, then places that mean nothing.
    ends: Vec<u32>,
    count: usize,
    /// The places of the backslashes that begin an escape.
    escapes: Vec<u32>,
}

impl Strings {
    /// Finds the strings of `text`. False when this processor lacks the instructions, when a string
    /// does not end or holds a control character, or when the text is longer than 4 GiB.
    pub(super) fn find(&mut self, text: &[u8]) -> bool {
        if u32::try_from(text.len()).is_err() {
            return false;
        }
        self.find_by_vectors(text)
    }

    #[cfg(target_arch = "x86_64")]
    fn find_by_vectors(&mut self, text: &[u8]) -> bool {
        use std::arch::is_x86_feature_detected as has;
        if !(has!("avx2") && has!("pclmulqdq") && has!("bmi1") && has!("popcnt")) {
            return false;
        }
        // SAFETY: the processor has the four features that the function is compiled for, which is
        // all that such a function asks of its caller: it is safe otherwise.
        unsafe { avx2::find(self, text) }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn find_by_vectors(&mut self, _text: &[u8]) -> bool {
        false
    }

    /// The places of the closing quotes, in order.
    pub(super) fn ends(&self) -> &[u32] {
        &self.ends[..self.count]
    }

    /// The places of the backslashes that begin an escape, in order.
    pub(super) fn escapes(&self) -> &[u32] {
        &self.escapes
    }
}

/// Bytes that become one word of bits.
const BLOCK_BYTES: usize = 64;

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{BLOCK_BYTES, Strings};
    use std::arch::x86_64::{
        __m256i, _mm_clmulepi64_si128, _mm_cvtsi128_si64, _mm_set_epi64x, _mm_set1_epi8,
        _mm256_cmpeq_epi8, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_set1_epi8,
        _mm256_setr_epi64x,
    };

    /// The last control character that must not stand in a string as it is.
    const CONTROL_MAX: i8 = 0x1f;

    /// What one block leaves to the next.
    #[derive(Default)]
    struct Carry {
        /// All ones when the block ended in a string.
        inside: u64,
        /// One when the block ended with a backslash that escapes what follows.
        escaping: u64,
        /// Control characters in strings.
        bad: u64,
    }

    #[target_feature(enable = "avx2,pclmulqdq,bmi1,popcnt")]
    pub(super) fn find(strings: &mut Strings, text: &[u8]) -> bool {
        let mut carry = Carry::default();
        let mut count = 0;
        strings.escapes.clear();
        let (blocks, rest) = text.as_chunks::<BLOCK_BYTES>();
        let mut place = 0;
        for block in blocks {
            let ends = carry.block(block, place, &mut strings.escapes);
            count = put(&mut strings.ends, count, place, ends);
            place += BLOCK_BYTES as u32;
        }
        let mut last = [b' '; BLOCK_BYTES];
        last[..rest.len()].copy_from_slice(rest);
        let ends = carry.block(&last, place, &mut strings.escapes);
        strings.count = put(&mut strings.ends, count, place, ends);
        carry.inside == 0 && carry.bad == 0
    }

    impl Carry {
        /// The closing quotes of a block.
        #[inline]
        #[target_feature(enable = "avx2,pclmulqdq,bmi1,popcnt")]
        fn block(&mut self, block: &[u8; BLOCK_BYTES], place: u32, escapes: &mut Vec<u32>) -> u64 {
            let halves = halves(block);
            let mut quotes = equal(halves, b'"');
            let backslashes = equal(halves, b'\\');
            if backslashes | self.escaping != 0 {
                let escaped = self.escaped(backslashes);
                quotes &= !escaped;
                push(escapes, place, backslashes & !escaped);
            }
            // From each opening quote, itself included, up to its closing one.
            let inside = running_parity(quotes) ^ self.inside;
            self.inside = ((inside as i64) >> 63) as u64;
            self.bad |= inside & control_characters(halves);
            quotes & !inside
        }

        /// The characters that a backslash before them escapes.
        fn escaped(&mut self, backslashes: u64) -> u64 {
            const EVEN: u64 = 0x5555_5555_5555_5555;
            let backslashes = backslashes & !self.escaping;
            let follows = backslashes << 1 | self.escaping;
            let odd_starts = backslashes & !EVEN & !follows;
            let (even_runs, overflow) = odd_starts.overflowing_add(backslashes);
            self.escaping = u64::from(overflow);
            (EVEN ^ (even_runs << 1)) & follows
        }
    }

    fn push(escapes: &mut Vec<u32>, place: u32, mut bits: u64) {
        while bits != 0 {
            escapes.push(place + bits.trailing_zeros());
            bits &= bits - 1;
        }
    }

    /// Reads a block; the compiler makes two loads of it.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn halves(block: &[u8; BLOCK_BYTES]) -> [__m256i; 2] {
        let (words, _) = block.as_chunks::<8>();
        let word = |at: usize| words.get(at).map_or(0, |word| i64::from_le_bytes(*word));
        [
            _mm256_setr_epi64x(word(0), word(1), word(2), word(3)),
            _mm256_setr_epi64x(word(4), word(5), word(6), word(7)),
        ]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn equal(halves: [__m256i; 2], byte: u8) -> u64 {
        let wanted = _mm256_set1_epi8(byte as i8);
        bits(halves.map(|half| _mm256_cmpeq_epi8(half, wanted)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn control_characters(halves: [__m256i; 2]) -> u64 {
        let most = _mm256_set1_epi8(CONTROL_MAX);
        bits(halves.map(|half| _mm256_cmpeq_epi8(_mm256_min_epu8(half, most), half)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn bits([low, high]: [__m256i; 2]) -> u64 {
        let [low, high] = [low, high].map(|half| u64::from(_mm256_movemask_epi8(half) as u32));
        low | high << 32
    }

    /// Each bit is the parity of the bits up to and with it.
    #[inline]
    #[target_feature(enable = "avx2,pclmulqdq")]
    fn running_parity(bits: u64) -> u64 {
        let ones = _mm_set1_epi8(-1);
        _mm_cvtsi128_si64(_mm_clmulepi64_si128::<0>(_mm_set_epi64x(0, bits as i64), ones)) as u64
    }

    /// Writes the places of the bits from number `count` on; returns the new count. Four are
    /// always written, since a branch that is guessed wrongly costs more.
    #[inline]
    #[target_feature(enable = "bmi1,popcnt")]
    fn put(ends: &mut Vec<u32>, count: usize, place: u32, mut bits: u64) -> usize {
        const AT_ONCE: usize = 4;
        let found = bits.count_ones() as usize;
        if ends.len() < count + BLOCK_BYTES {
            grow(ends, count);
        }
        let room = ends.get_mut(count..).and_then(|rest| rest.first_chunk_mut::<BLOCK_BYTES>());
        let room = room.expect("a block has just been made room for");
        for group in room.chunks_exact_mut(AT_ONCE) {
            for end in group {
                *end = place.wrapping_add(bits.trailing_zeros());
                bits &= bits.wrapping_sub(1);
            }
            if bits == 0 {
                break;
            }
        }
        count + found
    }

    #[cold]
    fn grow(ends: &mut Vec<u32>, count: usize) {
        ends.resize(2 * count + BLOCK_BYTES, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Closing quotes and backslashes that begin an escape, by a walk over the bytes.
    fn expected(text: &[u8]) -> Option<(Vec<u32>, Vec<u32>)> {
        let (mut ends, mut escapes) = (Vec::new(), Vec::new());
        let (mut inside, mut escaped) = (false, false);
        for (place, byte) in text.iter().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => {
                    escapes.push(place as u32);
                    escaped = true;
                }
                b'"' => {
                    if inside {
                        ends.push(place as u32);
                    }
                    inside = !inside;
                }
                _ => {}
            }
            if inside && *byte < 0x20 {
                return None;
            }
        }
        (!inside).then_some((ends, escapes))
    }

    #[test]
    fn strings_end_where_a_walk_says() {
        let mut random = crate::random::Random::seeded(7);
        let mut strings = Strings::default();
        let mut found = 0;
        for length in 0..20_000 {
            let alphabet =
                [b"\"\\\\\\abcde ".as_slice(), b"\"abcdefgh,:", b"\"\\\n\x1f \x80\xff{}"];
            let alphabet = alphabet[length % 3];
            let text: Vec<u8> =
                (0..length % 300).map(|_| alphabet[random.index(alphabet.len())]).collect();
            if strings.find(&text) {
                found += 1;
                let (ends, escapes) = expected(&text).expect("strings end");
                assert_eq!((strings.ends(), strings.escapes()), (&*ends, &*escapes), "{text:?}");
            } else if cfg!(target_arch = "x86_64") && std::is_x86_feature_detected!("avx2") {
                assert_eq!(expected(&text), None, "{text:?}");
            }
        }
        assert!(found > 1_000 || !cfg!(target_arch = "x86_64"));
    }
}
