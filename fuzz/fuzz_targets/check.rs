//! See `temblor_fuzz::program`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| temblor_fuzz::program(data));
