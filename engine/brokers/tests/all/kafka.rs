//! Kafka: topics, groups and what is refused, with kills of the reader.

use std::time::{Duration, Instant};

use rdkafka::ClientConfig;
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::consumer::{BaseConsumer, Consumer};
use temblor_testing::{Folder, OwnPeer, peer, wait_for, wait_until};
use tokio::runtime::Runtime;

use crate::{counted, ends_in_peace, numbered, outlives, run, start, wait_for_lines};

/// A name that no other test has.
fn name(text: &str) -> String {
    format!("temblor-test-{text}-{}", std::process::id())
}

fn create(address: &str, topic: &str, partitions: i32) {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", address);
    let admin: AdminClient<DefaultClientContext> = config.create().expect("the options are known");
    let topic = NewTopic::new(topic, partitions, TopicReplication::Fixed(1));
    let options = AdminOptions::new().operation_timeout(Some(Duration::from_secs(60)));
    let runtime = Runtime::new().expect("there are threads");
    let created = runtime.block_on(admin.create_topics([&topic], &options));
    assert!(created.expect("kafka answers")[0].is_ok());
}

/// What the group has committed, over all partitions.
fn committed(address: &str, group: &str, topic: &str, partitions: i32) -> i64 {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", address).set("group.id", group);
    let consumer: BaseConsumer = config.create().expect("the options are known");
    let mut list = rdkafka::TopicPartitionList::new();
    list.add_partition_range(topic, 0, partitions - 1);
    let found = consumer.committed_offsets(list, Duration::from_secs(30));
    let Ok(found) = found else { return 0 };
    let offset =
        |one: &rdkafka::topic_partition_list::TopicPartitionListElem<'_>| match one.offset() {
            rdkafka::Offset::Offset(offset) => offset,
            _ => 0,
        };
    found.elements().iter().map(offset).sum()
}

#[test]
fn two_hundred_thousand_messages_survive_kills_of_the_reader() {
    let Some(address) = peer("KAFKA") else { return };
    let (folder, topic) = (Folder::new(), name("killed"));
    create(&address, &topic, 4);
    let count = 200_000;
    let sink = format!(
        "sink out into kafka \"{address}\"
           with topic = \"{topic}\", key = \"k#{{event.n % 100}}\", compression = \"lz4\" end;
         in |> out"
    );
    run(&folder, &sink, &numbered(count)).succeeded();
    let source = format!(
        "source k from kafka \"{address}\"
           with topics = \"{topic}\", group = \"{topic}\", session_timeout = 6s, instance = \"one\" end;
         sink f into file \"out.json\" with mode = \"append\" end;
         k |> set event.p = $kafka.partition |> set event.o = $kafka.offset |> f"
    );
    for kill in 1..=3 {
        let process = start(&folder, "read.tmb", &source);
        wait_for_lines(&folder, "out.json", kill * 40_000);
        process.kill();
    }
    let process = start(&folder, "read.tmb", &source);
    wait_for_lines(&folder, "out.json", count);
    wait_until("the last commit", || committed(&address, &topic, &topic, 4) == count as i64);
    process.terminate().succeeded();
    let text = folder.read("out.json");
    let mut seen = vec![false; count];
    // The last offset of each partition, within one run of the reader: in order, without a gap.
    for line in text.lines() {
        let number = line.strip_prefix("{\"n\":").and_then(|rest| rest.split(',').next());
        if let Some(number) = number.and_then(|text| text.parse::<usize>().ok()) {
            seen[number] = true;
        }
    }
    assert_eq!(seen.iter().filter(|seen| !**seen).count(), 0);
    let repeated = counted(&text).values().filter(|count| **count > 1).count();
    // Each kill repeats what was read since the last commit, and what was under way.
    assert!(repeated <= 3 * 10_000, "{repeated} messages came twice");
}

