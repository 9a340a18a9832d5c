//! Configurations of Splunk Eventgen under `spec/eventgen/`: what each makes, writes and says under a virtual
//! clock, and that the program it converts to makes the same. `TEMBLOR_BLESS=1` rewrites what is expected.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use temblor_generate::source::Generated;
use temblor_generate::{Spec, Stream, eventgen};
use temblor_pipeline::load::LoadOptions;

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
            let compiled = LoadOptions::new(temblor_catalog::registry()).text(&program);
            assert!(!compiled.has_errors(), "{}\n{program}\n{}", case.name, compiled.report(false));
            // What sinks give back are sources, too.
            let sources = compiled.endpoints.sources.iter();
            let made = sources.filter_map(|one| one.config_as::<Generated>());
            for (stanza, made) in loaded.stanzas.iter().zip(made) {
                let (ours, theirs) = (events(&stanza.spec), events(&made.spec));
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

/// A server of HTTP that answers `{}` to everything: its port, and what it was sent (a line of the request,
/// then its body).
fn collector() -> (u16, std::sync::mpsc::Receiver<(String, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("the loopback address has free ports");
    let port = listener.local_addr().expect("it is bound").port();
    let (requests, taken) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let requests = requests.clone();
            std::thread::spawn(move || {
                let mut reader = BufReader::new(&stream);
                while let Some(request) = request(&mut reader) {
                    let _ = requests.send(request);
                    let _ = (&stream).write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
                }
            });
        }
    });
    (port, taken)
}

fn request(reader: &mut impl BufRead) -> Option<(String, String)> {
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|bytes| *bytes > 0)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(bytes) = line.to_lowercase().strip_prefix("content-length:") {
            length = bytes.trim().parse().ok()?;
        }
        if head.is_empty() {
            head = line;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let path = head.split(' ').nth(1).unwrap_or_default().to_string();
    Some((path, String::from_utf8_lossy(&body).into_owned()))
}

/// What a configuration sends to two collectors on its way through the sinks of programs.
fn sent(stanza: &str) -> [Vec<(String, String)>; 2] {
    let folder = temblor_testing::Folder::new();
    let ((first, taken), (second, also)) = (collector(), collector());
    let server = |port: u16| {
        format!(r#"{{"protocol": "http", "address": "127.0.0.1", "port": "{port}", "key": "k"}}"#)
    };
    let servers = format!(r#"{{"servers": [{}, {}]}}"#, server(first), server(second));
    let stanza = stanza.replace("SERVERS", &servers).replace("PORT", &first.to_string());
    folder.write("eventgen.conf", format!("[a.sample]\nrandomizeCount = 0\n{stanza}"));
    folder.write("samples/a.sample", "{\"metric_name\":\"a\"}\n{\"metric_name\":\"b\"}\n");
    let arguments = [
        "generate",
        "--conf",
        "eventgen.conf",
        "--virtual-clock",
        "--start",
        "2026-01-05T00:00:00Z",
    ];
    let ran = temblor_testing::temblor(arguments).folder(folder.path()).run();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    [taken.try_iter().collect(), also.try_iter().collect()]
}

#[test]
fn collectors_take_turns_or_take_all_with_times_of_the_virtual_clock() {
    let lines = |requests: &[(String, String)]| -> Vec<String> {
        requests.iter().flat_map(|(_, body)| body.lines().map(str::to_string)).collect()
    };
    let stanza = "count = 2\nend = 3\nsourcetype = st\nhttpeventServers = SERVERS\n";
    let [first, second] = sent(&format!("{stanza}outputMode = httpevent\n"));
    let first_line = r#"{"time":1767571200.0,"host":"127.0.0.1","source":"a.sample","sourcetype":"st","index":"main","event":"{\"metric_name\":\"a\"}"}"#;
    assert_eq!((lines(&first).len(), lines(&second).len()), (3, 3));
    assert_eq!(lines(&first)[0], first_line);
    assert_eq!(first[0].0, "/services/collector/event");
    let mirrored = format!("{stanza}httpeventOutputMode = mirror\noutputMode = metric_httpevent\n");
    let [first, second] = sent(&mirrored);
    assert_eq!(lines(&first), lines(&second));
    let last = lines(&first).pop().expect("there are events");
    let end = r#""fields":{"metric_name":"b"},"event":"metric"}"#;
    assert!(lines(&first).len() == 6 && last.starts_with(r#"{"time":1767571320.0,"#), "{last}");
    assert!(last.ends_with(end), "{last}");
}

#[test]
fn the_receiver_of_a_server_is_told_what_an_event_is() {
    let [taken, _] = sent(
        "count = 1\nend = 1\noutputMode = splunkstream\nsplunkHost = 127.0.0.1\nsplunkPort = PORT\n\
         splunkMethod = http\nsplunkUser = a\nsplunkPass = b\nsource = /var/a b\nhost = h&1\n",
    );
    let path = "/services/receivers/simple?host=h%261&source=%2Fvar%2Fa%20b&sourcetype=eventgen&index=main";
    assert_eq!(taken, [(path.to_string(), "{\"metric_name\":\"a\"}\n".to_string())]);
}

#[test]
fn the_example_makes_what_its_page_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("examples/eventgen/README.md"));
    let page = page.expect("the example has a page");
    let mut shown = page.lines().skip_while(|line| !line.starts_with("$ temblor generate"));
    let mut count = 0;
    while let Some(command) = shown.find(|line| line.starts_with("$ temblor generate")) {
        let arguments: Vec<_> = command.split_whitespace().skip(2).map(str::to_string).collect();
        let (out, said) = run(&arguments, &root);
        let lines: Vec<_> = page
            .lines()
            .skip_while(|line| *line != command)
            .skip(1)
            .take_while(|line| !line.starts_with("```") && !line.starts_with('$'))
            .collect();
        assert_eq!(out.lines().collect::<Vec<_>>(), lines, "{command}: {said}");
        count += 1;
    }
    assert_eq!(count, 2, "both commands are tried");
}
