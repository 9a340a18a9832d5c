//! The rules of the house that a machine can hold. `spec/limits.md` is made here from the limits in
//! the sources: `TEMBLOR_BLESS=1 cargo test -p temblor-command --test all tidy`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folders of the crates below `engine/`.
fn crates() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("engine")).expect("it is part of the repository");
    let folders = entries.map(|entry| entry.expect("it can be listed").path());
    let mut crates: Vec<_> = folders.filter(|path| path.join("Cargo.toml").is_file()).collect();
    crates.sort();
    crates
}

/// The members of the workspace in their order, and the crates of the workspace that each needs.
fn arrows() -> Vec<(String, Vec<String>)> {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("it is there");
    let members = manifest.split("members = [").nth(1).expect("a workspace has members");
    let members = members.split(']').next().expect("the list ends");
    let names = members.split('"').skip(1).step_by(2);
    let needs = |member: &str| {
        let path = root().join(member).join("Cargo.toml");
        let text = std::fs::read_to_string(path).expect("a member has a manifest");
        let section = text.split("[dependencies]").nth(1).unwrap_or_default();
        let section = section.split("\n[").next().unwrap_or_default();
        let ours = section.lines().filter_map(|line| line.strip_prefix("temblor-"));
        ours.filter_map(|line| line.split(['.', ' ']).next()).map(str::to_string).collect()
    };
    names.map(|member| (member.to_string(), needs(member))).collect()
}

/// The members stand in the order of their dependencies, so that no arrow points up, and the page of the
/// architecture shows the arrows that there are.
#[test]
fn arrows_between_crates_point_one_way() {
    let arrows = arrows();
    let mut seen: Vec<&str> = Vec::new();
    let mut table = String::from("| crate | needs |\n|---|---|\n");
    for (member, needs) in &arrows {
        for need in needs {
            assert!(seen.contains(&need.as_str()), "{member} needs {need}, which stands behind it");
        }
        seen.push(member.rsplit('/').next().expect("a path has an end"));
        if member.starts_with("engine/") {
            let _ = writeln!(table, "| `{member}` | {} |", needs.join(", "));
        }
    }
    let path = root().join("ARCHITECTURE.md");
    let page = std::fs::read_to_string(&path).expect("it is there");
    let (before, rest) = page.split_once(ARROWS_BEGIN).expect("the page has the table");
    let (shown, after) = rest.split_once(ARROWS_END).expect("the table ends");
    if std::env::var_os("TEMBLOR_BLESS").is_some() {
        let page = format!("{before}{ARROWS_BEGIN}\n{table}{ARROWS_END}{after}");
        std::fs::write(&path, page).expect("the page can be written");
    } else {
        assert!(shown.trim() == table.trim(), "the table is stale: run with TEMBLOR_BLESS=1");
    }
}

const ARROWS_BEGIN: &str = "<!-- arrows -->";
const ARROWS_END: &str = "<!-- end of arrows -->";

/// All Rust files of the crates, by path.
fn sources() -> Vec<(String, String)> {
    let mut files = Vec::new();
    let folders = ["lang", "stdlib", "bench"].map(|name| root().join(name));
    for folder in folders.into_iter().chain(crates()) {
        gather(&folder.join("src"), &mut files);
    }
    files.sort();
    files
}

fn gather(folder: &Path, files: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).expect("the folder is part of the repository") {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() {
            gather(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = std::fs::read_to_string(&path).expect("sources are UTF-8");
            let name = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
            files.push((name, text));
        }
    }
}

/// The sources without what is compiled for tests alone.
fn shipped() -> Vec<(String, String)> {
    let sources = sources();
    let mut tests = Vec::new();
    for (name, text) in &sources {
        let folder = folder_of_modules(name);
        let marked = text.split("#[cfg(test)]\n").skip(1);
        for declared in marked.filter_map(|rest| declared_module(rest.lines().next()?)) {
            tests.push(format!("{folder}/{declared}.rs"));
            tests.push(format!("{folder}/{declared}/"));
        }
    }
    let is_test = |name: &str| tests.iter().any(|test| name == test || name.starts_with(test));
    let shipped = sources.into_iter().filter(|(name, _)| !is_test(name));
    shipped.map(|(name, text)| (name, without_tests(&text).to_string())).collect()
}

