//! The runtime from end to end with a processor that copies lines.
//!
//! Invariant: nothing here knows of the language.
#![allow(clippy::unwrap_used, reason = "tests end where they fail")]

use std::io::Write;
use std::path::{Path, PathBuf};

use temblor_engine::batch::Batch;
use temblor_engine::console::Console;
use temblor_engine::error::Error;
use temblor_engine::framing::Framing;
use temblor_engine::outputs::{ErrorRecord, Outputs};
use temblor_engine::processor::Processor;
use temblor_engine::run::{NamedSink, RunPlan, Summary, run};
use temblor_engine::sink::{FileMode, SinkConfig};
use temblor_engine::source::SourceConfig;
use temblor_engine::source::file::FileConfig;
use temblor_engine::turnstile::Turn;

/// Copies lines to sink 0; a line that starts with `!` is an error.
struct Copy;

impl Processor for Copy {
    fn process(
        &mut self,
        batch: &mut Batch,
        _turn: &mut Turn<'_>,
        out: &mut Outputs,
    ) -> Result<(), Error> {
        let (mut cursor, mut line) = (batch.cursor(), batch.first_line());
        while let Some(range) = cursor.next(batch.bytes()) {
            let frame = &batch.bytes()[range];
            out.received(1);
            if frame.starts_with(b"!") {
                out.error(ErrorRecord {
                    kind: "decode",
                    origin: batch.origin.name.clone(),
                    line,
                    reason: "starts with !".to_string(),
                    bytes: frame.to_vec(),
                })?;
            } else {
                out.count(0, 1, frame.len() as u64 + 1);
                let chunk = out.sink(0);
                chunk.bytes.extend_from_slice(frame);
                chunk.bytes.push(b'\n');
                chunk.events += 1;
            }
            line += 1;
        }
        Ok(())
    }
}

/// A directory that goes away with its value.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("temblor-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn write(&self, name: &str, content: &[u8]) -> PathBuf {
        std::fs::write(self.path(name), content).unwrap();
        self.path(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn file_source(pattern: &Path) -> SourceConfig {
    let patterns = vec![pattern.display().to_string()];
    SourceConfig::File(FileConfig { patterns, framing: Framing::Lines, skip_bytes: 0 })
}

fn file_sink(path: &Path) -> NamedSink {
    let config = SinkConfig::File { path: path.to_path_buf(), mode: FileMode::Append };
    NamedSink { name: "out".to_string(), config }
}

fn plan(input: &Path, output: &Path) -> RunPlan {
    RunPlan {
        sources: vec![file_source(input)],
        sinks: vec![file_sink(output)],
        ports: vec!["out".to_string()],
        console: Some(Console::new(Box::new(std::io::sink()))),
        ..RunPlan::default()
    }
}

fn copy(plan: RunPlan) -> Summary {
    run(plan, |_| Ok(Box::new(Copy))).unwrap()
}

/// Lines of different lengths, each with its number.
fn lines(count: usize) -> Vec<u8> {
    let mut text = Vec::new();
    for number in 0..count {
        let width = number * 7919 % 300;
        writeln!(text, "{number} {:x<width$}", "").unwrap();
    }
    text
}

#[test]
fn lines_arrive_whole_and_in_order_with_any_number_of_workers() {
    let directory = Directory::new("order");
    let content = lines(50_000);
    let input = directory.write("in.log", &content);
    for workers in [1, 4] {
        let output = directory.path(&format!("out-{workers}"));
        let summary = copy(RunPlan { workers, ..plan(&input, &output) });
        assert_eq!(summary.exit_code(), 0);
        assert_eq!(summary.counts.events(), 50_000);
        assert_eq!(summary.counts.bytes(), content.len() as u64);
        assert!(std::fs::read(output).unwrap() == content, "{workers} workers");
    }
}

#[test]
fn a_bad_event_is_counted_and_the_others_go_on() {
    let directory = Directory::new("bad");
    let input = directory.write("in.log", b"a\n!b\r\nc");
    let output = directory.path("out");
    let summary = copy(plan(&input, &output));
    assert_eq!(std::fs::read(&output).unwrap(), b"a\nc\n");
    assert_eq!(summary.counts.errors, [("decode".to_string(), 1)]);
    assert_eq!(summary.exit_code(), 0);
}

#[test]
fn fail_fast_writes_what_came_before_and_ends_with_code_3() {
    let directory = Directory::new("fail-fast");
    let input = directory.write("in.log", b"a\n!b\nc\n");
    let output = directory.path("out");
    let summary = copy(RunPlan { fail_fast: true, ..plan(&input, &output) });
    assert_eq!(std::fs::read(&output).unwrap(), b"a\n");
    assert_eq!(summary.exit_code(), 3);
    assert!(summary.ended_early);
}
