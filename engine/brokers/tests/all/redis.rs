//! Redis: lists, streams and channels, with kills on both sides.

use redis::{Commands, Connection};
use temblor_testing::{Folder, OwnPeer, peer, wait_for, wait_until};

use crate::{counted, ends_in_peace, numbered, outlives, run, start, wait_for_lines};

fn connect(address: &str) -> Connection {
    let client = redis::Client::open(format!("redis://{address}")).expect("the address is one");
    wait_for("redis", || client.get_connection().ok())
}

/// A key that no other test has.
fn key(name: &str) -> String {
    format!("temblor-test:{name}:{}", std::process::id())
}

#[test]
fn a_list_goes_in_and_out_in_order() {
    let Some(address) = peer("REDIS") else { return };
    let (folder, list) = (Folder::new(), key("list"));
    let sink =
        format!(r#"sink out into redis "redis://{address}" with list = "{list}" end; in |> out"#);
    run(&folder, &sink, &numbered(5000)).succeeded();
    let mut redis = connect(&address);
    assert_eq!(redis.llen::<_, usize>(&list), Ok(5000));
    let source = format!(
        "source l from redis \"redis://{address}\" with list = \"{list}\" end;
         sink f into file \"out.json\";
         l |> set event.list = $redis.list |> f"
    );
    let process = start(&folder, "read.tmb", &source);
    wait_for_lines(&folder, "out.json", 5000);
    process.terminate().succeeded();
    let wanted: String =
        (0..5000).map(|n| format!("{{\"n\":{n},\"list\":\"{list}\"}}\n")).collect();
    assert_eq!(folder.read("out.json"), wanted);
    assert_eq!(redis.llen::<_, usize>(format!("{list}:l:processing")), Ok(0));
}

#[test]
fn a_list_loses_nothing_when_the_reader_is_killed() {
    let Some(address) = peer("REDIS") else { return };
    let (folder, list) = (Folder::new(), key("killed"));
    let mut redis = connect(&address);
    let count = 30_000;
    for start in (0..count).step_by(1000) {
        let some: Vec<_> = (start..start + 1000).map(|n| format!("{{\"n\":{n}}}")).collect();
        redis.rpush::<_, _, ()>(&list, some).unwrap();
    }
    let source = format!(
        "source l from redis \"redis://{address}\" with list = \"{list}\" end;
         sink f into file \"out.json\" with mode = \"append\" end; l |> f"
    );
    for kill in 1..=3 {
        let process = start(&folder, "read.tmb", &source);
        wait_for_lines(&folder, "out.json", kill * 2000);
        process.kill();
    }
    let process = start(&folder, "read.tmb", &source);
    wait_until("an empty list", || {
        redis.llen::<_, usize>(&list) == Ok(0)
            && redis.llen::<_, usize>(format!("{list}:l:processing")) == Ok(0)
    });
    process.terminate().succeeded();
    // A line that was being written when the reader was killed is followed by a whole one.
    let lines = counted(&folder.read("out.json"));
    let missing = (0..count).filter(|n| !lines.contains_key(&format!("{{\"n\":{n}}}"))).count();
    assert_eq!(missing, 0);
}

#[test]
fn a_stream_is_acknowledged_and_taken_over_from_who_died() {
    let Some(address) = peer("REDIS") else { return };
    let (folder, stream) = (Folder::new(), key("stream"));
    let sink = format!(
        r#"sink out into redis "redis://{address}" with stream = "{stream}" end; in |> out"#
    );
    run(&folder, &sink, &numbered(3000)).succeeded();
    let mut redis = connect(&address);
    redis.xgroup_create::<_, _, _, ()>(&stream, "g", "0").unwrap();
    // Another consumer takes some and dies.
    let read: redis::Value = redis::cmd("XREADGROUP")
        .arg(&["GROUP", "g", "dead", "COUNT", "100", "STREAMS", stream.as_str(), ">"])
        .query(&mut redis)
        .unwrap();
    assert!(!matches!(read, redis::Value::Nil));
    let source = format!(
        "source s from redis \"redis://{address}\"
           with stream = \"{stream}\", group = \"g\", claim_after = 1s end;
         sink f into file \"out.json\"; s |> f"
    );
    let process = start(&folder, "read.tmb", &source);
    wait_for_lines(&folder, "out.json", 3000);
    let pending = |redis: &mut Connection| -> usize {
        let info: (usize, redis::Value, redis::Value, redis::Value) =
            redis::cmd("XPENDING").arg(&stream).arg("g").query(redis).unwrap();
        info.0
    };
    wait_until("all entries acknowledged", || pending(&mut redis) == 0);
    process.terminate().succeeded();
    assert_eq!(counted(&folder.read("out.json")).values().sum::<usize>(), 3000);
}

#[test]
fn channels_are_listened_to_and_published_to() {
    let Some(address) = peer("REDIS") else { return };
    let (folder, channel) = (Folder::new(), key("channel"));
    let source = format!(
        "source c from redis \"redis://{address}\" with pattern = \"{channel}.*\" end;
         sink f into file \"out.json\";
         c |> set event.channel = $redis.channel |> f"
    );
    let process = start(&folder, "listen.tmb", &source);
    let mut redis = connect(&address);
    wait_until("a listener", || {
        let count: redis::RedisResult<usize> = redis.publish(format!("{channel}.x"), "not json");
        count == Ok(1)
    });
    let sink = format!(
        "sink out into redis \"redis://{address}\" with channel = \"{channel}.#{{event.n}}\" end; in |> out"
    );
    run(&folder, &sink, &numbered(3)).succeeded();
    wait_for_lines(&folder, "out.json", 3);
    let ran = process.terminate();
    assert!(ran.err.contains("not json"), "{}", ran.err);
    let wanted: String =
        (0..3).map(|n| format!("{{\"n\":{n},\"channel\":\"{channel}.{n}\"}}\n")).collect();
    assert_eq!(folder.read("out.json"), wanted);
}

#[test]
fn a_server_that_dies_is_waited_for() {
    let Some(server) = OwnPeer::start("redis") else { return };
    let address = server.address("REDIS");
    let folder = Folder::new();
    let program = format!(
        "source l from redis \"redis://{address}\" with list = \"l\" end;
         sink r into redis \"redis://{address}\" with list = \"l\" end;
         source lines from stdin;
         sink f into file \"out.json\";
         lines |> r; l |> f"
    );
    let process = start(&folder, "both.tmb", &program);
    let process = outlives(&server, &folder, process, 10);
    ends_in_peace(process);
}

#[test]
fn what_redis_refuses_goes_to_err() {
    let Some(address) = peer("REDIS") else { return };
    let (folder, wrong) = (Folder::new(), key("wrong"));
    let mut redis = connect(&address);
    redis.set::<_, _, ()>(&wrong, "a text").unwrap();
    let program = format!(
        "sink r into redis \"redis://{address}\" with list = event.list end;
         in |> r; r/err |> out"
    );
    let good = key("good");
    let input = format!("{{\"list\":\"{wrong}\"}}\n{{\"list\":\"{good}\"}}\n{{}}\n");
    let out = run(&folder, &program, &input).succeeded();
    assert_eq!(out.lines().count(), 2, "{out}");
    assert!(out.contains("WRONGTYPE") && out.contains(&wrong), "{out}");
    assert!(out.contains("neither a list, a channel nor a stream"), "{out}");
    assert_eq!(redis.llen::<_, usize>(&good), Ok(1));
}

#[test]
fn connections_are_made_over_tls() {
    let Some(address) = peer("REDIS_TLS") else { return };
    let Some(certificates) = peer("CERTIFICATES") else { return };
    let (folder, list) = (Folder::new(), key("tls"));
    let names = std::fs::read_dir(&certificates).unwrap();
    let mut names: Vec<_> =
        names.map(|one| one.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let ca = names.iter().find(|name| name.starts_with("ca") && name.ends_with(".pem"));
    let ca = ca.unwrap_or_else(|| panic!("no authority among {names:?}"));
    let with = format!("with list = \"{list}\", tls = {{\"ca\": \"{certificates}/{ca}\"}} end");
    let port = address.rsplit(':').next().unwrap();
    let sink = format!("sink out into redis \"rediss://localhost:{port}\" {with}; in |> out");
    run(&folder, &sink, &numbered(3)).succeeded();
    let source = format!(
        "source l from redis \"rediss://localhost:{port}\" {with}; sink f into file \"out.json\"; l |> f"
    );
    let process = start(&folder, "read.tmb", &source);
    wait_for_lines(&folder, "out.json", 3);
    process.terminate().succeeded();
    assert_eq!(folder.read("out.json"), numbered(3));
}
