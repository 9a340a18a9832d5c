//! See `temblor_fuzz::script`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| temblor_fuzz::script(data));
