//! The list of tests that one call of `cargo test` has skipped.
//!
//! Invariant: each call has a list of its own, a file named by the process id of cargo, which is the
//! parent of every test binary. The closing line takes the file away.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// How the peers come to be there.
pub(crate) const ADVICE: &str = "`.ci/peers/peers start && source target/peers/env` provides them";

/// What tests need that compare with what another program was seen to do.
const RECORDINGS: &str = "RECORDINGS in ../shared/data";

/// Stands between the peers that one test needs.
pub(crate) const AND: &str = " and ";

/// Notes that a test is skipped for want of `needs`.
pub(crate) fn note(needs: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_string();
    eprintln!("skipped: needs {needs}");
    append(&list(), needs, &test);
}

/// Notes that a test is skipped for want of files that were recorded from another program, and are no part of
/// the checkout.
pub fn for_want_of_recordings(place: &Path) {
    eprintln!("SKIPPED: there are no recordings at {}", place.display());
    note(RECORDINGS);
}

fn append(list: &Path, needs: &str, test: &str) {
    let folder = list.parent().expect("a list lies in a folder");
    fs::create_dir_all(folder).expect("the target folder can be written");
    let file = fs::OpenOptions::new().create(true).append(true).open(list);
    // One write per line: other tests append at the same time.
    file.and_then(|mut file| file.write_all(format!("{needs}\t{test}\n").as_bytes()))
        .expect("the target folder can be written");
}

/// Says how many tests of this call of cargo were skipped, and for want of what.
pub fn closing_line() -> String {
    let list = list();
    let text = fs::read_to_string(&list).unwrap_or_default();
    remove(&list);
    summary(&text)
}

/// Removes a list, and those of calls that have ended without a closing line, as `cargo test -p` does.
fn remove(list: &Path) {
    // There is none where nothing was skipped.
    let _ = fs::remove_file(list);
    let folder = list.parent().expect("a list lies in a folder");
    for other in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !Path::new("/proc").join(other.file_name()).exists() {
            // Another closing line may have been faster.
            let _ = fs::remove_file(other.path());
        }
    }
}

fn summary(list: &str) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut total = 0;
    for needs in list.lines().filter_map(|line| line.split('\t').next()) {
        total += 1;
        for name in needs.split(AND) {
            *counts.entry(name).or_default() += 1;
        }
    }
    if total == 0 {
        return "peers: no test was skipped".to_string();
    }
    let parts: Vec<_> = counts.iter().map(|(needs, count)| format!("{needs} {count}")).collect();
    let tests = if total == 1 { "test was" } else { "tests were" };
    format!("peers: {total} {tests} skipped for want of: {} ({ADVICE})", parts.join(", "))
}

/// The list of this call of cargo, beside the folder of the test binaries.
fn list() -> PathBuf {
    let test = std::env::current_exe().expect("the system knows the test's binary");
    let build = test.ancestors().nth(2).expect("cargo puts tests into DIR/deps");
    build.join("skipped-tests").join(std::os::unix::process::parent_id().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Folder;

    #[test]
    fn the_closing_line_counts_tests_by_what_they_need() {
        let folder = Folder::new();
        let list = folder.file("lists/7");
        for (needs, test) in [("REDIS", "a"), ("KAFKA and REDIS", "b"), ("NATS", "c")] {
            append(&list, needs, test);
        }
        let text = fs::read_to_string(&list).expect("it was written");
        let line = summary(&text);
        let counted = "peers: 3 tests were skipped for want of: KAFKA 1, NATS 1, REDIS 2 (";
        assert!(line.starts_with(counted), "{line}");
        assert!(line.contains(".ci/peers/peers start"), "{line}");
        assert_eq!(summary(""), "peers: no test was skipped");
        assert!(summary("NATS\ta\n").starts_with("peers: 1 test was skipped"));
    }
}
