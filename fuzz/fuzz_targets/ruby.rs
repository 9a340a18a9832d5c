//! See `temblor_fuzz::ruby`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| temblor_fuzz::ruby(data));
