//! See `temblor_fuzz::configuration`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| temblor_fuzz::configuration(data));
