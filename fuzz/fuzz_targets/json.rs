//! See `temblor_fuzz::json`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| temblor_fuzz::json(data));
