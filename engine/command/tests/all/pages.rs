//! The pages of `temblor explain` say the truth: the wrong example gets its code, the right one
//! neither errors nor the code.

use std::path::Path;
use temblor_casebook::file::CaseFile;
use temblor_casebook::run::{DIAGNOSTICS, OUTPUT, update};
use temblor_catalog::registry;
use temblor_lang::diagnostic::codes::{self, Page};
use temblor_pipeline::load::LoadOptions;

/// The event that the examples about running programs are made for.
const EVENT: &str = r#"{"a": 1, "b": "s", "c": [1, 2], "d": {"x": 1}}"#;
/// Codes whose examples need modules or files, are typed into the REPL, or would be longer than a page.
const WITHOUT_EXAMPLE: [&str; 8] =
    ["E0308", "E0324", "E0440", "E0441", "E0447", "E0499", "E0516", "E0609"];

fn kind(text: &str) -> &'static str {
    if text.starts_with("define flow") {
        return "deploy";
    }
    let text = text.lines().find(|line| !line.starts_with("use ")).unwrap_or("");
    let word = text.split_whitespace().next().unwrap_or("");
    match word {
        "define" | "create" | "select" => "query",
        "dedup" | "where" | "enrich" | "source" | "table" | "set" | "in" | "parse"
        | "rate_limit" | "sample" => "program",
        _ => "script",
    }
}

/// Everything that is said about a text, with what comes of the event.
fn said(text: &str) -> String {
    // Flows bring their own events.
    let asks = text.contains("--- in") || kind(text) == "deploy";
    let input = if asks { "---\n".to_string() } else { format!("--- in\n{EVENT}\n") };
    let text = format!("=== {}: page\n{text}\n{input}", kind(text));
    let mut case = CaseFile::read(&text).cases.remove(0);
    update(&mut case, Path::new("."), &LoadOptions::new(registry()))
        .expect("pages hold no sections");
    let section = |name| case.section(name).unwrap_or_default();
    format!("{}\n{}", section(DIAGNOSTICS), section(OUTPUT))
}

fn fault(page: &Page) -> Option<String> {
    let wrong = said(page.wrong);
    if !wrong.contains(page.code) && !WITHOUT_EXAMPLE.contains(&page.code) {
        return Some(format!("{} is not what its wrong example gets: {wrong}", page.code));
    }
    let right = said(page.right);
    let errors = right.lines().any(|line| line.contains(" E0") || line.contains(page.code));
    errors.then(|| format!("{}: its right example gets {right}", page.code))
}

/// Codes about configurations whose examples would need files, or be longer than a page.
const CONFIGURATIONS_WITHOUT_EXAMPLE: [&str; 4] = ["E0703", "E0709", "E0716", "E0724"];

/// Whether a page is about Logstash configurations.
fn is_of_configurations(page: &&Page) -> bool {
    page.code[1..].starts_with("07") && page.code != "E0721"
}

/// Whether a page is about configurations of syslog-ng and rsyslog; those about steps are not.
fn is_of_daemons(page: &&Page) -> bool {
    page.code[1..].starts_with("08") && page.code != "E0807" && page.code != "E0808"
}

#[test]
fn examples_of_daemons_get_their_codes() {
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join("page.conf");
    for page in codes::pages().filter(is_of_daemons) {
        let said = |text: &str| {
            std::fs::write(&file, text).expect("the target directory can be written");
            let wishes = temblor_migrate::Wishes::default();
            let made = temblor_migrate::syslog_ng::convert(&file, wishes).expect("it is there");
            made.diagnostics.into_iter().map(|one| one.code).collect::<Vec<_>>()
        };
        // A page about limits would have to be longer than they are.
        if page.code != "E0805" {
            assert!(said(page.wrong).contains(&page.code), "{}: {:?}", page.code, said(page.wrong));
        }
        assert_eq!(said(page.right), Vec::<&str>::new(), "{}", page.code);
    }
}

#[test]
fn examples_of_configurations_get_their_codes() {
    for page in codes::pages().filter(is_of_configurations) {
        let said = |text: &str| {
            let (found, _) = temblor_logstash::configuration::diagnose("page", text.into());
            found.into_iter().map(|one| one.code).collect::<Vec<_>>()
        };
        if !CONFIGURATIONS_WITHOUT_EXAMPLE.contains(&page.code) {
            let wrong = said(page.wrong);
            assert!(wrong.contains(&page.code), "{}: {wrong:?}", page.code);
            let right = said(page.right);
            assert!(right.iter().all(|code| code.starts_with('W')), "{}: {right:?}", page.code);
            assert!(!right.contains(&page.code), "{}: {right:?}", page.code);
        }
    }
}

#[test]
fn examples_get_their_codes() {
    let pages = codes::pages().filter(|page| page.code > "E0300" && page.code != "W0620");
    let pages = pages.filter(|page| !is_of_configurations(page) && !is_of_daemons(page));
    let faults: Vec<_> = pages.filter_map(fault).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Codes whose examples are too long for a page are made here.
#[test]
fn limits_get_their_codes() {
    let mut modules = String::from("use m0;\n1\n");
    for number in 0..70 {
        let next = number + 1;
        modules.push_str(&format!("--- module m{number}.tremor\nuse m{next};\nconst A = 1;\n"));
    }
    assert!(said(modules.trim_end()).contains("E0308"));
    let mut pipeline = String::from("select event from in into out");
    for depth in 0..80 {
        pipeline = format!(
            "define pipeline p{depth} pipeline {pipeline} end; create pipeline p{depth}; \
             select event from in into p{depth}; select event from p{depth} into out"
        );
    }
    let found = said(&pipeline);
    assert!(found.contains("E0516") || found.contains("E0202"), "{found}");
    let many = (0..300).map(|one| one.to_string()).collect::<Vec<_>>().join(",");
    let groups = format!(
        "select 1 from in group by set(each(event.a), each(event.a)) into out\n--- in\n{{\"a\": [{many}]}}"
    );
    assert!(said(&groups).contains("E0429"));
}

/// Every code that the sources can raise has a page.
#[test]
fn every_code_has_a_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders: Vec<_> =
        ["lang/src", "stdlib/src", "engine"].map(|folder| root.join(folder)).into();
    let mut without = std::collections::BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("it is in the repository").flatten() {
            let path = entry.path();
            if path.is_dir() {
                // Tests name codes that nobody raises.
                folders.extend((!path.ends_with("tests")).then_some(path));
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(&path).expect("sources are text");
                let quoted = text.split('"').filter(|part| is_code(part));
                let missing = quoted.filter(|code| codes::page(code).is_none());
                without.extend(missing.map(String::from));
            }
        }
    }
    assert!(without.is_empty(), "codes without a page: {without:?}");
}

/// `E0401`, `W0620`
fn is_code(text: &str) -> bool {
    let digits = text.strip_prefix(['E', 'W']).unwrap_or("");
    digits.len() == 4 && digits.starts_with('0') && digits.bytes().all(|one| one.is_ascii_digit())
}