/// The folder of the files of the modules that a file declares.
fn folder_of_modules(name: &str) -> &str {
    ["/lib.rs", "/mod.rs", "/main.rs", ".rs"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .expect("it is a file of Rust")
}

/// `pub mod name;`
fn declared_module(line: &str) -> Option<&str> {
    let line = line.trim().strip_suffix(';')?;
    let line = line.strip_prefix("pub(crate) ").or(line.strip_prefix("pub ")).unwrap_or(line);
    line.strip_prefix("mod ")
}

/// What stands before the first module of tests within a file.
fn without_tests(text: &str) -> &str {
    let mut from = 0;
    while let Some(at) = text[from..].find("#[cfg(test)]\n") {
        let next = text[from + at..].lines().nth(1).unwrap_or_default();
        if next.contains("mod ") && next.ends_with('{') {
            return &text[..from + at];
        }
        from += at + 1;
    }
    text
}

/// The lines of a text that are no comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.starts_with("//"))
}

/// Who may write to standard output and standard error, and why.
const WRITERS: [(&str, &str); 7] = [
    ("bench/src/", "it reports what it measures"),
    ("engine/command/src/", "it is what the user calls"),
    ("engine/connect/src/sink/", "standard output and standard error are sinks"),
    ("engine/lsp/src/wire.rs", "editors talk over standard input and output"),
    ("engine/repl/src/editor.rs", "it draws the line that is edited"),
    ("engine/runtime/src/console.rs", "the console of the run"),
    ("engine/testing/src/skipped.rs", "it names the tests that are skipped"),
];

#[test]
fn only_the_console_and_the_command_write_to_the_terminal() {
    let ways = ["println!(", "print!(", "stderr()", "stdout()"];
    let may = |name: &str| WRITERS.iter().any(|(folder, _)| name.starts_with(folder));
    let writes = |text: &str| code(text).any(|line| ways.iter().any(|way| line.contains(way)));
    let found: Vec<_> = shipped()
        .into_iter()
        .filter(|(name, text)| !may(name) && writes(text))
        .map(|(name, _)| name)
        .collect();
    assert!(found.is_empty(), "say it through the console of the run: {found:?}");
}

#[test]
fn names_are_imported_one_by_one() {
    let is_glob = |line: &str| line.contains("use ") && line.ends_with("::*;");
    let found: Vec<_> = shipped()
        .into_iter()
        .filter(|(_, text)| code(text).any(is_glob))
        .map(|(name, _)| name)
        .collect();
    assert!(found.is_empty(), "glob imports: {found:?}");
}

/// Modules of one crate that need each other, and why they may: all others stand behind what they need.
const MUTUAL: [(&str, &[(&str, &str)]); 8] = [
    // A reload plans what runs next as a run does.
    ("engine/command", &[("run", "runner")]),
    ("engine/generate", &[("spec", "settings")]),
    // A request that was taken is asked about by the client that sent it.
    ("engine/http", &[("indexing", "sink")]),
    ("engine/logstash", &[("codec", "network"), ("input", "network"), ("output", "network")]),
    // A list holds maps, and a map holds lists.
    ("engine/logstash-event", &[("datum", "map")]),
    (
        "engine/pipeline",
        &[("endpoint", "connected"), ("endpoint", "queueing"), ("registry", "metered")],
    ),
    // What steers a run is handed to it, and what it steers are the parts of the run.
    ("engine/runtime", &[("outlet", "drain"), ("overseer", "run"), ("queue", "exchange")]),
    ("engine/testing", &[("process", "command")]),
];

