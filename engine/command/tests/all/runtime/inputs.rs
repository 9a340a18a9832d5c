//! Files that are missing, many, compressed, too long, cut short or damaged.
//!
//! Invariant: what is wrong with one input is named and counted, and stops no other.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use temblor_runtime::source::OpenSource;

use temblor_connect::source::SourceConfig;
use temblor_connect::source::file::FileConfig;
use temblor_runtime::batch::Batch;
use temblor_runtime::error::Error;
use temblor_runtime::framing::Framing;
use temblor_runtime::limits::LINE_BYTES_MAX;
use temblor_runtime::outputs::Outputs;
use temblor_runtime::processor::Processor;
use temblor_runtime::run::{RunPlan, run};
use temblor_runtime::turnstile::Turn;

use crate::runtime::support::{Copy, Directory, copy, file_source, lines, plan};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn refusal(input: &Path, output: &Path) -> String {
    let error = run(plan(input, output), |_| Ok(Box::new(Copy))).unwrap_err();
    assert_eq!(error.exit_code(), 4);
    error.to_string()
}

#[test]
fn inputs_that_cannot_be_read_are_refused_before_anything_is_written() {
    let directory = Directory::new("refused");
    let output = directory.path("out");
    let missing = refusal(&directory.path("missing.log"), &output);
    assert!(missing.contains("missing.log: no such file"), "{missing}");
    let pattern = refusal(&directory.path("*.log"), &output);
    assert!(pattern.contains("no file matches the pattern"), "{pattern}");
    let folder = refusal(&directory.0, &output);
    assert!(folder.contains("is a directory") && folder.contains("/*`"), "{folder}");
    assert!(!output.exists());
}

#[test]
fn an_empty_file_gives_no_events_and_no_error() {
    let directory = Directory::new("empty");
    let input = directory.write("in.log", b"");
    let summary = copy(plan(&input, &directory.path("out")));
    assert_eq!((summary.counts.events(), summary.exit_code()), (0, 0));
}

#[test]
fn the_files_of_a_pattern_are_read_in_the_order_of_their_names_compressed_or_not() {
    let directory = Directory::new("many");
    directory.write("c.log", b"3\n");
    directory.write("a.log", b"1");
    directory.write("b.log.gz", &[gzip(b"2\n"), gzip(b"2b\n")].concat());
    let output = directory.path("out");
    copy(plan(&directory.path("*.log*"), &output));
    assert_eq!(std::fs::read(output).unwrap(), b"1\n2\n2b\n3\n");
}

#[test]
fn a_damaged_file_is_reported_and_the_next_is_read() {
    let directory = Directory::new("damaged");
    let bytes = gzip(&lines(10_000));
    directory.write("a.gz", &bytes[..bytes.len() / 2]);
    directory.write("b.gz", b"no gzip at all\n");
    directory.write("c.log", b"last\n");
    let outside = Directory::new("damaged-out");
    let output = outside.path("out");
    let summary = copy(plan(&directory.path("*"), &output));
    let errors = summary.counts.errors.clone();
    assert_eq!(errors, [("frame".to_string(), 1), ("source".to_string(), 2)]);
    assert_eq!(summary.exit_code(), 4);
    let text = std::fs::read_to_string(output).unwrap();
    assert!(text.starts_with("0 \n1 xxx") && text.ends_with("\nlast\n"), "read until it broke off");
}

#[test]
fn a_line_beyond_the_limit_is_one_error_and_the_others_go_on() {
    let directory = Directory::new("long");
    let mut content = b"before\n".to_vec();
    content.resize(content.len() + LINE_BYTES_MAX + 1, b'x');
    content.push(b'\n');
    let longest = content.len()..content.len() + LINE_BYTES_MAX;
    content.resize(longest.end, b'y');
    content.extend_from_slice(b"\nafter");
    let input = directory.write("in.log", &content);
    let output = directory.path("out");
    let summary = copy(plan(&input, &output));
    assert_eq!(summary.counts.errors, [("frame".to_string(), 1)]);
    let expected = [b"before\n", &content[longest], b"\nafter\n"].concat();
    assert!(std::fs::read(output).unwrap() == expected);
}

#[test]
fn reading_can_begin_behind_the_start_of_a_file() {
    let directory = Directory::new("skip");
    directory.write("a.log", b"one\ntwo\n");
    directory.write("b.gz", &gzip(b"111\n222\n"));
    let outside = Directory::new("skip-out");
    let output = outside.path("out");
    let patterns = vec![directory.path("*").display().to_string()];
    let config = FileConfig { skip_bytes: 4, ..FileConfig::once(patterns, Framing::Lines) };
    let sources: Vec<Arc<dyn OpenSource>> = vec![Arc::new(SourceConfig::File(config))];
    copy(RunPlan { sources, ..plan(&output, &output) });
    let written = std::fs::read(output).unwrap();
    assert_eq!(written, b"two\n222\n");
}

#[test]
fn a_named_pipe_is_read_until_its_writer_closes_it() {
    let directory = Directory::new("fifo");
    let fifo = directory.path("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let output = directory.path("out");
    let content = lines(5_000);
    std::thread::scope(|scope| {
        scope.spawn(|| std::fs::write(&fifo, &content).unwrap());
        copy(RunPlan { sources: vec![Arc::new(file_source(&fifo))], ..plan(&fifo, &output) });
    });
    assert!(std::fs::read(output).unwrap() == content);
}

/// Does something to a file when it sees the first batch, then copies.
struct Meddle(Option<Box<dyn FnOnce() + Send>>);

impl Processor for Meddle {
    fn process(
        &mut self,
        batch: &mut Batch,
        turn: &mut Turn<'_>,
        out: &mut Outputs,
    ) -> Result<(), Error> {
        if let Some(meddle) = self.0.take() {
            meddle();
        }
        Copy.process(batch, turn, out)
    }
}

/// More than the queues hold, so that the source is still reading when the first batch is processed.
const MANY_LINES: usize = 200_000;

#[test]
fn a_file_that_is_truncated_while_read_is_reported() {
    let directory = Directory::new("truncated");
    let input = directory.write("in.log", &lines(MANY_LINES));
    let plan = plan(&input, &directory.path("out"));
    let summary = run(plan, |_| {
        let file = OpenOptions::new().write(true).open(&input).unwrap();
        Ok(Box::new(Meddle(Some(Box::new(move || file.set_len(10).unwrap())))))
    });
    let summary = summary.unwrap();
    assert_eq!(summary.exit_code(), 4);
    let text = summary.error.unwrap().to_string();
    assert!(text.contains("truncated while it was read"), "{text}");
    assert!(summary.counts.events() > 0 && summary.counts.events() < MANY_LINES as u64);
}

#[test]
fn a_file_that_grows_while_read_is_read_to_its_end() {
    let directory = Directory::new("grown");
    let content = lines(MANY_LINES);
    let input = directory.write("in.log", &content);
    let output = directory.path("out");
    let plan = plan(&input, &output);
    run(plan, |_| {
        let mut file = OpenOptions::new().append(true).open(&input).unwrap();
        let grow = move || file.write_all(b"more\n").unwrap();
        Ok(Box::new(Meddle(Some(Box::new(grow)))))
    })
    .unwrap();
    assert!(std::fs::read(output).unwrap() == [&content[..], b"more\n"].concat());
}
