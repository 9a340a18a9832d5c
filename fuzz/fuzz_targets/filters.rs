//! See `temblor_fuzz::filters`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| temblor_fuzz::filters(data));
