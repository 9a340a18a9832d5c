//! Inputs, outputs and codecs of Logstash configurations, run by the command: cases in text files, each with
//! the files that it reads and what it writes. `TEMBLOR_BLESS=1` rewrites what they expect.
//!
//! A case is a configuration; its sections are `in` for standard input, `file NAME` for files that are
//! there, `out` for standard output, `wrote NAME` for files that are written and `gone NAME` for those that
//! were there. The kind `edge until 2` ends a run that would go on after two lines of its output, with the
//! system's clock. Permissions are said where they are not those of other files. `${DIR}` is its folder.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use temblor_casebook::file::{Case, CaseFile, Section};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/logstash_edges_cases")
}

/// What a section says in place of bytes that no text holds.
fn readable(bytes: &[u8], place: &Path) -> String {
    let host = gethostname::gethostname().to_string_lossy().into_owned();
    let text: String = match std::str::from_utf8(bytes) {
        Ok(text) => text.to_string(),
        Err(_) => bytes.escape_ascii().to_string(),
    };
    let mut text = text
        .replace(&place.display().to_string(), "DIR")
        .replace(&format!("\"{host}\""), "\"HOST\"")
        .replace('\0', "\\0");
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str("(no newline)\n");
    }
    text
}

/// The sum and the length that a gzip file ends with.
const GZIP_TAIL_BYTES: usize = 8;

/// Bytes of a file's section; a name that ends in `.gz` is packed (`cut.gz` without its end), and one that ends in `.msgpack` is
/// written as hexadecimal digits.
fn bytes_of(name: &str, text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    if name.ends_with(".msgpack") {
        let digits = |pair: &str| u8::from_str_radix(pair, 16).expect("two digits");
        bytes = text.split_whitespace().map(digits).collect();
    }
    if name.ends_with(".gz") {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(&bytes).expect("memory takes it");
        bytes = packer.finish().expect("memory takes it");
    }
    if name == "cut.gz" {
        bytes.truncate(bytes.len() - GZIP_TAIL_BYTES);
    }
    bytes
}

fn read_file(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).expect("it was listed");
    if path.extension().is_none_or(|end| end != "gz") {
        return bytes;
    }
    let mut text = Vec::new();
    let mut reader = flate2::read::MultiGzDecoder::new(bytes.as_slice());
    std::io::Read::read_to_end(&mut reader, &mut text).expect("it is gzip");
    text
}

/// Runs a case: its sections as they turn out.
fn run(case: &Case, place: &Path) -> Vec<Section> {
    let _ = fs::remove_dir_all(place);
    fs::create_dir_all(place).expect("the target directory can be written");
    fs::write(place.join("case.conf"), &case.program).expect("the folder can be written");
    let given: Vec<&Section> = case
        .sections
        .iter()
        .filter(|one| one.name == "in" || one.name.starts_with("file "))
        .collect();
    for section in given.iter().filter(|one| one.name != "in") {
        let name = &section.name["file ".len()..];
        fs::write(place.join(name), bytes_of(name, &section.text)).expect("it can be written");
    }
    let mut words = case.kind.split_whitespace().skip(1).peekable();
    let until: Option<usize> = words.next_if_eq(&"until").and_then(|_| words.next()?.parse().ok());
    let mut arguments = vec!["run", "-q", "--workers", "1"];
    if until.is_none() {
        arguments.extend(["--virtual-clock", "1s"]);
    }
    let conf = place.join("case.conf").display().to_string();
    arguments.extend(["--logstash", &conf]);
    arguments.extend(words);
    let mut child = Command::new(env!("CARGO_BIN_EXE_temblor"))
        .args(arguments)
        .env("DIR", place)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command was built");
    let mut stdin = child.stdin.take().expect("it is piped");
    // A command that does not read its input may close it.
    let _ = stdin.write_all(case.section("in").unwrap_or_default().as_bytes());
    drop(stdin);
    let early = until.map(|lines| end_after(&mut child, lines));
    let mut ran = child.wait_with_output().expect("it ends");
    ran.stdout = early.unwrap_or(ran.stdout);
    let mut out = readable(&ran.stdout, place);
    if !ran.status.success() {
        out.push_str(&readable(&ran.stderr, place));
    }
    let given: Vec<Section> = given.into_iter().cloned().collect();
    found(given, out, place)
}

/// The sections that were given, what was written to standard output, and what became of the files.
fn found(given: Vec<Section>, out: String, place: &Path) -> Vec<Section> {
    let section = |name: String, text: String| Section { name, line: 0, text };
    let mut all: Vec<Section> = given.clone();
    all.push(section("out".to_string(), out));
    let files = files_in(place);
    for file in &files {
        let name = name_in(place, file);
        let before = given.iter().find(|one| one.name == format!("file {name}"));
        let is_same =
            |one: &&Section| fs::read(file).is_ok_and(|now| now == bytes_of(&name, &one.text));
        if name == "case.conf" || before.filter(is_same).is_some() {
            continue;
        }
        let bits = mode_of(file, place);
        match file.is_dir() {
            true if bits.is_empty() => {}
            true => all.push(section(format!("folder {name}{bits}"), String::new())),
            false => {
                let text = readable(&read_file(file), place);
                all.push(section(format!("wrote {name}{bits}"), text));
            }
        }
    }
    for one in given.iter().filter_map(|one| one.name.strip_prefix("file ")) {
        if !files.iter().any(|file| name_in(place, file) == one) {
            all.push(section(format!("gone {one}"), String::new()));
        }
    }
    all
}

