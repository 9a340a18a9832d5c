//! See `temblor_fuzz::logic`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| temblor_fuzz::logic(data));
