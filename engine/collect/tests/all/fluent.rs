//! `fluent` with the client of another project, with itself, and with peers that break the protocol.

use std::process::Command;

use temblor_testing::{Folder, Process, free_port, peer};

use crate::support::{ByHand, lines, listen, missing, numbers, run};

fn receiver(port: u16, settings: &str) -> String {
    format!(
        "source agents from fluent \"127.0.0.1:{port}\" with max_connections = 100{settings} end;\n\
         sink kept into file \"kept.ndjson\" with mode = \"append\" end;\n\
         sink err into file \"odd.ndjson\" with mode = \"append\" end;\n\
         agents |> kept"
    )
}

fn sender(address: &str, settings: &str) -> String {
    format!(
        "source numbers from file \"numbers.ndjson\";\n\
         sink onward into fluent \"{address}\" with timeout = \"10s\", retry = {{\"longest\": \"200ms\"}}{settings} \
         end;\nnumbers |> onward"
    )
}

const CLIENT: &str = r"
import sys
from fluent import sender
client = sender.FluentSender('app', host='127.0.0.1', port=int(sys.argv[1]), nanosecond_precision=True)
for number in range(1000):
    assert client.emit_with_time('web', sender.EventTime(1700000000.25), {'n': number, 't': 'ä', 'l': [1, None, 2.5]})
client.close()
";

#[test]
fn a_client_of_another_project_brings_tags_times_and_records() {
    let Some(python) = peer("PYTHON") else { return };
    let (folder, port) = (Folder::new(), free_port());
    let text = receiver(port, "").replace(
        "agents |> kept",
        "agents |> set event.tag = $fluent.tag, event.time = $fluent.time, event.host = $fluent.peer.host |> kept",
    );
    let program = listen(&folder, "in.tmb", &text, port);
    let mut command = Command::new(python);
    command.args(["-c", CLIENT, &port.to_string()]);
    Process::start(command).wait().succeeded();
    let kept = lines(&folder, "kept.ndjson", 1_000);
    let meta = r#""tag":"app.web","time":1700000000250000000,"host":"127.0.0.1""#;
    assert_eq!(kept[7], format!(r#"{{"n":7,"t":"ä","l":[1,null,2.5],{meta}}}"#));
    assert_eq!(kept.len(), 1_000);
    program.terminate().succeeded();
}

#[test]
fn chunks_go_there_and_back_with_every_setting() {
    for (server, client) in [
        ("", ""),
        ("", ", compression = \"gzip\", chunk = 100, tag = \"t\""),
        ("", ", acknowledge = false"),
        (
            ", shared_key = \"k\", username = \"u\", password = \"p\"",
            ", shared_key = \"k\", username = \"u\", password = \"p\"",
        ),
    ] {
        let (folder, port) = (Folder::new(), free_port());
        folder.write("numbers.ndjson", numbers(3_000));
        let program = listen(&folder, "in.tmb", &receiver(port, server), port);
        let text = sender(&format!("127.0.0.1:{port}"), client);
        run(&folder, "out.tmb", &text).wait().succeeded();
        assert_eq!(lines(&folder, "kept.ndjson", 3_000).len(), 3_000, "{client}");
        program.terminate().succeeded();
        assert_eq!(folder.read("kept.ndjson"), numbers(3_000), "{client}");
    }
}

#[test]
fn a_receiver_that_is_killed_loses_nothing_of_what_it_acknowledged() {
    let (folder, port) = (Folder::new(), free_port());
    let count = 60_000;
    folder.write("numbers.ndjson", numbers(count));
    let program = listen(&folder, "in.tmb", &receiver(port, ""), port);
    let text = sender(&format!("127.0.0.1:{port}"), ", chunk = 100");
    let sending = run(&folder, "out.tmb", &text);
    lines(&folder, "kept.ndjson", 2_000);
    program.kill();
    let program = listen(&folder, "in.tmb", &receiver(port, ""), port);
    sending.wait().succeeded();
    program.terminate().succeeded();
    let kept = folder.read("kept.ndjson").replace("}{", "}\n{");
    let kept: Vec<String> = kept.lines().map(str::to_string).collect();
    assert_eq!(missing(&kept, count), Vec::<usize>::new());
}

#[test]
fn a_wrong_key_is_refused_and_said() {
    let (folder, port) = (Folder::new(), free_port());
    folder.write("numbers.ndjson", numbers(1));
    let mut program = listen(&folder, "in.tmb", &receiver(port, ", shared_key = \"right\""), port);
    let text = sender(&format!("127.0.0.1:{port}"), ", shared_key = \"wrong\"")
        .replace("\"longest\": \"200ms\"", "\"attempts\": 2, \"first\": \"10ms\"");
    let refused = run(&folder, "out.tmb", &text).wait();
    assert!(
        refused.err.contains("the peer refuses the handshake: shared_key mismatch"),
        "{}",
        refused.err
    );
    program.wait_for_text("the handshake failed: shared_key mismatch");
    program.terminate();
    assert_eq!(folder.read("kept.ndjson"), "");
}

#[test]
fn a_chunk_is_acknowledged_and_what_is_no_message_goes_to_err() {
    let (folder, port) = (Folder::new(), free_port());
    let program = listen(&folder, "in.tmb", &receiver(port, ", max_message = \"1KiB\""), port);
    let mut client = ByHand::connect(port);
    // ["t", [[1, {"n": 0}]], {"chunk": "c"}], after a sign of life.
    client.send(b"\xc0\x93\xa1t\x91\x92\x01\x81\xa1n\x00\x81\xa5chunk\xa1c");
    assert_eq!(client.expect(7), b"\x81\xa3ack\xa1c");
    for (bytes, reason) in [
        (&b"\x92\x01\x02"[..], "a message begins with its tag, a text"),
        (b"\x92\xa1t\xc6\xff\xff\xff\xff", "a message is longer than 1024 bytes"),
        (b"\xc1", "the byte 0xc1 is no MessagePack"),
        (&[0x91; 200], "a message nests deeper than 128"),
    ] {
        let before = folder.read("odd.ndjson").lines().count();
        let mut client = ByHand::connect(port);
        client.send(bytes);
        assert_eq!(client.rest(), b"");
        let odd = lines(&folder, "odd.ndjson", before + 1);
        assert!(odd[before].contains(reason), "{odd:?}");
    }
    program.terminate().succeeded();
    assert_eq!(folder.read("kept.ndjson"), numbers(1));
}
