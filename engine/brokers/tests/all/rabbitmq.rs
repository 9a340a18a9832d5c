//! RabbitMQ: queues and exchanges, with kills on both sides.

use lapin::options::{
    BasicGetOptions, BasicPublishOptions, ConfirmSelectOptions, QueueDeclareOptions,
};
use lapin::types::FieldTable;
use lapin::{BasicProperties, Channel, Connection, ConnectionProperties};
use temblor_testing::{Folder, OwnPeer, peer, wait_for, wait_until};
use tokio::runtime::Runtime;

use crate::{counted, ends_in_peace, numbered, outlives, run, start, wait_for_lines};

/// A client of the test's own.
struct Client {
    runtime: Runtime,
    _connection: Connection,
    channel: Channel,
}

impl Client {
    fn connect(address: &str) -> Self {
        let runtime = Runtime::new().expect("threads can be had");
        let (_connection, channel) = wait_for("rabbitmq", || {
            runtime.block_on(async {
                let uri = format!("amqp://{address}/%2f");
                let connection =
                    Connection::connect(&uri, ConnectionProperties::default()).await.ok()?;
                let channel = connection.create_channel().await.ok()?;
                channel.confirm_select(ConfirmSelectOptions::default()).await.ok()?;
                Some((connection, channel))
            })
        });
        Self { runtime, _connection, channel }
    }

    fn declare(&self, queue: &str) {
        let options = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
        let declared = self.channel.queue_declare(queue.into(), options, FieldTable::default());
        self.runtime.block_on(declared).expect("it can be declared");
    }

    fn publish(&self, queue: &str, messages: impl Iterator<Item = String>) {
        self.runtime.block_on(async {
            for message in messages {
                let properties = BasicProperties::default().with_delivery_mode(2);
                let options = BasicPublishOptions::default();
                let (exchange, key) = ("".into(), queue.into());
                let published = self.channel.basic_publish(
                    exchange,
                    key,
                    options,
                    message.as_bytes(),
                    properties,
                );
                published.await.expect("it is sent");
            }
            self.channel.wait_for_confirms().await.expect("it is confirmed");
        });
    }

    /// Messages that are ready.
    fn count(&self, queue: &str) -> u32 {
        self.runtime.block_on(async {
            let options = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::default() };
            let asked = self.channel.queue_declare(queue.into(), options, FieldTable::default());
            asked.await.map_or(u32::MAX, |queue| queue.message_count())
        })
    }

    fn get(&self, queue: &str) -> Option<lapin::message::BasicGetMessage> {
        let options = BasicGetOptions { no_ack: true };
        self.runtime.block_on(self.channel.basic_get(queue.into(), options)).expect("it answers")
    }
}

/// A queue that no other test has.
fn queue(name: &str) -> String {
    format!("temblor-test-{name}-{}", std::process::id())
}