/// Members of one group divide twelve partitions, and each of them is killed in its turn: nothing is lost.
#[test]
fn partitions_move_between_members_that_are_killed() {
    let Some(address) = peer("KAFKA") else { return };
    let (folder, topic) = (Folder::new(), name("group"));
    create(&address, &topic, 12);
    let count = 60_000;
    let sink = format!(
        "sink out into kafka \"{address}\" with topic = \"{topic}\", key = \"k#{{event.n % 500}}\" end;
         in |> out"
    );
    let source = |member: usize| {
        format!(
            "source k from kafka \"{address}\"
               with topics = \"{topic}\", group = \"{topic}\", session_timeout = 6s end;
             sink f into file \"out.{member}.json\" with mode = \"append\" end; k |> f"
        )
    };
    let found = || {
        let texts = (0..8).map(|member| folder.read(&format!("out.{member}.json")));
        counted(&texts.collect::<String>())
    };
    let mut members: Vec<_> =
        (0..4).map(|member| start(&folder, &format!("{member}.tmb"), &source(member))).collect();
    for (round, next) in (4..8).enumerate() {
        let part = count / 5;
        let input: String =
            (round * part..(round + 1) * part).map(|n| format!("{{\"n\":{n}}}\n")).collect();
        run(&folder, &sink, &input).succeeded();
        wait_until("some of it", || found().len() >= round * part + part / 4);
        members.remove(0).kill();
        members.push(start(&folder, &format!("{next}.tmb"), &source(next)));
    }
    let input: String = (4 * count / 5..count).map(|n| format!("{{\"n\":{n}}}\n")).collect();
    run(&folder, &sink, &input).succeeded();
    let is_there = |lines: &std::collections::BTreeMap<String, usize>, n: usize| {
        lines.contains_key(&format!("{{\"n\":{n}}}"))
    };
    wait_until("all of it", || {
        let lines = found();
        (0..count).all(|n| is_there(&lines, n))
    });
    members.into_iter().for_each(|member| drop(member.terminate().succeeded()));
    let repeated: usize = found().values().map(|count| count - 1).sum();
    assert!(repeated <= 4 * 10_000, "{repeated} messages came twice");
}

