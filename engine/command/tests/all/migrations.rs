//! Configurations of syslog-ng and rsyslog under `spec/migrate/`: what each becomes, that the conversion passes `check`,
//! and what it makes of messages. `TEMBLOR_BLESS=1` rewrites what is expected. Where syslog-ng and rsyslogd are installed,
//! both programs get the same messages, and their files must be equal byte for byte.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use temblor_testing::{Process, free_port, peer, temblor, wait_until};

/// Fewer cases than this were not all found.
const CASES_MIN: usize = 40;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

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

fn files() -> Vec<PathBuf> {
    let folder = root().join("spec/migrate");
    let entries = std::fs::read_dir(folder).expect("the cases are in the repository");
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.expect("it can be listed").path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "cases"));
    files.sort();
    files
}

/// Converts a configuration in its folder.
fn convert(kind: &str, folder: &Path, more: &[&str]) -> (String, String, Option<i32>) {
    let arguments = [&["convert", kind, "main.conf"], more].concat();
    let ran = temblor(&arguments).folder(folder).env("TZ", "UTC").run();
    (ran.out, ran.err, ran.code)
}

/// Plays a case; gives it as it should be written.
fn play(kind: &str, case: &Case, folder: &Path) -> String {
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder).expect("the target directory can be written");
    for section in &case.sections {
        if let Some(name) = section.head.strip_prefix("file ") {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("as above");
            let body = section.body.trim_end_matches('\n').to_string() + "\n";
            std::fs::write(path, body).expect("as above");
        }
    }
    let (report, said, code) = convert(kind, folder, &["-o", "main.tmb", "--report"]);
    let mut shown = format!("exit {}\n", code.expect("it ended by itself"));
    let lines = report.lines().filter(|line| !line.ends_with(": exact"));
    for line in lines {
        let _ = writeln!(shown, "{line}");
    }
    if code == Some(0) || code == Some(3) {
        let checked = temblor(["check", "main.tmb"]).folder(folder).run();
        // Certificates are where the configuration runs.
        let faults: Vec<&str> =
            checked.err.lines().filter(|line| line.starts_with("error")).collect();
        let misses = faults.iter().all(|fault| fault.contains("No such file or directory"));
        assert!(
            checked.code == Some(0) || misses && !faults.is_empty(),
            "{}: {}",
            case.name,
            checked.err
        );
    }
    let mut text = format!("=== {}\n", case.name);
    for section in &case.sections {
        let body = match section.head.as_str() {
            "report" => shown.clone(),
            "said" => said.clone(),
            "converted" => std::fs::read_to_string(folder.join("main.tmb")).unwrap_or_default(),
            "out" => {
                let input = case.sections.iter().find(|one| one.head == "in");
                let input = input.map(|one| one.body.trim_end_matches('\n').to_string() + "\n");
                let (program, _, _) = convert(kind, folder, &["--stdin", "--stdout"]);
                std::fs::write(folder.join("io.tmb"), program).expect("as above");
                let ran = temblor(["run", "-q", "--workers", "1", "io.tmb"])
                    .folder(folder)
                    .input(input.unwrap_or_default())
                    .run();
                ran.out + &ran.err
            }
            _ => section.body.clone(),
        };
        let body = body.trim_end_matches('\n');
        let _ =
            write!(text, "--- {}\n{body}{}", section.head, if body.is_empty() { "" } else { "\n" });
    }
    text.push('\n');
    text
}

