//! See `temblor_fuzz::inference`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| temblor_fuzz::inference(data));
