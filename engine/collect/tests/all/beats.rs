//! `beats` with Elastic's own sender and receiver, with itself over TLS, and with peers that break the protocol.

use std::process::Command;

use temblor_testing::{Folder, Process, free_port, peer, wait_until};

use crate::support::{ByHand, lines, listen, missing, numbers, run};

fn receiver(port: u16, settings: &str) -> String {
    format!(
        "source shippers from beats \"127.0.0.1:{port}\" with max_connections = 100{settings} end;\n\
         sink kept into file \"kept.ndjson\" with mode = \"append\" end;\n\
         sink err into file \"odd.ndjson\" with mode = \"append\" end;\n\
         shippers |> kept"
    )
}

fn sender(address: &str, settings: &str) -> String {
    format!(
        "source numbers from file \"numbers.ndjson\";\n\
         sink onward into beats \"{address}\" with timeout = \"10s\", retry = {{\"longest\": \"200ms\"}}{settings} \
         end;\nnumbers |> onward"
    )
}

fn frame(kind: &[u8; 2], numbers: &[u32], payload: &[u8]) -> Vec<u8> {
    let numbers = numbers.iter().flat_map(|number| number.to_be_bytes());
    kind.iter().copied().chain(numbers).chain(payload.iter().copied()).collect()
}

fn event(sequence: u32, text: &str) -> Vec<u8> {
    frame(b"2J", &[sequence, text.len() as u32], text.as_bytes())
}

#[test]
fn elastics_sender_is_acknowledged_with_and_without_compression() {
    let Some(tool) = peer("TST_SEND") else { return };
    for compression in ["0", "3"] {
        let (folder, port) = (Folder::new(), free_port());
        let program = listen(&folder, "in.tmb", &receiver(port, ""), port);
        let mut command = Command::new(&tool);
        command.args(["-c", &format!("127.0.0.1:{port}"), "-compress", compression]);
        command.args(["-batch", "500", "-httpprof", &format!("127.0.0.1:{}", free_port())]);
        let sending = Process::start(command);
        // It sends the next batch only when the last one was acknowledged.
        let kept = lines(&folder, "kept.ndjson", 5_000);
        assert!(kept[0].starts_with('{') && kept[0].ends_with('}'), "{}", kept[0]);
        sending.kill();
        program.terminate().succeeded();
        assert_eq!(folder.read("odd.ndjson"), "");
    }
}

#[test]
fn elastics_receiver_takes_all_events_compressed_or_not() {
    let Some(tool) = peer("TST_LJ") else { return };
    for compression in [0, 6] {
        let (folder, port) = (Folder::new(), free_port());
        let mut command = Command::new(&tool);
        command.args(["-bind", &format!("127.0.0.1:{port}"), "-v2", "-d"]);
        let receiving = Process::start(command);
        temblor_testing::wait_for_listener(&format!("127.0.0.1:{port}"));
        folder.write("numbers.ndjson", numbers(5_000));
        let settings = format!(", window = 700, compression = {compression}");
        let text = sender(&format!("127.0.0.1:{port}"), &settings);
        run(&folder, "out.tmb", &text).wait().succeeded();
        let said = || format!("{}{}", receiving.out(), receiving.err());
        let count = || said().matches("Received event").count();
        wait_until("all events", || count() == 5_000);
    }
}

#[test]
fn tls_with_client_certificates_lets_in_only_those_who_have_one() {
    let Some(folder_of_certificates) = peer("CERTIFICATES") else { return };
    let file = |name: &str| format!("{folder_of_certificates}/{name}.pem");
    let key = |name: &str| format!("{folder_of_certificates}/{name}.key");
    let (folder, port) = (Folder::new(), free_port());
    let tls = format!(
        ", tls = {{\"cert\": \"{}\", \"key\": \"{}\", \"ca\": \"{}\"}}",
        file("server"),
        key("server"),
        file("ca")
    );
    let program = listen(&folder, "in.tmb", &receiver(port, &tls), port);
    folder.write("numbers.ndjson", numbers(3_000));
    let client = format!(
        ", tls = {{\"cert\": \"{}\", \"key\": \"{}\", \"ca\": \"{}\", \"server_name\": \"localhost\"}}",
        file("client"),
        key("client"),
        file("ca")
    );
    let address = format!("127.0.0.1:{port}");
    run(&folder, "out.tmb", &sender(&address, &client)).wait().succeeded();
    let kept = lines(&folder, "kept.ndjson", 3_000);
    assert_eq!((kept.len(), missing(&kept, 3_000)), (3_000, Vec::new()));
    let stranger = format!(
        ", tls = {{\"ca\": \"{}\", \"server_name\": \"localhost\"}}, retry = {{\"attempts\": 2}}",
        file("ca")
    );
    let text = sender(&address, &stranger).replace(", retry = {\"longest\": \"200ms\"}", "");
    let refused = run(&folder, "refused.tmb", &text).wait();
    assert!(refused.err.contains(&address), "{}", refused.err);
    assert_eq!(lines(&folder, "kept.ndjson", 3_000).len(), 3_000);
    program.terminate();
}

