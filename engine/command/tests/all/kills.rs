//! Runs of random programs that are killed with -9 at random moments, and go on: every output holds to the
//! byte what a run in peace would have written.
//!
//! Invariant: the model knows each line of each output; `TEMBLOR_KILL_ROUNDS` makes the test as long as one
//! wants, `TEMBLOR_KILL_SEED` repeats a round.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use temblor_testing::{Folder, temblor};

const LINES: u64 = 30_000;

struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// A program over one or two files, with one to two thousand outputs, and what each of them must hold.
struct Topology {
    program: String,
    inputs: Vec<String>,
    outputs: BTreeMap<String, String>,
}

impl Topology {
    fn random(chance: &mut Chance) -> Self {
        let files = [1, 3, 200, 300, 1000, 2000][chance.below(6) as usize];
        let sources = 1 + chance.below(2);
        let keeps_all = chance.below(2) == 0;
        let copies = chance.below(2) == 0;
        let remembers = chance.below(2) == 0;
        let mut program = String::new();
        let mut topology =
            Self { program: String::new(), inputs: Vec::new(), outputs: BTreeMap::new() };
        for source in 0..sources {
            let name = if source == 0 { "in".to_string() } else { "other".to_string() };
            let _ = writeln!(program, "source {name} from file \"{name}.log\";");
            let mut input = String::new();
            for line in 0..LINES / sources {
                let key = chance.below(files);
                let text = format!("{{\"s\":{source},\"k\":{key},\"i\":{line}}}\n");
                input.push_str(&text);
                if keeps_all || line % 2 == 0 {
                    topology
                        .outputs
                        .entry(format!("out/{source}-{key}.log"))
                        .or_default()
                        .push_str(&text);
                    if copies {
                        topology
                            .outputs
                            .entry(format!("copy-{source}.log"))
                            .or_default()
                            .push_str(&text);
                    }
                }
            }
            topology.inputs.push(input);
        }
        let _ = writeln!(program, "sink out into file \"out/#{{event.s}}-#{{event.k}}.log\";");
        let _ = writeln!(program, "sink copied into file \"copy-#{{event.s}}.log\";");
        for name in ["in", "other"].iter().take(sources as usize) {
            let filter = if keeps_all { "" } else { "|> where event.i % 2 == 0 " };
            // Every event is new: what the step remembers must not change what comes out.
            let memory = if remembers { "|> dedup by [event.s, event.i] within 1h " } else { "" };
            let _ = writeln!(program, "create stream tee{name};");
            let _ = writeln!(program, "{name} {filter}{memory}|> tee{name};");
            let _ = writeln!(program, "tee{name} |> out;");
            if copies {
                let _ = writeln!(program, "tee{name} |> copied;");
            }
        }
        topology.program = program;
        topology
    }

    fn write(&self, folder: &Path) {
        fs::write(folder.join("program.tmb"), &self.program).expect("the folder is ours");
        for (name, input) in ["in.log", "other.log"].iter().zip(&self.inputs) {
            fs::write(folder.join(name), input).expect("the folder is ours");
        }
    }

    fn compare(&self, folder: &Path, round: &str) {
        for (name, wanted) in &self.outputs {
            let found = fs::read_to_string(folder.join(name)).unwrap_or_default();
            // Two sources may meet in one file in any order; each has files of its own here.
            assert!(
                found == *wanted,
                "{round}: {name} has {} lines, {} were to be there\n{}",
                found.lines().count(),
                wanted.lines().count(),
                self.program
            );
        }
    }
}

fn play(seed: u64) {
    let mut chance = Chance(seed);
    let topology = Topology::random(&mut chance);
    let folder = Folder::new();
    topology.write(folder.path());
    let workers = (1 + chance.below(2)).to_string();
    let arguments = ["run", "program.tmb", "--state", "state", "--workers", &workers];
    for _ in 0..4 {
        let run = temblor(arguments).folder(folder.path()).start();
        std::thread::sleep(Duration::from_millis(20 + chance.below(700)));
        run.kill();
    }
    temblor(arguments).folder(folder.path()).run().succeeded();
    topology.compare(folder.path(), &format!("seed {seed}"));
}

#[test]
fn killed_runs_of_random_programs_lose_and_repeat_nothing() {
    let rounds = std::env::var("TEMBLOR_KILL_ROUNDS").ok().and_then(|text| text.parse().ok());
    let first = std::env::var("TEMBLOR_KILL_SEED").ok().and_then(|text| text.parse().ok());
    let first: u64 = first.unwrap_or(7);
    (first..first + rounds.unwrap_or(6)).for_each(play);
}
