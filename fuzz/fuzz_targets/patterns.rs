//! See `temblor_fuzz::patterns`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| temblor_fuzz::patterns(data));
