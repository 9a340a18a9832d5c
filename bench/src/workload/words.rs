//! Words, addresses and identifiers that generated lines are made of; everything is plain ASCII without quotes or backslashes.

use super::Random;
use std::fmt::Write;

const WORDS: [&str; 48] = [
    "queue",
    "worker",
    "handler",
    "timeout",
    "accepted",
    "request",
    "customer",
    "order",
    "payment",
    "retry",
    "upstream",
    "connection",
    "closed",
    "opened",
    "after",
    "before",
    "while",
    "reading",
    "writing",
    "cache",
    "miss",
    "hit",
    "shard",
    "replica",
    "leader",
    "follower",
    "elected",
    "snapshot",
    "restored",
    "partition",
    "offset",
    "commit",
    "batch",
    "flushed",
    "bytes",
    "from",
    "to",
    "the",
    "of",
    "with",
    "session",
    "token",
    "expired",
    "renewed",
    "invoice",
    "shipment",
    "warehouse",
    "scheduled",
];

/// Appends words until at least `bytes` bytes were added.
pub(super) fn push_sentence(random: &mut Random, bytes: usize, out: &mut String) {
    let end = out.len() + bytes;
    while out.len() < end {
        out.push_str(random.pick(&WORDS));
        out.push(' ');
    }
    out.pop();
}

/// A lower-case hexadecimal identifier of `digits` digits.
pub(super) fn hex(random: &mut Random, digits: usize) -> String {
    let mut out = String::with_capacity(digits + 16);
    while out.len() < digits {
        write!(out, "{:016x}", random.bits()).expect("writing to a string cannot fail");
    }
    out.truncate(digits);
    out
}

/// A random identifier in the form of a UUID.
pub(super) fn uuid(random: &mut Random) -> String {
    let digits = hex(random, 32);
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

/// An IPv4 address; a third of them are private ones.
pub(super) fn address(random: &mut Random) -> String {
    let (first, second) = match random.below(6) {
        0 => (10, random.below(256)),
        1 => (172, random.between(16, 32)),
        _ => (random.between(11, 224), random.below(256)),
    };
    format!("{first}.{second}.{}.{}", random.below(256), random.below(256))
}

/// A path with `segments` segments below the root.
pub(super) fn path(random: &mut Random, segments: u64) -> String {
    let mut out = String::new();
    for _ in 0..segments {
        out.push('/');
        out.push_str(random.pick(&WORDS));
    }
    out
}

/// A browser's name for itself.
pub(super) fn user_agent(random: &mut Random) -> String {
    let system = random.pick(&[
        "Windows NT 10.0; Win64; x64",
        "Macintosh; Intel Mac OS X 10_15_7",
        "X11; Linux x86_64",
        "Linux; Android 14; Pixel 8",
    ]);
    let major = random.between(90, 131);
    format!(
        "Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{major}.0.0.0 Safari/537.36"
    )
}