#[test]
fn keys_headers_times_and_partitions_go_through() {
    let Some(address) = peer("KAFKA") else { return };
    let (folder, topic) = (Folder::new(), name("meta"));
    create(&address, &topic, 3);
    let sink = format!(
        "sink out into kafka \"{address}\"
           with topic = \"{topic}\", key = event.key, partition = event.partition,
                timestamp = 1700000000123000000, headers = {{\"a\": \"b\", \"n\": event.partition}} end;
         in |> out"
    );
    run(&folder, &sink, "{\"key\":\"x\",\"partition\":2}\n").succeeded();
    let source = format!(
        "source k from kafka \"{address}\" with topics = [\"{topic}\"], group = \"{topic}\" end;
         sink f into file \"out.json\"; k |> set event = $kafka |> f"
    );
    let process = start(&folder, "read.tmb", &source);
    wait_for_lines(&folder, "out.json", 1);
    process.terminate().succeeded();
    let wanted = format!(
        "{{\"topic\":\"{topic}\",\"partition\":2,\"offset\":0,\"timestamp\":1700000000123000000,\
         \"key\":\"x\",\"headers\":{{\"a\":\"b\",\"n\":\"2\"}}}}\n"
    );
    assert_eq!(folder.read("out.json"), wanted);
}

#[test]
fn a_group_begins_at_a_time() {
    let Some(address) = peer("KAFKA") else { return };
    let (folder, topic) = (Folder::new(), name("time"));
    create(&address, &topic, 1);
    let sink = format!(
        "sink out into kafka \"{address}\" with topic = \"{topic}\", timestamp = (event.n + 1) * 1000000000 end;
         in |> out"
    );
    run(&folder, &sink, &numbered(10)).succeeded();
    let source = format!(
        "source k from kafka \"{address}\"
           with topics = \"{topic}\", group = \"{topic}\", from = \"1970-01-01T00:00:08Z\" end;
         sink f into file \"out.json\"; k |> f"
    );
    let process = start(&folder, "read.tmb", &source);
    wait_for_lines(&folder, "out.json", 3);
    process.terminate().succeeded();
    assert_eq!(folder.read("out.json"), "{\"n\":7}\n{\"n\":8}\n{\"n\":9}\n");
}

#[test]
fn what_kafka_refuses_goes_to_err() {
    let Some(address) = peer("KAFKA") else { return };
    let (folder, topic) = (Folder::new(), name("err"));
    create(&address, &topic, 1);
    let program = format!(
        "sink k into kafka \"{address}\"
           with topic = event.topic, partition = event.partition, message_bytes = 2000 end;
         in |> k; k/err |> out"
    );
    let input = format!(
        "{{\"topic\":\"{topic}\"}}\n{{}}\n{{\"topic\":\"{topic}\",\"partition\":7}}\n\
         {{\"topic\":\"{topic}\",\"text\":\"{}\"}}\n{{\"topic\":\"{topic}\",\"partition\":\"x\"}}\n",
        "x".repeat(5000)
    );
    let out = run(&folder, &program, &input).succeeded();
    assert_eq!(out.lines().count(), 4, "{out}");
    for wanted in ["names no topic", "size too large", "must be a whole number", "artition"] {
        assert!(out.contains(wanted), "{wanted}: {out}");
    }
}

#[test]
fn a_broker_that_dies_is_waited_for() {
    let Some(server) = OwnPeer::start("kafka") else { return };
    let (address, folder) = (server.address("KAFKA"), Folder::new());
    create(&address, "t", 2);
    let program = format!(
        "source k from kafka \"{address}\" with topics = \"t\", group = \"g\" end;
         sink t into kafka \"{address}\" with topic = \"t\" end;
         source lines from stdin;
         sink f into file \"out.json\";
         lines |> t; k |> f"
    );
    let process = start(&folder, "both.tmb", &program);
    let process = outlives(&server, &folder, process, 1000);
    let reader = format!(
        "source k from kafka \"{address}\" with topics = \"t\", group = \"h\" end;
         sink f into file \"second.json\"; k |> f"
    );
    let second = start(&folder, "read.tmb", &reader);
    wait_for_lines(&folder, "second.json", 1001);
    ends_in_peace(process);
    // A member that is stopped while its broker is away does not wait for it.
    server.kill();
    let began = Instant::now();
    second.terminate().succeeded();
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn tremor_flows_consume_and_produce() {
    let Some(address) = peer("KAFKA") else { return };
    let (folder, topic) = (Folder::new(), name("tremor"));
    create(&address, &topic, 1);
    let flow = format!(
        r#"define flow main
flow
  use tremor::pipelines;
  define connector numbers from file
  with codec = "json", preprocessors = ["separate"], config = {{"path": "in.json", "mode": "read"}}
  end;
  define connector producer from kafka_producer
  with codec = "json", config = {{"brokers": ["{address}"], "topic": "nowhere"}}
  end;
  define connector consumer from kafka_consumer
  with
    codec = "json",
    config = {{
      "brokers": ["{address}"], "topics": ["{topic}"], "group_id": "{topic}",
      "mode": {{"transactional": {{"commit_interval": 100000000}}}}
    }}
  end;
  define connector output from file
  with codec = "json", postprocessors = ["separate"],
    config = {{"path": "out.json", "mode": "truncate"}}
  end;
  define pipeline address
  pipeline
    define script address
    script
      let $kafka_producer = {{"topic": "{topic}", "key": "k", "headers": {{"h": "v"}}}};
      event
    end;
    create script address;
    select event from in into address;
    select event from address into out;
  end;
  define pipeline read
  pipeline
    select {{"n": event.n, "key": $kafka_consumer.key, "h": $kafka_consumer.headers.h}} from in into out;
  end;
  create connector numbers;
  create connector producer;
  create connector consumer;
  create connector output;
  create pipeline address;
  create pipeline read;
  connect /connector/numbers to /pipeline/address;
  connect /pipeline/address to /connector/producer;
  connect /connector/consumer to /pipeline/read;
  connect /pipeline/read to /connector/output;
end;
deploy flow main;
"#
    );
    folder.write("in.json", numbered(3));
    let process = start(&folder, "flow.troy", &flow);
    wait_for_lines(&folder, "out.json", 3);
    process.terminate().succeeded();
    let line = |n| format!("{{\"n\":{n},\"key\":\"k\",\"h\":\"v\"}}\n");
    assert_eq!(folder.read("out.json"), (0..3).map(line).collect::<String>());
}

#[test]
fn sasl_users_are_known_and_strangers_are_not() {
    let Some(address) = peer("KAFKA_SASL") else { return };
    let folder = Folder::new();
    let program = format!(
        "source k from kafka \"{address}\" with topics = \"t\", group = \"g\",
           sasl = {{\"username\": \"nobody\", \"password\": \"wrong\"}} end;
         k |> out"
    );
    // The plain mechanism takes no TLS in the client.
    let known = format!(
        "sink k into kafka \"{address}\" with topic = \"t\",
           sasl = {{\"username\": \"temblor\", \"password\": \"secret\"}} end;
         in |> k"
    );
    run(&folder, &known, &numbered(10)).succeeded();
    let mut process = start(&folder, "read.tmb", &program);
    wait_for("the refusal", || process.err().contains("uthentication").then_some(()));
    assert!(process.status().is_none());
    process.kill();
}

/// What a reader of committed messages finds in a topic, over all partitions, up to its end.
fn read_committed(address: &str, topic: &str, partitions: i32) -> Vec<String> {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", address).set("group.id", format!("{topic}-check"));
    config.set("isolation.level", "read_committed").set("enable.partition.eof", "true");
    config.set("enable.auto.commit", "false");
    let consumer: BaseConsumer = config.create().expect("the options are known");
    let mut list = rdkafka::TopicPartitionList::new();
    for partition in 0..partitions {
        list.add_partition_offset(topic, partition, rdkafka::Offset::Beginning).expect("it is new");
    }
    consumer.assign(&list).expect("partitions can be assigned");
    let (mut found, mut ended) = (Vec::new(), 0);
    let deadline = Instant::now() + Duration::from_secs(60);
    while ended < partitions && Instant::now() < deadline {
        match consumer.poll(Duration::from_secs(1)) {
            Some(Ok(message)) => {
                let text = rdkafka::Message::payload(&message).unwrap_or_default();
                found.push(String::from_utf8_lossy(text).into_owned());
            }
            Some(Err(rdkafka::error::KafkaError::PartitionEOF(_))) => ended += 1,
            _ => {}
        }
    }
    found
}

/// A program between two topics, as a member of a group.
fn between(address: &str, from: &str, to: &str, instance: &str) -> String {
    format!(
        "source k from kafka \"{address}\"
           with topics = \"{from}\", group = \"{from}\", session_timeout = 6s, instance = \"{instance}\",
                exactly_once = true end;
         sink o into kafka \"{address}\"
           with topic = \"{to}\", key = \"k#{{event.n % 50}}\", exactly_once = true end;
         k |> where event.n % 3 != 0 |> o"
    )
}

#[test]
fn from_topic_to_topic_each_message_comes_once_though_the_process_is_killed() {
    let Some(address) = peer("KAFKA") else { return };
    let (folder, from, to) = (Folder::new(), name("once-in"), name("once-out"));
    create(&address, &from, 4);
    create(&address, &to, 3);
    let count = 60_000;
    let sink = format!(
        "sink out into kafka \"{address}\" with topic = \"{from}\", key = \"k#{{event.n % 100}}\" end; in |> out"
    );
    run(&folder, &sink, &numbered(count)).succeeded();
    let program = between(&address, &from, &to, "one");
    let done = || committed(&address, &from, &from, 4);
    for kill in 1..=10 {
        let process = start(&folder, "between.tmb", &program);
        wait_until("some of it", || done() >= (kill * count / 12) as i64);
        process.kill();
    }
    // Two members go on, and one of them is killed, too.
    let other = start(&folder, "other.tmb", &between(&address, &from, &to, "two"));
    let process = start(&folder, "between.tmb", &program);
    wait_until("some of it", || done() >= (11 * count / 12) as i64);
    other.kill();
    // Transactions of the members' own markers count as offsets of the output, not of the input.
    wait_until("all of it", || done() == count as i64);
    process.terminate().succeeded();
    let found = read_committed(&address, &to, 3);
    let lines = counted(&found.join("\n"));
    let wanted = (0..count).filter(|n| n % 3 != 0);
    let missing = wanted.clone().filter(|n| !lines.contains_key(&format!("{{\"n\":{n}}}"))).count();
    let repeated = lines.values().filter(|count| **count > 1).count();
    assert_eq!((missing, repeated, found.len()), (0, 0, wanted.count()));
}

#[test]
fn what_a_broker_refuses_does_not_hold_up_the_transactions() {
    let Some(address) = peer("KAFKA") else { return };
    let (folder, from, to) = (Folder::new(), name("spoilt-in"), name("spoilt-out"));
    create(&address, &from, 1);
    create(&address, &to, 1);
    let sink = format!("sink out into kafka \"{address}\" with topic = \"{from}\" end; in |> out");
    run(&folder, &sink, &numbered(100)).succeeded();
    let program = format!(
        "source k from kafka \"{address}\" with topics = \"{from}\", group = \"{from}\", exactly_once = true end;
         sink o into kafka \"{address}\"
           with topic = \"{to}\", exactly_once = true, partition = (match event.n of case 7 => 9 case _ => 0 end) end;
         sink bad into file \"bad.json\";
         k |> o; o/err |> bad"
    );
    let process = start(&folder, "between.tmb", &program);
    wait_until("all of it", || committed(&address, &from, &from, 1) == 100);
    let ran = process.terminate();
    assert!(ran.err.contains("the transaction is made again"), "{}", ran.err);
    assert_eq!(read_committed(&address, &to, 1).len(), 99);
    let bad = folder.read("bad.json");
    assert!(bad.lines().count() == 1 && bad.contains("artition"), "{bad}");
}

#[test]
fn transactions_need_both_ends() {
    let Some(address) = peer("KAFKA") else { return };
    let (folder, topic) = (Folder::new(), name("half"));
    create(&address, &topic, 1);
    let source = format!(
        "source k from kafka \"{address}\" with topics = \"{topic}\", group = \"g\", exactly_once = true end; k |> out"
    );
    let mut process = start(&folder, "source.tmb", &source);
    process.wait_for_text("needs a sink into kafka");
    process.kill();
    let sink = format!(
        "sink o into kafka \"{address}\" with topic = \"{topic}\", exactly_once = true end; in |> o; o/err |> out"
    );
    let out = run(&folder, &sink, "{\"n\":1}\n").succeeded();
    assert!(out.contains("only what the source of the transactions gives"), "{out}");
}

/// A program that counts by user behind an internal topic: whole tens of each user come out.
fn counting(address: &str, from: &str, to: &str, within: &str) -> String {
    format!(
        "source k from kafka \"{address}\" with topics = \"{from}\", group = \"{from}\" end;
         sink o into kafka \"{address}\" with topic = \"{to}\" end;
         k |> partition by event.n % 200 using \"kafka://{address}\"
                with topic = \"{within}\", group = \"{within}\", partitions = 12 end
           |> select {{\"user\": group[0], \"n\": aggr::stats::count(), \"sum\": aggr::stats::sum(event.n)}}
              over 10 group by event.n % 200
           |> o"
    )
}

/// How many partitions of a topic the members of a group have, as far as the group itself has settled on that.
fn members(address: &str, group: &str) -> usize {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", address);
    let consumer: BaseConsumer = config.create().expect("the options are known");
    let found = consumer.fetch_group_list(Some(group), Duration::from_secs(30));
    let Ok(found) = found else { return 0 };
    let is_it = |one: &&rdkafka::groups::GroupInfo| one.name() == group && one.state() == "Stable";
    found.groups().iter().find(is_it).map_or(0, |one| one.members().len())
}

#[test]
fn events_of_one_key_meet_however_many_processes_there_are() {
    let Some(address) = peer("KAFKA") else { return };
    let (folder, count) = (Folder::new(), 24_000);
    let mut results = Vec::new();
    for processes in [1, 2, 4] {
        let topic = |part: &str| name(&format!("meet-{processes}-{part}"));
        let (from, to, within) = (topic("in"), topic("out"), topic("within"));
        create(&address, &from, 12);
        create(&address, &to, 3);
        let program = counting(&address, &from, &to, &within);
        let running: Vec<_> = (0..processes)
            .map(|number| start(&folder, &format!("{processes}-{number}.tmb"), &program))
            .collect();
        wait_until("all members", || {
            members(&address, &within) == processes && members(&address, &from) == processes
        });
        let sink = format!(
            "sink out into kafka \"{address}\" with topic = \"{from}\", partition = event.n % 12 end; in |> out"
        );
        run(&folder, &sink, &numbered(count)).succeeded();
        wait_until("all windows", || read_committed(&address, &to, 3).len() >= count / 10);
        running.into_iter().for_each(|one| drop(one.terminate().succeeded()));
        let mut lines = read_committed(&address, &to, 3);
        // Which ten of a user come together depends on the order of partitions; their number does not.
        let strip = |line: &String| line.split(",\"sum\"").next().unwrap_or_default().to_string();
        let sums: f64 = lines
            .iter()
            .filter_map(|line| {
                line.split("\"sum\":").nth(1)?.trim_end_matches('}').parse::<f64>().ok()
            })
            .sum();
        lines = lines.iter().map(strip).collect();
        lines.sort();
        results.push((lines, sums));
    }
    assert_eq!(results[0].0.len(), count / 10);
    assert!(results[1] == results[0] && results[2] == results[0]);
}

#[test]
fn an_internal_topic_with_another_number_of_partitions_is_refused() {
    let Some(address) = peer("KAFKA") else { return };
    let (folder, from, within) = (Folder::new(), name("other-in"), name("other-within"));
    create(&address, &from, 1);
    create(&address, &within, 3);
    let program = counting(&address, &from, &from, &within);
    let mut process = start(&folder, "other.tmb", &program);
    process.wait_for_text("has 3 partitions, not 12");
    wait_until("the end", || process.status().is_some());
    assert!(!process.status().expect("it has ended").success());
}
