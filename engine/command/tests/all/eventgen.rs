//! Configurations of Splunk Eventgen under `spec/eventgen/`: what each makes, writes and says under a virtual
//! clock, and that the program it converts to makes the same. `TEMBLOR_BLESS=1` rewrites what is expected.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use temblor_connect::source::SourceConfig;
use temblor_generate::{Spec, Stream, eventgen};
use temblor_pipeline::load::{Given, load_text};

/// Fewer cases than this were not all found.
const CASES_MIN: usize = 45;

/// A part of a case, behind a line that begins with `---`.
struct Section {
    head: String,
    body: String,
}

struct Case {
    name: String,
    sections: Vec<Section>,
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("=== ") {
            cases.push(Case { name: name.to_string(), sections: Vec::new() });
        } else if let Some(head) = line.strip_prefix("--- ") {
            let case = cases.last_mut().expect("a case begins with its name");
            case.sections.push(Section { head: head.to_string(), body: String::new() });
        } else if let Some(section) = cases.last_mut().and_then(|case| case.sections.last_mut()) {
            section.body.push_str(line);
            section.body.push('\n');
        }
    }
    cases
}

impl Case {
    /// The files of the case, and the arguments of its run.
    fn lay_out(&self, folder: &Path) -> Vec<String> {
        let _ = std::fs::remove_dir_all(folder);
        std::fs::create_dir_all(folder).expect("the target directory can be written");
        let mut arguments = Vec::new();
        for section in &self.sections {
            let mut words = section.head.split_whitespace();
            match (words.next(), words.next()) {
                (Some("file"), Some(name)) => {
                    let path = folder.join(name);
                    std::fs::create_dir_all(path.parent().expect("it has one")).expect("as above");
                    let body = section.body.trim_end_matches('\n').to_string() + "\n";
                    let body = match words.next() {
                        Some("escaped") => body
                            .trim_end()
                            .replace("\\r", "\r")
                            .replace("\\n", "\n")
                            .replace("\\t", "\t"),
                        _ => body,
                    };
                    std::fs::write(path, body).expect("as above");
                }
                (Some("folder"), Some(name)) => {
                    std::fs::create_dir_all(folder.join(name)).expect("as above");
                }
                (Some("run"), _) => {
                    arguments =
                        section.head.split_whitespace().skip(1).map(str::to_string).collect();
                }
                _ => {}
            }
        }
        arguments
    }

    /// What a section that is filled in should hold.
    fn expected(&self, head: &str, folder: &Path, out: &str, said: &str) -> Option<String> {
        let text = match head.split_once(' ') {
            None if head == "out" => out.to_string(),
            None if head == "said" => said.to_string(),
            Some(("made", name)) => std::fs::read_to_string(folder.join(name))
                .unwrap_or_else(|_| "(missing)\n".to_string()),
            _ => return None,
        };
        Some(if text.is_empty() { text } else { text.trim_end_matches('\n').to_string() + "\n" })
    }
}

fn run(arguments: &[String], folder: &Path) -> (String, String) {
    let ran = Command::new(env!("CARGO_BIN_EXE_temblor"))
        .args(arguments)
        .current_dir(folder)
        .env("TZ", "UTC")
        .env_remove("SPLUNK_HOME")
        .output()
        .expect("the command was built");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (text(ran.stdout), text(ran.stderr))
}

/// Plays a case; gives it as it should be written.
fn play(case: &Case, folder: &Path) -> String {
    let arguments = case.lay_out(folder);
    let (out, said) = run(&arguments, folder);
    let mut text = format!("=== {}\n", case.name);
    for section in &case.sections {
        let body = case.expected(&section.head, folder, &out, &said);
        let body = body.unwrap_or_else(|| section.body.trim_end_matches('\n').to_string() + "\n");
        let _ = write!(text, "--- {}\n{}", section.head, if body == "\n" { "" } else { &body });
    }
    text.push('\n');
    text
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/eventgen");
    let entries = std::fs::read_dir(folder).expect("the cases are in the repository");
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "cases"));
    files.sort();
    files
}

fn scratch(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("eventgen-{name}"))
}

#[test]
fn configurations_make_what_is_expected() {
    let blesses = std::env::var_os("TEMBLOR_BLESS").is_some();
    let (mut count, mut wrong) = (0, Vec::new());
    for file in files() {
        let text = std::fs::read_to_string(&file).expect("cases are UTF-8");
        let mut played = String::new();
        for (number, case) in cases(&text).iter().enumerate() {
            count += 1;
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let made = play(case, &scratch(&format!("{name}-{number}")));
            if !blesses && !text.contains(made.trim_end()) {
                wrong.push(made.clone());
            }
            played.push_str(&made);
        }
        if blesses {
            std::fs::write(&file, played).expect("the case can be written");
        }
    }
    assert!(count >= CASES_MIN, "only {count} cases were found");
    let list = wrong.join("\n");
    assert!(wrong.is_empty(), "{} cases differ; they give\n{list}", wrong.len());
}

/// The first events of a spec, from a fixed time.
fn events(spec: &Spec) -> String {
    let start = 1_767_571_200_000_000_000;
    let spec = Spec { start: Some(start), ..spec.clone() };
    let mut stream = Stream::open(&spec, start).expect("its files are there");
    let mut out = Vec::new();
    let _ = stream.fill(&mut out, start + 600_000_000_000, 20_000);
    String::from_utf8_lossy(&out).into_owned()
}

#[test]
fn programs_that_configurations_become_make_the_same() {
    let (mut compared, mut differing) = (0, Vec::new());
    for file in files() {
        let text = std::fs::read_to_string(&file).expect("cases are UTF-8");
        for (number, case) in cases(&text).iter().enumerate() {
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let folder = scratch(&format!("convert-{name}-{number}"));
            case.lay_out(&folder);
            let Ok(loaded) = eventgen::load(&[folder.join("eventgen.conf")])
                .or_else(|_| eventgen::load(std::slice::from_ref(&folder)))
            else {
                continue;
            };
            if loaded.stanzas.is_empty() {
                continue;
            }
            let (program, _) = eventgen::convert::convert(&loaded, 0);
            let compiled = load_text(&program, &[], &Given::default());
            // Sinks of other builds are none of this one.
            if compiled.has_errors() && compiled.report(false).contains("unknown kind of sink") {
                continue;
            }
            assert!(!compiled.has_errors(), "{}\n{program}\n{}", case.name, compiled.report(false));
            let sources = compiled.endpoints.sources.iter();
            for (stanza, source) in loaded.stanzas.iter().zip(sources) {
                let SourceConfig::Generate(_, spec) = &source.config else {
                    panic!("{}: not a generator", case.name)
                };
                let (ours, theirs) = (events(&stanza.spec), events(spec));
                compared += usize::from(!ours.is_empty());
                if ours != theirs {
                    differing.push(format!("{} [{}]\n{program}", case.name, stanza.section));
                }
            }
        }
    }
    assert!(compared > CASES_MIN / 2, "only {compared} stanzas were compared");
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}
