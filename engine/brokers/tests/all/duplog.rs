//! The example of duplog: three collectors' syslog with faults becomes one record, compared with the model; and
//! servers that are killed meanwhile.

use std::collections::BTreeMap;
use std::process::Command;

use temblor_testing::{Folder, OwnPeer, command_path, peers, repository, temblor, wait_until};

use crate::{counted, start};

/// Runs the script of the example on servers that run.
fn example(count: &str, seed: &str, kill: bool) {
    let Some([rabbitmq, redis]) = peers(["RABBITMQ", "REDIS"]) else { return };
    let mut command = Command::new(repository().join("examples/duplog/run"));
    command.args([count, seed]);
    command.env("RABBITMQ", format!("amqp://{rabbitmq}")).env("REDIS", format!("redis://{redis}"));
    command.env("TEMBLOR", command_path());
    if kill {
        command.env("KILL", "1");
    }
    let ran = command.output().expect("bash starts");
    let said =
        format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{said}");
    assert!(said.contains(" 0 missing"), "{said}");
    assert!(kill || said.contains("the record is what the model says"), "{said}");
}

#[test]
fn three_streams_with_faults_become_one_record_by_two_extractors() {
    example("6000", "3", false);
}

#[test]
fn nothing_is_missing_when_an_extractor_is_killed() {
    example("6000", "4", true);
}

/// What a collector received: streams of one seed suffer differently.
fn stream(number: usize) -> String {
    let stream = format!("stream={number}");
    let faults = ["loss=0.05", "duplicate=0.02", "reorder=0.05", "delay=50", &stream];
    let mut arguments =
        vec!["generate", "syslog", "--count", "4000", "--seed", "9", "--virtual-clock"];
    arguments.extend(["--start", "2026-01-01T00:00:00Z"]);
    faults.iter().for_each(|fault| arguments.extend(["--set", fault]));
    temblor(arguments).run().succeeded()
}

/// Of each line, as many as the stream with most of them has.
fn model(streams: &[String]) -> BTreeMap<String, usize> {
    let mut most: BTreeMap<String, usize> = BTreeMap::new();
    for (line, count) in streams.iter().flat_map(|stream| counted(stream)) {
        let known = most.entry(line).or_default();
        *known = count.max(*known);
    }
    most
}

/// Injects two streams and extracts them, while a server is killed and started again.
fn survive(kill_redis: bool) -> Option<(BTreeMap<String, usize>, BTreeMap<String, usize>)> {
    let (rabbitmq, redis) = (OwnPeer::start("rabbitmq")?, OwnPeer::start("redis")?);
    let (folder, streams) = (Folder::new(), [stream(1), stream(2)]);
    let address = rabbitmq.address("RABBITMQ");
    let program = format!(
        "source one from rabbitmq \"amqp://{address}\" with queue = \"one\", codec = \"string\" end;
         source two from rabbitmq \"amqp://{address}\" with queue = \"two\", codec = \"string\" end;
         sink record into file \"record.log\" with codec = \"string\", mode = \"append\" end;
         create stream lines; one |> lines; two |> lines;
         lines |> dedup by event across $rabbitmq.queue within 1h store \"redis://{}\"
           with delivery = $rabbitmq.message_id end
         |> record",
        redis.address("REDIS")
    );
    let extractor = start(&folder, "extract.tmb", &program);
    let injectors: Vec<_> = ["one", "two"]
        .iter()
        .map(|queue| {
            let program = format!(
                "source lines from stdin with codec = \"string\" end;
                 sink q into rabbitmq \"amqp://{address}\"
                   with routing_key = \"{queue}\", queue = \"{queue}\", codec = \"string\" end;
                 lines |> q"
            );
            start(&folder, &format!("{queue}.tmb"), &program)
        })
        .collect();
    let half = |text: &str| text[..text.len() / 2].rfind('\n').map_or(0, |end| end + 1);
    let mut injectors = injectors;
    for (injector, stream) in injectors.iter_mut().zip(&streams) {
        injector.write(&stream[..half(stream)]);
    }
    wait_until("the first lines", || folder.read("record.log").lines().count() > 500);
    let server = if kill_redis { &redis } else { &rabbitmq };
    server.kill();
    for (injector, stream) in injectors.iter_mut().zip(&streams) {
        injector.write(&stream[half(stream)..]);
    }
    server.resume();
    for mut injector in injectors {
        // An injector whose input has ended waits for its broker for a while only.
        drop(injector.take_input());
        injector.wait().succeeded();
    }
    let wanted = model(&streams);
    let missing = |found: &BTreeMap<String, usize>| {
        wanted
            .iter()
            .filter(|(line, count)| found.get(*line).is_none_or(|one| one < *count))
            .count()
    };
    wait_until("all lines", || missing(&counted(&folder.read("record.log"))) == 0);
    extractor.terminate().succeeded();
    Some((wanted, counted(&folder.read("record.log"))))
}

#[test]
fn nothing_is_missing_when_redis_is_killed() {
    let Some((wanted, found)) = survive(true) else { return };
    // It has lost its memory: copies of what was written before may be written again, nothing else.
    let most: usize = wanted.values().sum();
    assert!(found.values().sum::<usize>() <= 2 * most);
    assert!(found.keys().all(|line| wanted.contains_key(line)));
}

#[test]
fn nothing_is_missing_and_little_twice_when_rabbitmq_is_killed() {
    let Some((wanted, found)) = survive(false) else { return };
    let more: usize =
        found.iter().map(|(line, count)| count - wanted.get(line).copied().unwrap_or(0)).sum();
    // What was written and not acknowledged is judged as before when it comes again: it is written again.
    assert!(more <= 2 * 5_000, "{more} lines too many");
    assert!(found.keys().all(|line| wanted.contains_key(line)));
}