/// The order in which a crate lists its modules is the order of their dependencies, so that it can be read
/// from top to bottom.
#[test]
fn modules_stand_behind_what_they_need() {
    let files = shipped();
    let mut found = Vec::new();
    for (root, text) in files.iter().filter(|(name, _)| name.ends_with("/src/lib.rs")) {
        let member = root.strip_suffix("/src/lib.rs").expect("it was found by its ending");
        let modules: Vec<&str> = text.lines().filter_map(declared_module).collect();
        let known = MUTUAL.iter().find(|(name, _)| *name == member).map_or(&[][..], |one| one.1);
        let mut upward = std::collections::BTreeSet::new();
        for (name, text) in &files {
            let Some(path) = name.strip_prefix(&format!("{member}/src/")) else { continue };
            let own = path.split(['/', '.']).next().expect("a path has a beginning");
            let Some(place) = modules.iter().position(|module| *module == own) else { continue };
            for module in &modules[place + 1..] {
                if needs(path, text, module) {
                    upward.insert((own.to_string(), (*module).to_string()));
                }
            }
        }
        let known = known.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
        let surprises: Vec<_> = upward.symmetric_difference(&known).collect();
        if !surprises.is_empty() {
            found.push(format!("{member}: {surprises:?}"));
        }
    }
    assert!(
        found.is_empty(),
        "modules that stand before what they need (or no longer do; see MUTUAL): {found:#?}"
    );
}

/// Whether a file, by its path below `src`, names a module of its crate's root.
fn needs(path: &str, text: &str, module: &str) -> bool {
    let file_is_module = path.ends_with("/mod.rs");
    let depth = path.matches('/').count() - usize::from(file_is_module);
    let upward = format!("{}{module}", "super::".repeat(depth + 1));
    let names = |line: &str, path: &str| {
        line.match_indices(path).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + path.len()..].chars().next();
            let is_part = |one: char| one.is_alphanumeric() || one == '_' || one == ':';
            !before.is_some_and(is_part)
                && !after.is_some_and(|one| one.is_alphanumeric() || one == '_')
        })
    };
    code(text).any(|line| names(line, &format!("crate::{module}")) || names(line, &upward))
}

/// Each library that a crate of the workspace uses has its reason on the page of the architecture, once.
#[test]
fn every_dependency_has_its_reason() {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).expect("it is there");
    let (manifest, page) = (read("Cargo.toml"), read("ARCHITECTURE.md"));
    let listed = manifest.split("[workspace.dependencies]\n").nth(1).expect("there are some");
    let listed = listed.split("\n[").next().expect("a text has a beginning");
    let names = listed.lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name);
    let table = page.split("## Dependencies").nth(1).expect("the page has the table");
    let rows = table.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let mut reasons = std::collections::BTreeMap::<&str, usize>::new();
    for name in rows.flat_map(|row| row.split(", ")) {
        *reasons.entry(name.split(' ').next().unwrap_or(name)).or_default() += 1;
    }
    let wrong: Vec<_> = names
        .filter(|name| !name.starts_with("temblor-") && reasons.get(name) != Some(&1))
        .map(|name| format!("{name}: {} rows", reasons.get(name).copied().unwrap_or(0)))
        .collect();
    assert!(wrong.is_empty(), "one row in the table Dependencies of ARCHITECTURE.md: {wrong:?}");
}

#[test]
fn every_file_says_what_lives_in_it() {
    let silent: Vec<_> = sources()
        .into_iter()
        .filter(|(_, text)| !text.starts_with("//!"))
        .map(|(n, _)| n)
        .collect();
    assert!(silent.is_empty(), "without a //! opening: {silent:?}");
}

#[test]
fn nothing_is_left_to_do() {
    let marks = ["todo!(", "unimplemented!(", "dbg!("];
    let found: Vec<_> = sources()
        .into_iter()
        .filter(|(_, text)| marks.iter().any(|mark| text.contains(mark)))
        .map(|(name, _)| name)
        .collect();
    assert!(found.is_empty(), "{found:?}");
}

/// Name, value, documentation and file of a limit.
type Limit = (String, String, String, String);