#[test]
fn a_receiver_that_is_killed_loses_nothing_of_what_it_acknowledged() {
    let (folder, port) = (Folder::new(), free_port());
    let count = 60_000;
    folder.write("numbers.ndjson", numbers(count));
    let program = listen(&folder, "in.tmb", &receiver(port, ""), port);
    let text = sender(&format!("127.0.0.1:{port}"), ", window = 100");
    let sending = run(&folder, "out.tmb", &text);
    lines(&folder, "kept.ndjson", 2_000);
    program.kill();
    let program = listen(&folder, "in.tmb", &receiver(port, ""), port);
    sending.wait().succeeded();
    program.terminate().succeeded();
    // A line that the kill tore is followed by its repetition.
    let kept = folder.read("kept.ndjson").replace("}{", "}\n{");
    let kept: Vec<String> = kept.lines().map(str::to_string).collect();
    assert_eq!(missing(&kept, count), Vec::<usize>::new());
}

#[test]
fn the_next_host_is_tried_when_one_is_dead() {
    let (folder, port, dead) = (Folder::new(), free_port(), free_port());
    folder.write("numbers.ndjson", numbers(10));
    let program = listen(&folder, "in.tmb", &receiver(port, ""), port);
    let hosts = format!(", hosts = [\"127.0.0.1:{port}\"]");
    run(&folder, "out.tmb", &sender(&format!("127.0.0.1:{dead}"), &hosts)).wait().succeeded();
    program.terminate().succeeded();
    assert_eq!(folder.read("kept.ndjson"), numbers(10));
}

#[test]
fn windows_of_both_versions_are_acknowledged_and_broken_events_go_to_err() {
    let (folder, port) = (Folder::new(), free_port());
    let program = listen(&folder, "in.tmb", &receiver(port, ""), port);
    let mut client = ByHand::connect(port);
    client.send(&[frame(b"2W", &[2], b""), event(1, "{\"n\":1}"), event(2, "{\"n\":")].concat());
    assert_eq!(client.expect(6), frame(b"2A", &[2], b""));
    let pairs = b"\0\0\0\x01\0\0\0\x04line\0\0\0\x02hi";
    client.send(&[frame(b"1W", &[1], b""), frame(b"1D", &[7], pairs)].concat());
    assert_eq!(client.expect(6), frame(b"1A", &[7], b""));
    client.send(b"GET / HTTP/1.1\r\n\r\n");
    assert_eq!(client.rest(), b"");
    assert_eq!(lines(&folder, "kept.ndjson", 2), ["{\"n\":1}", "{\"line\":\"hi\"}"]);
    let odd = lines(&folder, "odd.ndjson", 2);
    assert!(
        odd[1].contains("expected a frame of Lumberjack") && odd[1].contains("GET /"),
        "{odd:?}"
    );
    program.terminate().succeeded();
}

#[test]
fn silent_peers_and_frames_beyond_the_bounds_end_their_connection() {
    let (folder, port) = (Folder::new(), free_port());
    let settings =
        ", idle = \"200ms\", max_frame = \"1KiB\", max_unpacked = \"1KiB\", max_window = 10";
    let program = listen(&folder, "in.tmb", &receiver(port, settings), port);
    let mut silent = ByHand::connect(port);
    silent.send(b"2W\0\0\0\x01");
    assert_eq!(silent.rest(), b"");
    for bytes in [frame(b"2W", &[11], b""), frame(b"2J", &[1, 2_000], b"{")] {
        let mut client = ByHand::connect(port);
        client.send(&bytes);
        assert_eq!(client.rest(), b"");
    }
    let odd = lines(&folder, "odd.ndjson", 2);
    assert!(odd[0].contains("a window of 11 events is larger than `max_window`, 10"), "{odd:?}");
    assert!(odd[1].contains("a frame of 2000 bytes is longer than `max_frame`, 1024"), "{odd:?}");
    program.terminate().succeeded();
}

#[test]
fn events_that_are_no_records_come_back() {
    let (folder, port) = (Folder::new(), free_port());
    folder.write("numbers.ndjson", "{\"n\":0}\n7\n{\"n\":1}\n");
    let program = listen(&folder, "in.tmb", &receiver(port, ""), port);
    let text = sender(&format!("127.0.0.1:{port}"), "");
    let text = format!("{text};\nsink back into file \"back.ndjson\";\nonward/err |> back");
    run(&folder, "out.tmb", &text).wait().succeeded();
    program.terminate().succeeded();
    assert_eq!(folder.read("kept.ndjson"), numbers(2));
    let back = folder.read("back.ndjson");
    let reason = "\"error\":\"Lumberjack carries records, and this event is none\"";
    assert!(back.contains(reason) && back.contains("\"event\":\"7\""), "{back}");
}
