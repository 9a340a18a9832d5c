//! Micro-benchmarks of the stages: `cargo bench -p temblor-bench`. `temblor-bench stages` adds them up.

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use temblor_bench::core::measure::Directory;
use temblor_bench::stages::SUBJECTS;

/// Lines of each stage's input.
const EVENTS: usize = 20_000;

fn main() {
    divan::main();
}

/// The subjects by name.
fn names() -> impl Iterator<Item = (usize, usize)> {
    SUBJECTS.iter().enumerate().flat_map(|(subject, found)| {
        let stages = found.stages().map_or(0, |stages| stages.len());
        (0..stages).map(move |stage| (subject, stage))
    })
}

#[divan::bench(args = names().map(|(subject, stage)| Choice { subject, stage }))]
fn stage(bencher: Bencher, choice: &Choice) {
    let subject = &SUBJECTS[choice.subject];
    let to = Directory::make().expect("a directory for temporary files");
    let input = subject.input(EVENTS, &to).expect("the lines are generated");
    let mut stages = subject.stages().expect("the scripts compile");
    let stage = &mut stages[choice.stage];
    bencher
        .counter(ItemsCount::new(input.lines))
        .counter(BytesCount::new(input.text.len()))
        .bench_local(|| stage.run(&input).expect("every line is seen"));
}

/// One stage of one subject.
struct Choice {
    subject: usize,
    stage: usize,
}

impl std::fmt::Display for Choice {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let subject = &SUBJECTS[self.subject];
        let stages = subject.stages().unwrap_or_default();
        let name = stages.get(self.stage).map_or("?", |stage| stage.name);
        write!(out, "{}: up to {name}", subject.name)
    }
}