/// The constants whose names end in `_MAX`.
fn limits() -> Vec<Limit> {
    let mut list = Vec::new();
    for (file, text) in sources().iter().filter(|(file, _)| !file.starts_with("bench")) {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (at, line) in lines.iter().enumerate() {
            let Some(rest) = line.split_once("const ").map(|(_, rest)| rest) else { continue };
            let Some((name, rest)) = rest.split_once(':') else { continue };
            let is_constant = line.starts_with("const ") || line.starts_with("pub");
            if !is_constant || !name.ends_with("_MAX") {
                continue;
            }
            let Some((_, value)) = rest.split_once('=') else { continue };
            let docs: Vec<_> = lines[..at]
                .iter()
                .rev()
                .take_while(|line| line.starts_with("///"))
                .map(|line| line.trim_start_matches("///").trim())
                .collect();
            let docs = docs.into_iter().rev().collect::<Vec<_>>().join(" ").replace('|', "\\|");
            let value = value.trim().trim_end_matches(';').to_string();
            list.push((name.to_string(), value, docs, file.clone()));
        }
    }
    list
}

#[test]
fn every_limit_is_listed_and_documented() {
    let limits = limits();
    let bare: Vec<_> = limits.iter().filter(|(_, _, docs, _)| docs.is_empty()).collect();
    assert!(bare.is_empty(), "limits without documentation: {bare:?}");
    let mut page = String::from(
        "# Limits\n\nEvery queue, cache, buffer, recursion and input size is bounded by a named constant. This page is \
         made from the sources by a test.\n\n| limit | value | what it bounds | where |\n|---|---|---|---|\n",
    );
    for (name, value, docs, file) in &limits {
        let _ = writeln!(page, "| `{name}` | `{value}` | {docs} | `{file}` |");
    }
    let path = root().join("spec/limits.md");
    if std::env::var_os("TEMBLOR_BLESS").is_some() {
        std::fs::write(&path, &page).expect("the page can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "spec/limits.md is stale: run with TEMBLOR_BLESS=1");
}

/// Codes that no text alone can bring about: they need the budget or the interrupt of whoever tries a
/// program out, or a mistake of ours. Tests in Rust stand for them.
const WITHOUT_CASE: [&str; 4] = ["E0440", "E0441", "E0447", "E0499"];

#[test]
fn every_code_has_a_case() {
    let mut cases = String::new();
    read_cases(&root().join("spec"), &mut cases);
    let without = |code: &&str| !cases.contains(*code) && !WITHOUT_CASE.contains(code);
    let codes = temblor_lang::diagnostic::codes::pages().map(|page| page.code);
    // The codes of the Logstash front end have their cases beside it.
    let missing: Vec<_> =
        codes.filter(|code| !code[1..].starts_with("07")).filter(without).collect();
    assert!(missing.is_empty(), "without a case under spec/: {missing:?}");
}

/// Operators whose cases need files of their own: those in `operators/enrich.rs`.
const WITH_FILES: [&str; 1] = ["stream::enrich"];

#[test]
fn every_operator_and_each_of_its_settings_has_a_case() {
    let mut cases = String::new();
    read_cases(&root().join("spec/operators"), &mut cases);
    let words: std::collections::HashSet<&str> =
        cases.split(|one: char| !one.is_alphanumeric() && !"_:".contains(one)).collect();
    let mut missing = Vec::new();
    // The filters of Logstash have their cases beside their code.
    let is_ours = |path: &str| !path.starts_with("logstash::") && !WITH_FILES.contains(&path);
    for kind in temblor_catalog::registry().operators().filter(|kind| is_ours(kind.path)) {
        if !words.contains(kind.path) && kind.word.is_none_or(|word| !words.contains(word)) {
            missing.push(kind.path.to_string());
        }
        for setting in kind.settings.iter().filter(|setting| !words.contains(setting.name)) {
            missing.push(format!("{} with {}", kind.path, setting.name));
        }
        let ports = kind.ports.iter().filter(|port| port.chars().all(char::is_alphanumeric));
        for port in ports.filter(|port| !words.contains(*port)) {
            missing.push(format!("{}/{port}", kind.path));
        }
    }
    assert!(missing.is_empty(), "without a case under spec/operators: {missing:#?}");
}

fn read_cases(folder: &Path, cases: &mut String) {
    for entry in std::fs::read_dir(folder).expect("the folder is part of the repository") {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() {
            read_cases(&path, cases);
        } else if path.extension().is_some_and(|ending| ending == "txt" || ending == "cases") {
            cases.push_str(&std::fs::read_to_string(&path).expect("cases are UTF-8"));
        }
    }
}
