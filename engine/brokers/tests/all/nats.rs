//! NATS: streams and subjects, with kills on both sides.

use async_nats::jetstream::consumer::PullConsumer;
use async_nats::{ConnectOptions, jetstream};
use temblor_testing::{Folder, OwnPeer, peer, wait_until};
use tokio::runtime::Runtime;

use crate::{counted, ends_in_peace, numbered, outlives, run, start, wait_for_lines};

/// A name that no other test has, and that can be a subject, a stream and a consumer.
fn name(text: &str) -> String {
    format!("temblor-test-{text}-{}", std::process::id())
}

/// How many messages a stream has, and how many of them a consumer still owes an acknowledgement.
fn state(address: &str, stream: &str, consumer: &str) -> (u64, Option<u64>) {
    Runtime::new().expect("threads can be had").block_on(async {
        let client = ConnectOptions::new().connect(address).await.expect("it listens");
        let stream = jetstream::new(client).get_stream(stream).await.expect("the stream is there");
        let consumer: Result<PullConsumer, _> = stream.get_consumer(consumer).await;
        let owed = consumer.ok().map(|consumer| {
            let info = consumer.cached_info();
            info.num_pending + info.num_ack_pending as u64
        });
        (stream.cached_info().state.messages, owed)
    })
}

#[test]
fn events_go_through_a_stream_in_order() {
    let Some(address) = peer("NATS") else { return };
    let (folder, name) = (Folder::new(), name("order"));
    let sink = format!(
        "sink out into nats \"nats://{address}\"
           with subject = \"{name}.x\", stream = \"{name}\", stream_subjects = [\"{name}.>\"],
                headers = {{\"n\": event.n, \"l\": [\"a\", \"b\"]}} end;
         in |> out"
    );
    run(&folder, &sink, &numbered(5000)).succeeded();
    assert_eq!(state(&address, &name, "none"), (5000, None));
    let source = format!(
        "source s from nats \"nats://{address}\" with stream = \"{name}\", durable = \"reader\" end;
         sink f into file \"out.json\";
         s |> set event.m = $nats.headers.n
           |> set event.l = $nats.headers.l
           |> set event.subject = $nats.subject
           |> set event.sequence = $nats.sequence
           |> set event.delivered = $nats.delivered |> f"
    );
    let process = start(&folder, "read.tmb", &source);
    wait_for_lines(&folder, "out.json", 5000);
    process.terminate().succeeded();
    let line = |n: usize| {
        format!(
            "{{\"n\":{n},\"m\":\"{n}\",\"l\":[\"a\",\"b\"],\"subject\":\"{name}.x\",\"sequence\":{},\
             \"delivered\":1}}\n",
            n + 1
        )
    };
    assert_eq!(folder.read("out.json"), (0..5000).map(line).collect::<String>());
    assert_eq!(state(&address, &name, "reader"), (5000, Some(0)));
}

#[test]
fn nothing_is_lost_when_the_reader_is_killed() {
    let Some(address) = peer("NATS") else { return };
    let (folder, name) = (Folder::new(), name("killed"));
    let count = 20_000;
    let sink = format!(
        "sink out into nats \"nats://{address}\"
           with subject = \"{name}\", stream = \"{name}\", stream_subjects = [\"{name}\"] end;
         in |> out"
    );
    run(&folder, &sink, &numbered(count)).succeeded();
    let source = format!(
        "source s from nats \"nats://{address}\"
           with stream = \"{name}\", durable = \"reader\", ack_wait = 2s, max_unacknowledged = 2000 end;
         sink f into file \"out.json\" with mode = \"append\" end; s |> f"
    );
    for kill in 1..=3 {
        let process = start(&folder, "read.tmb", &source);
        wait_for_lines(&folder, "out.json", kill * 3000);
        process.kill();
    }
    let process = start(&folder, "read.tmb", &source);
    wait_until("all lines", || {
        let lines = counted(&folder.read("out.json"));
        (0..count).all(|n| lines.contains_key(&format!("{{\"n\":{n}}}")))
    });
    wait_until("all acknowledgements", || state(&address, &name, "reader").1 == Some(0));
    process.terminate().succeeded();
    let lines = counted(&folder.read("out.json"));
    let repeated: usize = lines.values().map(|count| count - 1).sum();
    // A kill repeats what was delivered and not acknowledged.
    assert!(repeated <= 3 * 2000, "{repeated} lines came twice");
}

#[test]
fn what_no_stream_takes_goes_to_err() {
    let Some(address) = peer("NATS") else { return };
    let (folder, name) = (Folder::new(), name("err"));
    let program = format!(
        "sink n into nats \"nats://{address}\"
           with subject = event.subject, headers = event.headers,
                stream = \"{name}\", stream_subjects = [\"{name}.a\"] end;
         in |> n; n/err |> out"
    );
    let input = format!(
        "{{\"subject\":\"{name}.a\"}}\n{{\"subject\":\"{name}.b\"}}\n{{}}\n{{\"subject\":\"a b\"}}\n\
         {{\"subject\":\"{name}.a\",\"headers\":7}}\n{{\"subject\":\"{name}.a\",\"text\":\"{}\"}}\n",
        "x".repeat(1_100_000)
    );
    let out = run(&folder, &program, &input).succeeded();
    for wanted in
        ["no stream takes", "names no subject", "subject", "must be a record", "max payload"]
    {
        assert!(out.contains(wanted), "{wanted}: {}", &out[..out.len().min(3000)]);
    }
    assert_eq!(out.lines().count(), 5);
    assert_eq!(state(&address, &name, "none").0, 1);
}

#[test]
fn a_server_that_dies_is_waited_for_and_stores_each_message_once() {
    let Some(server) = OwnPeer::start("nats") else { return };
    let (address, folder) = (server.address("NATS"), Folder::new());
    let sink = format!(
        "sink n into nats \"nats://{address}\"
           with subject = \"s\", stream = \"S\", stream_subjects = \"s\" end;"
    );
    run(&folder, &format!("{sink} in |> n"), "{\"n\":0}\n").succeeded();
    let program = format!(
        "source s from nats \"nats://{address}\" with stream = \"S\", durable = \"d\" end;
         {sink}
         source lines from stdin;
         sink f into file \"out.json\";
         lines |> n; s |> f"
    );
    let process = start(&folder, "both.tmb", &program);
    let process = outlives(&server, &folder, process, 100);
    ends_in_peace(process);
    // The first event was there before, and came again.
    assert_eq!(state(&address, "S", "d").0, 102);
}

#[test]
fn members_of_a_queue_group_share_what_is_published() {
    let Some(address) = peer("NATS") else { return };
    let (folder, name) = (Folder::new(), name("group"));
    let source = |file: &str| {
        format!(
            "source s from nats \"nats://{address}\" with subjects = [\"{name}.*\"], queue = \"g\" end;
             sink f into file \"{file}\"; s |> set event.subject = $nats.subject |> f"
        )
    };
    let one = start(&folder, "one.tmb", &source("one.json"));
    let two = start(&folder, "two.tmb", &source("two.json"));
    let sink = format!(
        "sink out into nats \"nats://{address}\" with subject = \"{name}.#{{event.n}}\" end; in |> out"
    );
    let both = || folder.read("one.json") + &folder.read("two.json");
    // Subjects have no memory: it is published until both listen.
    wait_until("both to listen", || {
        run(&folder, &sink, &numbered(20)).succeeded();
        !folder.read("one.json").is_empty() && !folder.read("two.json").is_empty()
    });
    let count = || both().matches("\"n\":19").count();
    let before = count();
    run(&folder, &sink, &numbered(20)).succeeded();
    wait_until("one more of each", || count() == before + 1);
    assert!(both().contains(&format!("{{\"n\":19,\"subject\":\"{name}.19\"}}")));
    one.terminate().succeeded();
    two.terminate().succeeded();
}

#[test]
fn users_are_known_over_tls_and_strangers_are_not() {
    let Some(address) = peer("NATS_TLS") else { return };
    let Some(certificates) = peer("CERTIFICATES") else { return };
    let (folder, name) = (Folder::new(), name("tls"));
    let port = address.rsplit(':').next().unwrap();
    let sink = |password: &str, ca: &str| {
        format!(
            "sink out into nats \"tls://localhost:{port}\"
               with subject = \"{name}\", stream = \"{name}\", stream_subjects = \"{name}\",
                    username = \"temblor\", password = \"{password}\",
                    tls = {{\"ca\": \"{certificates}/{ca}\"}}, retry = {{\"attempts\": 1}} end;
             in |> out"
        )
    };
    run(&folder, &sink("secret", "ca.pem"), &numbered(3)).succeeded();
    let ran = run(&folder, &sink("wrong", "ca.pem"), &numbered(1));
    assert!(ran.err.contains("authorization"), "{}", ran.err);
    let ran = run(&folder, &sink("secret", "other-ca.pem"), &numbered(1));
    assert!(ran.err.to_lowercase().contains("certificate"), "{}", ran.err);
}
