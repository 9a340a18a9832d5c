//! What flows and Logstash configurations keep on disk: queues and dead letters, as Temblor files do.
//!
//! Invariant: what an input has acknowledged arrives, whatever kills the run in between.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use temblor_testing::{Folder, Process, free_port, temblor, wait_for_listener, wait_until};

/// A server that answers each request with the status that holds now, and keeps what it took.
struct Peer {
    address: String,
    status: Arc<AtomicU64>,
    taken: Arc<Mutex<Vec<String>>>,
}

impl Peer {
    fn start(status: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there are ports");
        let address = listener.local_addr().expect("it has one").to_string();
        let (status, taken) = (Arc::new(AtomicU64::new(status)), Arc::<Mutex<Vec<_>>>::default());
        let peer = Self { address, status: Arc::clone(&status), taken: Arc::clone(&taken) };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (status, taken) = (Arc::clone(&status), Arc::clone(&taken));
                std::thread::spawn(move || serve(&stream, &status, &taken));
            }
        });
        peer
    }

    fn answer(&self, status: u64) {
        self.status.store(status, Ordering::Release);
    }

    fn has(&self, text: &str) -> bool {
        self.taken.lock().expect("nobody panics").iter().any(|body| body.contains(text))
    }
}

fn serve(stream: &TcpStream, status: &AtomicU64, taken: &Mutex<Vec<String>>) -> Option<()> {
    let (mut reader, mut writer) = (BufReader::new(stream), stream);
    loop {
        let (mut length, mut line) = (0, String::new());
        while line != "\r\n" {
            line.clear();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if let Some(text) = line.to_lowercase().strip_prefix("content-length: ") {
                length = text.trim().parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let status = status.load(Ordering::Acquire);
        if status == 200 {
            let body = String::from_utf8_lossy(&body).into_owned();
            taken.lock().expect("nobody panics").push(body);
        }
        let answer = format!("HTTP/1.1 {status} Said\r\nContent-Length: 0\r\n\r\n");
        writer.write_all(answer.as_bytes()).ok()?;
    }
}

fn run(folder: &Folder, arguments: &[&str]) -> Process {
    let all = ["run", "-q"].into_iter().chain(arguments.iter().copied());
    temblor(all).folder(folder.path()).start()
}

/// A flow that reads a file and writes to a peer over TCP, with more settings of the sink.
fn flow(address: &str, settings: &str) -> String {
    let (host, port) = address.split_once(':').expect("it has a port");
    format!(
        "define flow main\nflow\n  use tremor::pipelines;\n\
         \x20 define connector lines from file with\n    codec = \"json\", preprocessors = [\"separate\"],\n\
         \x20   config = {{\"path\": \"in.json\", \"mode\": \"read\"}}\n  end;\n\
         \x20 define connector peer from tcp_client with\n    codec = \"json\", postprocessors = [\"separate\"], {settings},\n\
         \x20   config = {{\"url\": \"{host}:{port}\"}}\n  end;\n\
         \x20 create connector lines;\n  create connector peer;\n  create pipeline pass from pipelines::passthrough;\n\
         \x20 connect /connector/lines to /pipeline/pass;\n  connect /pipeline/pass to /connector/peer;\n\
         end;\ndeploy flow main;\n"
    )
}

#[test]
fn a_sink_of_a_flow_has_a_buffer_on_disk_that_outlives_kills() {
    let (folder, port) = (Folder::new(), free_port());
    folder.write("in.json", "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n");
    let address = format!("127.0.0.1:{port}");
    folder.write("f.troy", flow(&address, "buffer = \"disk\", buffer_bytes = \"1MiB\""));
    let arguments = ["f.troy", "--state", "state"];
    let call = |arguments: &[&str]| temblor(arguments).folder(folder.path()).run();
    let process = run(&folder, &arguments);
    wait_until("all three are kept", || {
        call(&["buffer", "inspect", "state", "--json"]).out.contains("\"pending_events\":3")
    });
    process.kill();
    let exported = call(&["buffer", "export", "state", "--json"]).succeeded();
    let events: Vec<serde_json::Value> =
        exported.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let texts: Vec<_> = events.iter().map(|event| event["event"].as_str()).collect();
    assert_eq!(texts, [Some("{\"n\":1}"), Some("{\"n\":2}"), Some("{\"n\":3}")], "{exported}");
    assert!(events[0]["buffer"].as_str().is_some_and(|name| name.contains("peer")), "{exported}");
    let listener = TcpListener::bind(&address).expect("the port is free");
    let process = run(&folder, &arguments);
    let (stream, _) = listener.accept().expect("the run connects");
    let mut lines = BufReader::new(stream).lines();
    let next: Vec<_> = lines.by_ref().take(3).map(|line| line.expect("a line")).collect();
    assert_eq!(next, ["{\"n\":1}", "{\"n\":2}", "{\"n\":3}"]);
    process.kill();
}

#[test]
fn queues_of_flows_are_checked_and_have_no_port_for_what_finds_no_room() {
    let folder = Folder::new();
    for (settings, message) in [
        ("when_full = \"divert\"", "does not go with connectors of flows"),
        ("buffer = \"dusk\"", "disk"),
        ("priority = 1", "`priority` has no meaning without `shed`"),
        ("quue_bytes = 1", "quue_bytes"),
    ] {
        folder.write("f.troy", flow("127.0.0.1:1", settings));
        let ran = temblor(["check", "f.troy"]).folder(folder.path()).run();
        let said = format!("{}{}", ran.out, ran.err);
        assert!(ran.code == Some(1) && said.contains(message), "{settings}: {said}");
    }
    let good = "queue_bytes = \"64KiB\", when_full = \"shed\", priority = event.level";
    folder.write("f.troy", flow("127.0.0.1:1", good));
    temblor(["check", "f.troy"]).folder(folder.path()).run().succeeded();
}

#[test]
fn what_fails_in_a_flow_is_a_dead_letter_that_goes_through_a_better_one() {
    let folder = Folder::new();
    folder.write("in.json", "{\"n\":1}\nnot json\n{\"n\":3}\n");
    let text = |codec: &str| {
        format!(
            "define flow main\nflow\n  use tremor::pipelines;\n\
             \x20 define connector lines from file with\n    codec = \"{codec}\", preprocessors = [\"separate\"],\n\
             \x20   config = {{\"path\": \"in.json\", \"mode\": \"read\"}}\n  end;\n\
             \x20 define connector out from file with\n    codec = \"json\", postprocessors = [\"separate\"],\n\
             \x20   config = {{\"path\": \"out.json\", \"mode\": \"append\"}}\n  end;\n\
             \x20 create connector lines;\n  create connector out;\n  create pipeline pass from pipelines::passthrough;\n\
             \x20 connect /connector/lines to /pipeline/pass;\n  connect /pipeline/pass to /connector/out;\n\
             end;\ndeploy flow main;\n"
        )
    };
    folder.write("f.troy", text("json"));
    let call = |arguments: &[&str]| temblor(arguments).folder(folder.path()).run();
    call(&["run", "-q", "f.troy", "--dead-letters", "letters"]).succeeded();
    let list = call(&["dead", "list", "letters"]).succeeded();
    assert!(list.lines().count() == 1 && list.contains("in.json:2"), "{list}");
    let again = call(&["dead", "replay", "letters"]);
    assert_eq!(again.code, Some(3), "{}", again.err);
    folder.write("better.troy", text("string"));
    let done = call(&["dead", "replay", "letters", "--through", "better.troy"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(done.err.contains("1 letters went through, 0 stay"), "{}", done.err);
    assert_eq!(folder.read("out.json").lines().last(), Some("\"not json\""));
    assert_eq!(call(&["dead", "list", "letters"]).succeeded(), "");
}

/// Sends a line and waits until the peer closes: what it has read then is its own.
fn send(port: u16, line: &str) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    stream.write_all(line.as_bytes()).expect("it reads");
}

#[test]
fn a_persisted_queue_of_logstash_outlives_kills() {
    let (peer, folder, port) = (Peer::start(503), Folder::new(), free_port());
    folder.write(
        "p.conf",
        format!(
            "input {{ tcp {{ port => {port} host => \"127.0.0.1\" codec => json_lines }} }}\n\
             output {{ http {{ url => \"http://{}/\" http_method => post format => json }} }}\n",
            peer.address
        ),
    );
    folder.write("logstash.yml", "queue.type: persisted\nqueue.max_bytes: 8mb\npath.data: data\n");
    let without = ["--logstash", "p.conf", "--path-settings", "."];
    let ran = run(&folder, &without).wait();
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("has a buffer on disk") && ran.err.contains("--state"), "{}", ran.err);
    let arguments = ["--logstash", "p.conf", "--path-settings", ".", "--state", "state"];
    let process = run(&folder, &arguments);
    wait_for_listener(&format!("127.0.0.1:{port}"));
    let call = |arguments: &[&str]| temblor(arguments).folder(folder.path()).run();
    for number in 0..20 {
        send(port, &format!("{{\"n\":{number}}}\n"));
    }
    wait_until("all are on disk", || {
        call(&["buffer", "inspect", "state", "--json"]).out.contains("\"pending_events\":20")
    });
    process.kill();
    peer.answer(200);
    let process = run(&folder, &arguments);
    wait_until("all have arrived", || (0..20).all(|n| peer.has(&format!("\"n\":{n}"))));
    process.kill();
}

#[test]
fn dead_letters_of_logstash_are_kept_where_it_says_and_go_through_a_better_configuration() {
    let (peer, folder) = (Peer::start(400), Folder::new());
    folder.write("in.json", "{\"n\":1}\n{\"n\":2}\n");
    let text = |input: &str| {
        format!(
            "{input}input {{ file {{ path => \"{}\" mode => \"read\" codec => \"json\" sincedb_path => \"/dev/null\"\n\
             file_completed_action => \"log\" file_completed_log_path => \"done.log\" exit_after_read => true }} }}\n\
             output {{ elasticsearch {{ hosts => [\"http://{}\"] index => \"logs\" }} }}\n",
            folder.file("in.json").display(),
            peer.address
        )
    };
    folder.write("p.conf", text(""));
    folder.write(
        "logstash.yml",
        "dead_letter_queue.enable: true\npath.dead_letter_queue: letters\ndead_letter_queue.max_bytes: 1mb\n",
    );
    let call = |arguments: &[&str]| temblor(arguments).folder(folder.path()).run();
    let ran = call(&["run", "-q", "--logstash", "p.conf", "--path-settings", "logstash.yml"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let list = call(&["dead", "list", "letters"]).succeeded();
    assert_eq!(list.lines().count(), 2, "{list}{}", ran.err);
    let letter = call(&["dead", "show", "letters", "--number", "0"]).succeeded();
    assert!(letter.contains("status 400") && letter.contains("p.conf"), "{letter}");
}
