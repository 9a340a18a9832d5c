//! See `temblor_fuzz::flows`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| temblor_fuzz::flows(data));
