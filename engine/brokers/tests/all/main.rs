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

use temblor_testing::{Folder, OwnPeer, Process, temblor, wait_for};

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

/// Kills the broker of a program that writes its input to it and reads that again, and starts it again: what was
/// written meanwhile gets through, and users are told.
fn outlives(server: &OwnPeer, folder: &Folder, mut process: Process, count: usize) -> Process {
    process.write(numbered(count));
    wait_for_lines(folder, "out.json", count);
    server.kill();
    process.write(format!("{{\"n\":{count}}}\n"));
    process.wait_for_text(AWAY);
    server.resume();
    wait_for_lines(folder, "out.json", count + 1);
    process
}

/// What users are told of a broker that cannot be reached.
const AWAY: &str = "it is tried again until it works";

/// Ends a program whose broker was killed and started again: that was told by the source and by the sink, not with
/// each attempt.
fn ends_in_peace(process: Process) {
    let ran = process.terminate();
    let count = |text| ran.err.matches(text).count();
    let (away, back) = (count(AWAY), count(" is back after "));
    // A broker that starts may refuse for another reason than that nobody listens.
    assert!((1..=4).contains(&away) && (1..=2).contains(&back), "{}", ran.err);
    ran.succeeded();
}