#[test]
fn configurations_become_what_the_cases_say() {
    let mut count = 0;
    for file in files() {
        let name = file.file_stem().expect("it has a name").to_string_lossy().into_owned();
        let kind = if name.starts_with("rsyslog") { "rsyslog" } else { "syslog-ng" };
        let written = std::fs::read_to_string(&file).expect("cases are UTF-8");
        let mut played = String::new();
        for (number, case) in cases(&written).iter().enumerate() {
            let folder =
                PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{number}"));
            played.push_str(&play(kind, case, &folder));
            count += 1;
        }
        let played = played.trim_end_matches('\n').to_string() + "\n";
        if std::env::var_os("TEMBLOR_BLESS").is_some() {
            std::fs::write(&file, &played).expect("it can be written");
        } else {
            assert!(
                written == played,
                "{} is stale: run with TEMBLOR_BLESS=1\n{}",
                file.display(),
                difference(&written, &played)
            );
        }
    }
    assert!(count >= CASES_MIN, "{count} cases");
}

/// The first line in which two texts differ.
fn difference(left: &str, right: &str) -> String {
    let differs = left.lines().zip(right.lines()).find(|(left, right)| left != right);
    differs.map_or_else(String::new, |(left, right)| format!("-{left}\n+{right}"))
}

/// Texts that nobody meant as configurations are refused with a place, or read; none ends the process.
#[test]
fn hostile_texts_are_refused_with_a_place() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("hostile-migrations");
    std::fs::create_dir_all(&folder).expect("the target directory can be written");
    let deep = format!("filter f {{ {}level(err){} }};", "(".repeat(5_000), ")".repeat(5_000));
    let blocks: String = (0..100)
        .map(|number| {
            format!("block source b{number}() {{ b{}(); b{}(); }};\n", number + 1, number + 1)
        })
        .collect();
    let binary: String = (0_u8..=255).map(char::from).collect();
    let texts = [
        deep,
        format!("{blocks}source s {{ b0(); }};"),
        "@include \"main.conf\"\n".to_string(),
        "$IncludeConfig main.conf\n".to_string(),
        format!("if {}1 then stop", "(".repeat(5_000)),
        format!("{}stop", "if 1 then {\n".repeat(5_000)),
        "ruleset(name=\"a\") { call a }\ninput(type=\"imudp\" ruleset=\"a\")\n".to_string(),
        "source s { udp(".to_string(),
        "log { source(s); filter { program(\"a\" } };".to_string(),
        "destination d { file(\"/x\" template(\"$(echo $(echo $(echo\")); };".to_string(),
        binary.repeat(40),
        "}}}}))))".to_string(),
        "\u{feff}".to_string(),
        "template(name=\"t\" type=\"string\" string=\"%msg\")\n*.* /x;t\n".to_string(),
        "*.* /a\n".repeat(2_000),
    ];
    for text in &texts {
        std::fs::write(folder.join("main.conf"), text).expect("as above");
        for kind in ["syslog-ng", "rsyslog"] {
            let begin = Instant::now();
            let (_, said, code) = convert(kind, &folder, &[]);
            let shown: String = text.chars().take(60).collect();
            assert!(matches!(code, Some(0 | 1 | 3)), "{kind} {shown:?}: {code:?} {said}");
            assert!(!said.contains("panicked"), "{kind} {shown:?}: {said}");
            assert!(begin.elapsed() < Duration::from_secs(60), "{kind} {shown:?} takes too long");
            if code == Some(1) {
                assert!(said.contains("-->"), "{kind} {shown:?} has no place: {said}");
            }
        }
    }
}

/// The contents of all files below a folder that are not empty.
fn made(folder: &Path) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).expect("it is below").display().to_string();
            let text =
                String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).into_owned();
            if !text.is_empty() {
                out.insert(name, text);
            }
        }
    }
    out
}

/// The messages of a folder of cases, in one text.
fn messages(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("messages.log")).expect("the folder has messages")
}

/// Configurations of a folder: name and text.
fn configurations(folder: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder).expect("the folder is in the repository");
    let mut found: Vec<(String, String)> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "conf"))
        .map(|path| {
            let name = path.file_stem().expect("it has one").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("configurations are UTF-8"))
        })
        .collect();
    found.sort();
    found
}

