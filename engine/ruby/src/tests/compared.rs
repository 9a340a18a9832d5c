//! Expressions with the results that JRuby 9.4, the Ruby of Logstash, gives: the files of `cases/`.
//! Each case is a line of code and a line with its result as `inspect` writes it, or `!` and the message
//! of the exception, or `?` and why the code is refused. `cases/record.rb` writes the results of new expressions.
//! `cases/differences.txt` lists what this interpreter gives otherwise, with JRuby's result in a third line.

use super::super::Script;
use super::{run, run_collecting};
use std::fmt::Write as _;

/// Expressions that must be in the files.
const CASES_MIN: usize = 1_500;

/// What this interpreter gives, written as in the files.
fn result(code: &str, run: impl Fn(&str) -> String) -> String {
    if let Err(problem) = Script::parse(code, &[]) {
        return format!("? {}", problem.message);
    }
    let result = run(code);
    let first = result.lines().next().unwrap_or_default();
    if result.starts_with("! ") { first.to_string() } else { result.replace('\n', " ") }
}

#[test]
fn expressions_give_what_jruby_gives() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let only = std::env::var("TEMBLOR_RUBY_CASES").unwrap_or_default();
    let (mut count, mut differences) = (0, String::new());
    for entry in std::fs::read_dir(folder).expect("the folder is part of the crate") {
        let path = entry.expect("it can be listed").path();
        let name = path.display().to_string();
        if path.extension().is_none_or(|ending| ending != "txt") || !name.contains(&only) {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("cases are UTF-8");
        let mut lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        while let (Some(code), Some(expected)) = (lines.next(), lines.next()) {
            let expected = expected.strip_prefix("  => ").expect("a result is behind each line");
            if name.ends_with("differences.txt") {
                let other = lines.next().and_then(|line| line.strip_prefix("  jruby "));
                let other = other.expect("JRuby's result is in the third line");
                assert_ne!(expected, other, "{code} is no difference");
            }
            count += 1;
            let found = result(code, run);
            let collecting = result(code, run_collecting);
            let found = if found == expected { collecting } else { found };
            if found != expected {
                let _ = writeln!(differences, "{code}\n  => {found}\n  not {expected}");
            }
        }
    }
    assert!(differences.is_empty(), "{differences}");
    assert!(!only.is_empty() || count >= CASES_MIN, "only {count} cases were found");
}
