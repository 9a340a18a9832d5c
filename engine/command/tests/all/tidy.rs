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
const WITHOUT_CASE: [&str; 3] = ["E0440", "E0441", "E0499"];

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
        } else if path.extension().is_some_and(|ending| ending == "txt") {
            cases.push_str(&std::fs::read_to_string(&path).expect("cases are UTF-8"));
        }
    }
}