#[test]
fn events_go_through_a_queue_in_order() {
    let Some(address) = peer("RABBITMQ") else { return };
    let (folder, queue) = (Folder::new(), queue("order"));
    let sink = format!(
        "sink out into rabbitmq \"amqp://{address}\"
           with routing_key = \"{queue}\", queue = \"{queue}\", headers = {{\"n\": event.n}},
                properties = {{\"content_type\": \"application/json\"}} end;
         in |> out"
    );
    run(&folder, &sink, &numbered(5000)).succeeded();
    let client = Client::connect(&address);
    assert_eq!(client.count(&queue), 5000);
    let source = format!(
        "source q from rabbitmq \"amqp://{address}\" with queue = \"{queue}\" end;
         sink f into file \"out.json\";
         q |> set event.m = $rabbitmq.headers.n
           |> set event.type = $rabbitmq.content_type
           |> set event.key = $rabbitmq.routing_key
           |> set event.again = $rabbitmq.redelivered |> f"
    );
    let process = start(&folder, "read.tmb", &source);
    wait_for_lines(&folder, "out.json", 5000);
    process.terminate().succeeded();
    let line = |n: usize| {
        format!(
            "{{\"n\":{n},\"m\":{n},\"type\":\"application/json\",\"key\":\"{queue}\",\"again\":false}}\n"
        )
    };
    assert_eq!(folder.read("out.json"), (0..5000).map(line).collect::<String>());
    assert_eq!(client.count(&queue), 0);
}

#[test]
fn nothing_is_lost_when_the_reader_is_killed() {
    let Some(address) = peer("RABBITMQ") else { return };
    let (folder, queue) = (Folder::new(), queue("killed"));
    let client = Client::connect(&address);
    client.declare(&queue);
    let count = 30_000;
    client.publish(&queue, (0..count).map(|n| format!("{{\"n\":{n}}}")));
    let source = format!(
        "source q from rabbitmq \"amqp://{address}\" with queue = \"{queue}\", prefetch = 2000 end;
         sink f into file \"out.json\" with mode = \"append\" end; q |> f"
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
    process.terminate().succeeded();
    wait_until("an empty queue", || client.count(&queue) == 0);
}

#[test]
fn what_no_queue_takes_goes_to_err() {
    let Some(address) = peer("RABBITMQ") else { return };
    let (folder, queue) = (Folder::new(), queue("err"));
    let client = Client::connect(&address);
    client.declare(&queue);
    let program = format!(
        "sink r into rabbitmq \"amqp://{address}\"
           with exchange = event.exchange ?? \"\", routing_key = event.key,
                properties = event.properties end;
         in |> r; r/err |> out"
    );
    let input = format!(
        "{{\"key\":\"{queue}\"}}\n{{\"key\":\"nobody-{queue}\"}}\n\
         {{\"key\":\"x\",\"exchange\":\"missing-{queue}\"}}\n\
         {{\"key\":\"{queue}\",\"properties\":{{\"colour\":1}}}}\n{{\"key\":\"{}\"}}\n",
        "k".repeat(300)
    );
    let out = run(&folder, &program, &input).succeeded();
    for wanted in ["NO_ROUTE", "no exchange", "there is no property", "longer than 255"] {
        assert!(out.contains(wanted), "{wanted}: {out}");
    }
    assert_eq!(out.lines().count(), 4, "{out}");
    // What shared the channel with the message to a missing exchange may have been published twice.
    assert!((1..=2).contains(&client.count(&queue)));
}

#[test]
fn exchanges_are_declared_and_bound() {
    let Some(address) = peer("RABBITMQ") else { return };
    let (folder, name) = (Folder::new(), queue("topic"));
    let source = format!(
        "source q from rabbitmq \"amqp://{address}\"
           with exchange = \"{name}\", exchange_type = \"topic\", routing_key = [\"*.error\"] end;
         sink f into file \"out.json\"; q |> f"
    );
    let process = start(&folder, "read.tmb", &source);
    let client = Client::connect(&address);
    let sink = format!(
        "sink out into rabbitmq \"amqp://{address}\"
           with exchange = \"{name}\", exchange_type = \"topic\", routing_key = event.key,
                mandatory = false end;
         in |> out"
    );
    // The queue of the reader is bound some time after it starts.
    wait_until("a message that arrives", || {
        run(&folder, &sink, "{\"key\":\"a.error\"}\n{\"key\":\"a.info\"}\n").succeeded();
        !folder.read("out.json").is_empty()
    });
    process.terminate().succeeded();
    assert!(!folder.read("out.json").contains("a.info"));
    drop(client);
}

#[test]
fn a_broker_that_dies_is_waited_for() {
    let Some(server) = OwnPeer::start("rabbitmq") else { return };
    let (address, folder) = (server.address("RABBITMQ"), Folder::new());
    let program = format!(
        "source q from rabbitmq \"amqp://{address}\" with queue = \"q\" end;
         sink r into rabbitmq \"amqp://{address}\" with routing_key = \"q\", queue = \"q\" end;
         source lines from stdin;
         sink f into file \"out.json\";
         lines |> r; q |> f"
    );
    let process = start(&folder, "both.tmb", &program);
    let process = outlives(&server, &folder, process, 100);
    ends_in_peace(process);
    assert!(folder.read("out.json").contains("{\"n\":100}"));
}

#[test]
fn connections_are_made_over_tls() {
    let Some(address) = peer("RABBITMQ_TLS") else { return };
    let Some(certificates) = peer("CERTIFICATES") else { return };
    let (folder, queue) = (Folder::new(), queue("tls"));
    let port = address.rsplit(':').next().unwrap();
    let sink = |ca: &str| {
        format!(
            "sink out into rabbitmq \"amqps://localhost:{port}\"
               with routing_key = \"{queue}\", queue = \"{queue}\",
                    tls = {{\"ca\": \"{certificates}/{ca}\"}}, retry = {{\"attempts\": 1}} end;
             in |> out"
        )
    };
    run(&folder, &sink("ca.pem"), &numbered(3)).succeeded();
    let Some(plain) = peer("RABBITMQ") else { return };
    let client = Client::connect(&plain);
    assert_eq!(client.get(&queue).map(|one| one.delivery.data), Some(b"{\"n\":0}".to_vec()));
    let ran = run(&folder, &sink("other-ca.pem"), &numbered(1));
    assert!(ran.err.contains("certificate"), "{}", ran.err);
    assert_eq!(client.count(&queue), 2);
}