/// The first lines that a run writes, which is then asked to end.
fn end_after(child: &mut Child, lines: usize) -> Vec<u8> {
    let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut read = Vec::new();
    for line in stdout.split(b'\n').take(lines) {
        read.extend(line.expect("it can be read"));
        read.push(b'\n');
    }
    let id = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    let id = id.expect("a process has a number");
    rustix::process::kill_process(id, rustix::process::Signal::TERM).expect("it runs");
    read
}

fn name_in(place: &Path, file: &Path) -> String {
    file.strip_prefix(place).unwrap_or(file).display().to_string()
}

/// What a folder holds, in the order of the names.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("it is there");
    let mut all = Vec::new();
    for path in entries.map(|entry| entry.expect("it can be listed").path()) {
        if path.is_dir() {
            all.extend(files_in(&path));
        }
        all.push(path);
    }
    all.sort();
    all
}

/// The permissions of a file where they are not those of the others.
fn mode_of(file: &Path, place: &Path) -> String {
    let mode = |path: &Path| {
        fs::metadata(path)
            .map_or(0, |data| std::os::unix::fs::PermissionsExt::mode(&data.permissions()))
    };
    let usual = if file.is_dir() { mode(place) } else { mode(&place.join("case.conf")) };
    match mode(file) {
        same if same == usual => String::new(),
        other => format!(", mode {:o}", other & 0o7777),
    }
}

#[test]
fn edges_give_what_they_say() {
    let blesses = std::env::var_os("TEMBLOR_BLESS").is_some();
    let mut files: Vec<PathBuf> = fs::read_dir(folder())
        .expect("it is there")
        .map(|entry| entry.expect("it is listed").path())
        .collect();
    files.sort();
    let (mut count, mut faults) = (0, Vec::new());
    for file in files {
        let text = fs::read_to_string(&file).expect("it can be read");
        let mut book = CaseFile::read(&text);
        for (number, case) in book.cases.iter_mut().enumerate() {
            let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("edges").join(format!(
                "{}-{number}",
                file.file_stem().unwrap_or_default().to_string_lossy()
            ));
            let found = run(case, &place);
            let shown = |sections: &[Section]| -> String {
                let shown = sections
                    .iter()
                    .map(|one| format!("--- {}\n{}\n", one.name, one.text.trim_end()));
                shown.collect()
            };
            count += 1;
            if shown(&found) != shown(&case.sections) {
                faults.push(format!(
                    "{}:{}: {}\nexpected\n{}found\n{}",
                    file.display(),
                    case.line,
                    case.name,
                    shown(&case.sections),
                    shown(&found)
                ));
                case.sections = found;
            }
        }
        if blesses {
            fs::write(&file, book.write()).expect("it can be written");
        }
    }
    assert!(count > 20, "only {count} cases were found");
    assert!(blesses || faults.is_empty(), "{}\n(TEMBLOR_BLESS=1 accepts)", faults.join("\n"));
}

/// A configuration whose filters and codec remember something, and what it writes.
const REMEMBERING: &str = r#"
input { file { path => "${DIR}/in.log" mode => "read" codec => multiline { pattern => "^ " what => previous } } }
filter {
  if [message] =~ "=" { kv { } } else { drop { } }
  throttle { key => "%{k}" after_count => 2 period => 100000 max_age => 1000000 add_tag => "throttled" }
  aggregate { task_id => "%{k}" code => "map['n'] ||= 0; map['n'] += 1; event.set('n', map['n'])" timeout => 100000 }
  csv { source => "k" autodetect_column_names => true target => "row" }
  mutate { add_tag => ["%{k}"] }
  elapsed { start_tag => "start" end_tag => "end" unique_id_field => "id" }
}
output { file { path => "${DIR}/out.log" codec => line { format => "%{k} %{n} %{tags} %{row}" } } }
"#;

#[test]
fn what_filters_remember_outlives_a_run() {
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("edges-state");
    let lines = ["k=a", "k=b", "k=a", "k=a", "k=a", "k=start id=1", "k=end id=1", "k=b"];
    let run = |state: &Path, lines: &[&str]| {
        fs::write(place.join("in.log"), lines.join("\n") + "\n")
            .expect("the folder can be written");
        let conf = place.join("case.conf").display().to_string();
        let state = state.display().to_string();
        let clock = ["run", "-q", "--workers", "1", "--virtual-clock", "1s"];
        let files = ["--logstash", &conf, "--state", &state];
        temblor_testing::temblor(clock.iter().chain(&files)).env("DIR", &place).run().succeeded();
        fs::read_to_string(place.join("out.log")).expect("it was written")
    };
    let start = || {
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(&place).expect("the target directory can be written");
        fs::write(place.join("case.conf"), REMEMBERING).expect("the folder can be written");
    };
    start();
    let whole = run(&place.join("one"), &lines);
    assert!(whole.contains("a 4 throttled,a") && whole.contains("elapsed_match"), "{whole}");
    start();
    let mut parts = String::new();
    for end in 1..=lines.len() {
        parts = run(&place.join("many"), &lines[..end]);
    }
    assert_eq!(parts, whole);
}
