//! Runs that go on from a checkpoint.
//!
//! Invariant: each line is dealt with once, whatever became of the files between two runs.

use std::fs::OpenOptions;
use std::io::Write;
use std::sync::Arc;

use temblor_runtime::ack::Token;
use temblor_runtime::batch::Batch;
use temblor_runtime::clock::Timestamp;
use temblor_runtime::error::Error;
use temblor_runtime::outputs::Outputs;
use temblor_runtime::processor::Processor;
use temblor_runtime::run::{RunPlan, run};
use temblor_runtime::turnstile::Turn;

use crate::runtime::support::{Copy, Directory, copy, file_source, plan};

fn append(path: &std::path::Path, bytes: &[u8]) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(bytes).unwrap();
}

#[test]
fn only_what_was_added_is_read_and_new_files_are_read_whole() {
    let directory = Directory::new("resume");
    let inputs = Directory::new("resume-in");
    let (pattern, output) = (inputs.path("*.log"), directory.path("out"));
    let go = || copy(RunPlan { state: Some(directory.path("state")), ..plan(&pattern, &output) });
    let first = inputs.write("b.log", b"1\n2\n");
    go();
    assert_eq!(go().counts.events(), 0, "nothing new");
    append(&first, b"3\n");
    inputs.write("a.log", b"4\n");
    go();
    assert_eq!(std::fs::read(&output).unwrap(), b"1\n2\n4\n3\n");
    // Others may write to the output of a finished run.
    append(&output, b"not ours");
    go();
    assert_eq!(std::fs::read(&output).unwrap(), b"1\n2\n4\n3\nnot ours");
}

#[test]
fn a_file_that_is_another_one_now_is_read_from_its_beginning() {
    let directory = Directory::new("replaced");
    let input = directory.write("in.log", b"old line 1\nold line 2\n");
    let output = directory.path("out");
    let go = || copy(RunPlan { state: Some(directory.path("state")), ..plan(&input, &output) });
    go();
    std::fs::write(&input, b"new line 1\nnew line 2\nnew line 3\n").unwrap();
    assert_eq!(go().counts.events(), 3);
    std::fs::write(&input, b"new").unwrap();
    assert_eq!(go().counts.events(), 1, "shorter than before");
}

#[test]
fn a_damaged_checkpoint_says_what_to_do() {
    let directory = Directory::new("checkpoint");
    let input = directory.write("in.log", b"a\n");
    let output = directory.path("out");
    let make = || RunPlan { state: Some(directory.path("state")), ..plan(&input, &output) };
    copy(make());
    append(&directory.path("state/checkpoint"), b"x");
    let error = run(make(), |_| Ok(Box::new(Copy))).unwrap_err();
    assert_eq!(error.exit_code(), 6);
    let text = error.to_string();
    assert!(text.contains("checksum") && text.contains("delete the file"), "{text}");
}

/// Keeps the tokens of all batches to its end, and fails there.
struct Holds(Vec<Token>);

impl Processor for Holds {
    fn process(
        &mut self,
        batch: &mut Batch,
        turn: &mut Turn<'_>,
        out: &mut Outputs,
    ) -> Result<(), Error> {
        self.0.push(batch.token());
        Copy.process(batch, turn, out)
    }

    fn flush(&mut self, _now: Timestamp, _out: &mut Outputs) -> Result<(), Error> {
        self.0.iter().for_each(Token::fail);
        Ok(())
    }
}

#[test]
fn a_batch_that_an_operator_keeps_is_not_acknowledged() {
    let directory = Directory::new("held");
    let input = directory.write("in.log", b"a\nb\n");
    let output = directory.path("out");
    let make = || RunPlan { state: Some(directory.path("state")), ..plan(&input, &output) };
    run(make(), |_| Ok(Box::new(Holds(Vec::new())))).unwrap();
    assert_eq!(copy(make()).counts.events(), 2, "read again");
    assert_eq!(std::fs::read(&output).unwrap(), b"a\nb\n", "and written anew");
}

#[test]
fn two_sources_of_one_file_have_marks_of_their_own() {
    let directory = Directory::new("twice");
    let input = directory.write("in.log", b"a\nb\n");
    let output = directory.path("out");
    let state = Some(directory.path("state"));
    let one = || RunPlan { state: state.clone(), ..plan(&input, &output) };
    let two = || RunPlan {
        sources: vec![Arc::new(file_source(&input)), Arc::new(file_source(&input))],
        ..one()
    };
    assert_eq!(copy(one()).counts.events(), 2);
    let counts = copy(two()).counts;
    assert_eq!((counts.sources[0].events, counts.sources[1].events), (0, 2));
    assert_eq!(copy(two()).counts.events(), 0);
}