/// Runs a program until its files stay as they are; gives them.
fn settled(out: &Path, process: Process) -> BTreeMap<String, String> {
    let mut last = made(out);
    let mut since = Instant::now();
    wait_until("the files of the program stay as they are", || {
        let now = made(out);
        if now != last {
            (last, since) = (now, Instant::now());
        }
        !last.is_empty() && since.elapsed() > Duration::from_millis(1_500)
    });
    let _ = process.terminate();
    made(out)
}

/// Sends all messages over TCP, as lines.
fn send(port: u16, text: &str) {
    let mut stream = None;
    wait_until("somebody listens", || {
        stream = TcpStream::connect(("127.0.0.1", port)).ok();
        stream.is_some()
    });
    let mut stream = stream.expect("it was waited for");
    stream.write_all(text.as_bytes()).expect("the peer reads");
}

/// Both programs get the same messages; what they write must be equal.
fn compare(kind: &str, program: &str, start: impl Fn(&str, &Path) -> Process) {
    let cases = root().join("spec/migrate/beside").join(kind);
    let text = messages(&cases);
    let configurations = configurations(&cases);
    assert!(configurations.len() >= 12, "{} configurations of {program}", configurations.len());
    let mut wrong = Vec::new();
    for (name, configuration) in configurations {
        let folder =
            PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("beside-{kind}-{name}"));
        let _ = std::fs::remove_dir_all(&folder);
        let mut found = Vec::new();
        for side in ["theirs", "ours"] {
            let (place, out) = (folder.join(side), folder.join(side).join("out"));
            std::fs::create_dir_all(&out).expect("the target directory can be written");
            let port = free_port();
            let filled = configuration
                .replace("@OUT@", &out.display().to_string())
                .replace("@IN@", &place.join("messages.log").display().to_string())
                .replace("@DIR@", &place.display().to_string())
                .replace("@PORT@", &port.to_string());
            std::fs::write(place.join("messages.log"), &text).expect("as above");
            let conf = place.join("main.conf");
            std::fs::write(&conf, &filled).expect("as above");
            let process = if side == "theirs" {
                start(&conf.display().to_string(), &place)
            } else {
                let tmb = place.join("main.tmb").display().to_string();
                let ran = temblor(["convert", kind, &conf.display().to_string(), "-o", &tmb]).run();
                assert_eq!(ran.code, Some(0), "{name}: {}", ran.err);
                temblor(["run", "-q", &tmb]).start()
            };
            if configuration.contains("@PORT@") {
                send(port, &text);
            }
            found.push(settled(&out, process));
        }
        if found[0] != found[1] {
            for (file, theirs) in &found[0] {
                let ours = found[1].get(file).map_or("", String::as_str);
                if theirs != ours {
                    wrong.push(format!("{name}/{file}:\n{}", difference(theirs, ours)));
                }
            }
            wrong.push(format!("{name}: {:?} and {:?}", found[0].keys(), found[1].keys()));
        }
    }
    assert!(wrong.is_empty(), "{program} and Temblor differ:\n{}", wrong.join("\n"));
}

#[test]
fn syslog_ng_and_its_conversions_write_the_same() {
    let Some(program) = peer("SYSLOG_NG") else { return };
    compare("syslog-ng", "syslog-ng", |conf, place| {
        let own = |name: &str| place.join(name).display().to_string();
        let mut command = Command::new(&program);
        command.args(["-F", "-f", conf, "--no-caps", "--persist-file", &own("persist")]);
        command.args(["--pidfile", &own("pid"), "--control", &own("control")]).env("TZ", "UTC");
        Process::start(command)
    });
}

#[test]
fn rsyslog_and_its_conversions_write_the_same() {
    let Some(program) = peer("RSYSLOGD") else { return };
    compare("rsyslog", "rsyslogd", |conf, place| {
        let pid = place.join("pid").display().to_string();
        let mut command = Command::new(&program);
        command.args(["-n", "-f", conf, "-i", &pid]).env("TZ", "UTC");
        Process::start(command)
    });
}
