//! What the tests of the runtime share: a processor that copies lines, plans, a directory.
//!
//! Invariant: nothing here knows of the language.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use temblor_connect::sink::{Care, FileMode, SinkConfig};
use temblor_connect::source::SourceConfig;
use temblor_connect::source::file::FileConfig;
use temblor_runtime::batch::Batch;
use temblor_runtime::console::Console;
use temblor_runtime::error::Error;
use temblor_runtime::framing::Framing;
use temblor_runtime::outputs::{ErrorRecord, Outputs};
use temblor_runtime::processor::Processor;
use temblor_runtime::run::{NamedSink, RunPlan, Summary, run};
use temblor_runtime::turnstile::Turn;

/// Copies lines to sink 0; a line that starts with `!` is an error.
pub(super) struct Copy;

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
pub(super) struct Directory(pub PathBuf);

impl Directory {
    pub(super) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("temblor-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(super) fn write(&self, name: &str, content: &[u8]) -> PathBuf {
        std::fs::write(self.path(name), content).unwrap();
        self.path(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(super) fn file_source(pattern: &Path) -> SourceConfig {
    let patterns = vec![pattern.display().to_string()];
    SourceConfig::File(FileConfig::once(patterns, Framing::Lines))
}

pub(super) fn file_sink(path: &Path) -> NamedSink {
    let config = SinkConfig::File {
        path: path.to_path_buf(),
        mode: FileMode::Append,
        care: Care::default(),
    };
    NamedSink::new("out", config)
}

pub(super) fn plan(input: &Path, output: &Path) -> RunPlan {
    RunPlan {
        sources: vec![Arc::new(file_source(input))],
        sinks: vec![file_sink(output)],
        ports: vec!["out".to_string()],
        console: Some(Console::new(Box::new(std::io::sink()))),
        ..RunPlan::default()
    }
}

pub(super) fn copy(plan: RunPlan) -> Summary {
    run(plan, |_| Ok(Box::new(Copy))).unwrap()
}

/// Lines of different lengths, each with its number.
pub(super) fn lines(count: usize) -> Vec<u8> {
    let mut text = Vec::new();
    for number in 0..count {
        let width = number * 7919 % 300;
        writeln!(text, "{number} {:x<width$}", "").unwrap();
    }
    text
}
