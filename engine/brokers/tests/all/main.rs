//! Tests of the connectors to brokers with real ones. They run the command, which has to be built first;
//! those of Kafka with its feature.

#[cfg(feature = "kafka")]
mod kafka;
mod counts;
mod duplog;
mod mqtt;
mod nats;
mod rabbitmq;
mod redis;
mod tokens;

use std::collections::BTreeMap;

use temblor_testing::{Folder, Process, temblor, wait_for};

/// Starts a program of that text, which runs until it is stopped.
fn start(folder: &Folder, name: &str, program: &str) -> Process {
    let path = folder.write(name, program);
    temblor(["run", path.to_str().expect("paths of tests are UTF-8")]).folder(folder.path()).start()
}

/// Runs a program on input to its end.
fn run(folder: &Folder, program: &str, input: &str) -> temblor_testing::Ran {
    let path = folder.write("program.tmb", program);
    temblor(["run", path.to_str().expect("paths of tests are UTF-8")])
        .folder(folder.path())
        .input(input)
        .run()
}

/// How often each line of a text is there.
fn counted(text: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in text.lines() {
        *counts.entry(line.to_string()).or_default() += 1;
    }
    counts
}

/// Waits until a file has so many different whole lines.
fn wait_for_lines(folder: &Folder, file: &str, count: usize) {
    wait_for(&format!("{count} different lines in {file}"), || {
        let text = folder.read(file);
        let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
        (counted(whole).len() >= count).then_some(())
    });
}

/// Numbered events.
fn numbered(count: usize) -> String {
    (0..count).map(|number| format!("{{\"n\":{number}}}\n")).collect()
}

/// A broker that was killed and started again is told to be away and to be back, by the source and by the sink,
/// not with each attempt.
fn told_once(errors: &str) {
    let count = |text| errors.matches(text).count();
    let (away, back) = (count("it is tried again until it works"), count(" is back after "));
    // A broker that starts may refuse for another reason than that nobody listens.
    assert!((1..=4).contains(&away) && (1..=2).contains(&back), "{errors}");
}
