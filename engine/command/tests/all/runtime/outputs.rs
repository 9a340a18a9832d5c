//! Outputs with a path per event, outputs that fail, and what failing means for acknowledgement.
//!
//! Invariant: what could not be written is counted as failed and is never acknowledged.

use std::path::Path;

use temblor_connect::sink::{Care, FileMode, SinkConfig};
use temblor_runtime::batch::Batch;
use temblor_runtime::error::Error;
use temblor_runtime::limits::OPEN_FILES_MAX;
use temblor_runtime::outputs::Outputs;
use temblor_runtime::processor::Processor;
use temblor_runtime::run::{NamedSink, RunPlan, run};
use temblor_runtime::turnstile::Turn;

use crate::runtime::support::{Directory, copy, file_sink, plan};

/// Writes each line to the file that the line names.
struct Scatter;

impl Processor for Scatter {
    fn process(
        &mut self,
        batch: &mut Batch,
        _turn: &mut Turn<'_>,
        out: &mut Outputs,
    ) -> Result<(), Error> {
        let mut cursor = batch.cursor();
        while let Some(range) = cursor.next(batch.bytes()) {
            let frame = &batch.bytes()[range];
            let place = String::from_utf8_lossy(frame);
            let chunk = out.sink_at(0, &place);
            chunk.bytes.extend_from_slice(frame);
            chunk.bytes.push(b'\n');
            chunk.events += 1;
        }
        Ok(())
    }
}

fn scatter(input: &Path, directory: &Path, mode: FileMode) -> temblor_runtime::run::Summary {
    let config =
        SinkConfig::Files { directory: directory.to_path_buf(), mode, care: Care::default() };
    let sinks = vec![NamedSink::new("files", config)];
    run(RunPlan { sinks, ..plan(input, input) }, |_| Ok(Box::new(Scatter))).unwrap()
}

#[test]
fn more_files_than_may_be_open_are_all_written() {
    let directory = Directory::new("scatter");
    let count = OPEN_FILES_MAX * 2;
    let content: String = (0..count * 3).map(|line| format!("d{}/f\n", line % count)).collect();
    let input = directory.write("in.log", content.as_bytes());
    directory.write("old", b"x");
    for mode in [FileMode::Append, FileMode::Truncate, FileMode::Overwrite] {
        let target = directory.path(&format!("{mode:?}"));
        scatter(&input, &target, mode);
        scatter(&input, &target, mode);
        let times = if mode == FileMode::Append { 6 } else { 3 };
        for file in [0, 1, count - 1] {
            let written = std::fs::read_to_string(target.join(format!("d{file}/f"))).unwrap();
            assert_eq!(written, format!("d{file}/f\n").repeat(times), "{mode:?}");
        }
    }
}

#[test]
fn no_path_leads_out_of_its_directory() {
    let directory = Directory::new("escape");
    let long = "x".repeat(300);
    let places = ["good", "../bad", "/tmp/temblor-bad", "a/../../bad", "", "a/", long.as_str()];
    let input = directory.write("in.log", places.join("\n").as_bytes());
    let summary = scatter(&input, &directory.path("inside"), FileMode::Append);
    assert_eq!((summary.counts.failed(), summary.exit_code()), (6, 5));
    assert!(directory.path("inside/good").exists() && !directory.path("bad").exists());
}

#[test]
fn a_full_disk_is_reported_while_other_sinks_go_on() {
    let directory = Directory::new("full");
    let input = directory.write("in.log", b"a\nb\n");
    let full = directory.path("full");
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    let summary = copy(plan(&input, &full));
    assert_eq!(summary.counts.failed(), 2);
    assert_eq!(summary.exit_code(), 5);
    let text = summary.error.unwrap().to_string();
    assert!(text.contains("No space left") && text.contains("make room"), "{text}");
}

#[test]
fn what_could_not_be_written_is_read_again_by_the_next_run() {
    let directory = Directory::new("unwritten");
    let input = directory.write("in.log", b"a\nb\n");
    let state = Some(directory.path("state"));
    let full = Path::new("/dev/full");
    let failed = copy(RunPlan { state: state.clone(), ..plan(&input, full) });
    assert_eq!(failed.exit_code(), 5);
    let output = directory.path("out");
    let again = RunPlan { state, sinks: vec![file_sink(&output)], ..plan(&input, &output) };
    assert_eq!(copy(again).exit_code(), 0);
    assert_eq!(std::fs::read(output).unwrap(), b"a\nb\n");
}

#[test]
fn an_output_that_cannot_be_opened_is_refused() {
    let directory = Directory::new("unopened");
    let input = directory.write("in.log", b"a\n");
    let error = run(plan(&input, &directory.0), |_| Ok(Box::new(Scatter))).unwrap_err();
    assert_eq!(error.exit_code(), 5);
    assert!(error.to_string().contains("cannot be opened for writing"), "{error}");
}
