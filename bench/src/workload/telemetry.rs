//! Wide events of a telemetry collector: up to 120 terse fields whose kinds follow from their names, some of the wrong kind, and
//! some that no table knows. A field's name is `<subject>_<aspect>`; every line is a JSON object.

use super::{Random, words};
use std::fmt::Write;

/// The applications that send telemetry.
pub const APPLICATIONS: [&str; 6] =
    ["billing", "catalog", "checkout", "identity", "search", "shipping"];

const SUBJECTS: [&str; 12] =
    ["usr", "ord", "pay", "shp", "inv", "net", "dev", "ses", "acc", "prm", "geo", "sys"];
const ASPECTS: [&str; 10] = ["id", "ts", "st", "ct", "am", "ty", "nm", "cd", "ms", "fl"];
const LEVELS: [&str; 5] = ["INFO", "WARN", "DEBUG", "ERROR", "FATAL"];
const UNKNOWN: [&str; 6] = ["tmp_x1", "tmp_x2", "legacy_blob", "vendor_ext", "dbg", "pad0"];

/// Fields of the 120 that an event carries, per thousand.
const PRESENT_PER_MILLE: u64 = 920;
/// Fields whose value has another kind than their name says, per thousand.
const WRONG_KIND_PER_MILLE: u64 = 40;

/// The 120 names as they come from the collector, in the order of subjects and aspects.
pub fn raw_field_names() -> Vec<String> {
    let names = |subject| ASPECTS.iter().map(move |aspect| format!("{subject}_{aspect}"));
    SUBJECTS.iter().flat_map(names).collect()
}

/// Generates `count` events of about 5.4 KB.
pub fn telemetry_lines(seed: u64, count: usize) -> Vec<String> {
    let mut random = Random::seeded(seed);
    let names = raw_field_names();
    (0..count).map(|index| event(&mut random, index, &names)).collect()
}

fn event(random: &mut Random, index: usize, names: &[String]) -> String {
    let mut line = String::with_capacity(6_144);
    write!(
        line,
        "{{\"sequence\":{index},\"app\":\"{}\",\"client_ip\":\"{}\",\"message\":\"collector {} [{}] ",
        random.pick(&APPLICATIONS),
        words::address(random),
        random.between(1, 99),
        random.skewed(&LEVELS),
    )
    .expect("writing to a string cannot fail");
    words::push_sentence(random, 160, &mut line);
    line.push('"');
    for name in names {
        if random.chance(PRESENT_PER_MILLE) {
            push_field(random, name, &mut line);
        }
    }
    for name in UNKNOWN {
        if random.chance(300) {
            write!(line, ",\"{name}\":\"{}\"", words::hex(random, 24))
                .expect("writing to a string cannot fail");
        }
    }
    line.push('}');
    line
}

fn push_field(random: &mut Random, name: &str, line: &mut String) {
    write!(line, ",\"{name}\":").expect("writing to a string cannot fail");
    let wrong = random.chance(WRONG_KIND_PER_MILLE);
    let aspect = name.rsplit('_').next().unwrap_or(name);
    match (aspect, wrong) {
        ("ts", false) => push(line, random.between(1_700_000_000_000, 1_790_000_000_000)),
        ("ct" | "ms", false) => push(line, random.below(100_000)),
        ("am", false) => push(line, format_args!("{}.{}5", random.below(9_000), random.below(10))),
        ("fl", false) => push(line, random.chance(500)),
        ("ts" | "ct" | "ms" | "am" | "fl", true) => line.push_str("\"n/a\""),
        (_, true) => push(line, random.below(1_000)),
        ("id", false) => push_text(random, line, 36),
        (_, false) => push_text(random, line, 66),
    }
}

fn push(line: &mut String, value: impl std::fmt::Display) {
    write!(line, "{value}").expect("writing to a string cannot fail");
}

fn push_text(random: &mut Random, line: &mut String, bytes: usize) {
    line.push('"');
    words::push_sentence(random, bytes, line);
    line.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_120_names_and_no_name_twice() {
        let mut names = raw_field_names();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 120);
    }
}
