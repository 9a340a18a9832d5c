//! The cases under `spec/`, found by a walk and played through the library, several at a time.
//! `TEMBLOR_BLESS=1` rewrites what they expect; `spec/README.md` describes their form.

mod case;
mod play;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Folders whose cases only concern the parser; the tests of the language play them.
const PARSER_ONLY: [&str; 1] = ["syntax"];
/// The stack of a thread: deep programs are cases, too.
const STACK_BYTES: usize = 64 << 20;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec")
}

/// All files of cases below `folder`, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).expect("the folder of cases is in the repository");
    for path in entries.filter_map(|entry| entry.ok().map(|one| one.path())) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
        if path.is_dir() && !PARSER_ONLY.contains(&name) {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|ending| ending == "txt") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Compares a file with what its cases give, or rewrites it.
fn check(file: &Path) -> Result<usize, String> {
    let name = file.display();
    let text = fs::read_to_string(file).map_err(|error| format!("{name}: {error}"))?;
    let cases = case::parse(&text).map_err(|reason| format!("{name}: {reason}"))?;
    let mut played = String::new();
    for one in &cases.list {
        case::write(&mut played, one, &play::play(one));
    }
    let played = format!("{}{played}", cases.preface);
    if std::env::var_os("TEMBLOR_BLESS").is_some() {
        fs::write(file, &played).map_err(|error| format!("{name}: {error}"))?;
    } else if text != played {
        return Err(difference(file, &text, &played));
    }
    Ok(cases.list.len())
}

/// The first lines that are not equal, and the case that they stand in.
fn difference(file: &Path, expected: &str, played: &str) -> String {
    let mut title = "";
    for (number, line) in expected.lines().enumerate() {
        if line.starts_with(case::HEAD) {
            title = line;
        }
        let got = played.lines().nth(number).unwrap_or("(nothing)");
        if got != line {
            let at = number + 1;
            let name = file.display();
            return format!("{name}:{at}: {title}\n    expected: {line}\n    got:      {got}");
        }
    }
    format!("{}: the result is longer: TEMBLOR_BLESS=1 shows how", file.display())
}

#[test]
fn cases_give_what_they_say() {
    let files = files(&root());
    assert!(!files.is_empty(), "there are cases");
    let next = Mutex::new(files.iter());
    let failures = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let work = || {
                while let Some(file) = next.lock().expect("no thread panics").next() {
                    if let Err(failure) = check(file) {
                        failures.lock().expect("no thread panics").push(failure);
                    }
                }
            };
            std::thread::Builder::new()
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, work)
                .expect("threads can be made");
        }
    });
    let failures = failures.into_inner().expect("no thread panics");
    assert!(failures.is_empty(), "{}\n(TEMBLOR_BLESS=1 accepts)", failures.join("\n"));
}
