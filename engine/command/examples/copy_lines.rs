//! The smallest processor: copies lines from a file to a file, with N workers. It shows how the runtime
//! is embedded, and how fast bytes move when nothing is done to them.
//!
//!     cargo run --release -p temblor-command --example copy_lines -- INPUT OUTPUT WORKERS STATE

use std::path::PathBuf;
use std::process::ExitCode;

use temblor_connect::sink::{Care, FileMode, SinkConfig};
use temblor_connect::source::SourceConfig;
use temblor_connect::source::file::FileConfig;
use temblor_runtime::batch::Batch;
use temblor_runtime::error::Error;
use temblor_runtime::framing::Framing;
use temblor_runtime::outputs::Outputs;
use temblor_runtime::processor::Processor;
use temblor_runtime::report::summary_table;
use temblor_runtime::run::{NamedSink, RunPlan, run};
use temblor_runtime::turnstile::Turn;

/// Copies lines to sink 0 and counts them on port 0.
struct CopyLines;

impl Processor for CopyLines {
    fn process(
        &mut self,
        batch: &mut Batch,
        _turn: &mut Turn<'_>,
        out: &mut Outputs,
    ) -> Result<(), Error> {
        let mut cursor = batch.cursor();
        let chunk = out.sink(0);
        let (events, bytes) = (chunk.events, chunk.bytes.len());
        while let Some(range) = cursor.next(batch.bytes()) {
            chunk.bytes.extend_from_slice(&batch.bytes()[range]);
            chunk.bytes.push(b'\n');
            chunk.events += 1;
        }
        let (events, bytes) = (chunk.events - events, chunk.bytes.len() - bytes);
        out.received(events);
        out.count(0, events, bytes as u64);
        Ok(())
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(input), Some(output)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: copy_lines INPUT OUTPUT [WORKERS [STATE]]");
        return ExitCode::from(2);
    };
    let framing = Framing::Lines;
    let source = match input.as_str() {
        "-" => SourceConfig::Stdin { framing },
        _ => SourceConfig::File(FileConfig::once(vec![input], framing)),
    };
    let config = match output.as_str() {
        "-" => SinkConfig::Stdout,
        _ => SinkConfig::File {
            path: output.clone().into(),
            mode: FileMode::Truncate,
            care: Care::default(),
        },
    };
    let plan = RunPlan {
        sources: vec![std::sync::Arc::new(source)],
        sinks: vec![NamedSink::new(output, config)],
        ports: vec!["out".to_string()],
        workers: arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1),
        state: arguments.next().map(PathBuf::from),
        signals: true,
        ..RunPlan::default()
    };
    match run(plan, |_| Ok(Box::new(CopyLines))) {
        Ok(summary) => {
            eprintln!("{}", summary_table(&summary.counts));
            ExitCode::from(summary.exit_code())
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
