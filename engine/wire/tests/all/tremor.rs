//! tremor's connectors in flows: both ways on one connection.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, UdpSocket};
use std::os::unix::net::UnixStream;

use temblor_testing::{Folder, Process, free_port, temblor, wait_for_listener, wait_until};

use crate::support::{connect, rest};

/// A flow in which `server` is read, goes through `select` and is written to `target`.
fn flow(connectors: &str, target: &str, select: &str) -> String {
    format!(
        "define flow main\nflow\n{connectors}\n\
         define pipeline p\npipeline\n  {select} from in into out;\nend;\n\
         create connector server;\ncreate pipeline p;\n\
         connect /connector/server to /pipeline/p;\nconnect /pipeline/p to /connector/{target};\nend;\ndeploy flow main;\n"
    )
}

fn run(folder: &Folder, text: &str) -> Process {
    let path = folder.write("flow.troy", text);
    temblor(["run", "-q"].map(Into::into).into_iter().chain([path.into_os_string()])).start()
}

const ECHO: &str = "select {\"echo\": event}";
const LINES: &str =
    "codec = \"json\", preprocessors = [\"separate\"], postprocessors = [\"separate\"]";

#[test]
fn answers_go_back_to_their_connection() {
    let (port, folder) = (free_port(), Folder::new());
    let server = format!(
        "define connector server from tcp_server with {LINES}, config = {{\"url\": \"127.0.0.1:{port}\"}} end;"
    );
    let process = run(&folder, &flow(&server, "server", ECHO));
    wait_for_listener(&format!("127.0.0.1:{port}"));
    let mut streams: Vec<_> = (0..10).map(|_| connect(port)).collect();
    for (n, stream) in streams.iter_mut().enumerate() {
        stream.write_all(format!("{{\"n\":{n}}}\n").as_bytes()).expect("it reads");
    }
    for (n, stream) in streams.iter_mut().enumerate() {
        // The connection stays open for the answer after its peer has ended.
        stream.shutdown(Shutdown::Write).expect("it is open");
        let got = String::from_utf8_lossy(&rest(stream)).into_owned();
        assert_eq!(got, format!("{{\"echo\":{{\"n\":{n}}}}}\n"));
    }
    process.terminate().succeeded();
}

#[test]
fn a_read_is_a_message_without_preprocessors() {
    let (port, folder) = (free_port(), Folder::new());
    let server = format!(
        "define connector server from tcp_server with codec = \"string\", config = {{\"url\": \"127.0.0.1:{port}\", \
         \"buf_size\": 4, \"backlog\": 2, \"socket_options\": {{\"TCP_NODELAY\": true}}}} end;"
    );
    let process = run(&folder, &flow(&server, "server", "select \"<#{event}>\""));
    wait_for_listener(&format!("127.0.0.1:{port}"));
    let mut stream = connect(port);
    stream.write_all(b"abcdef").expect("it reads");
    stream.shutdown(Shutdown::Write).expect("it is open");
    assert_eq!(rest(&mut stream), b"<abcd><ef>");
    process.terminate().succeeded();
}

#[test]
fn a_client_writes_and_reads_on_one_connection() {
    let (folder, listener) = (Folder::new(), TcpListener::bind("127.0.0.1:0").expect("a port"));
    let port = listener.local_addr().expect("it is bound").port();
    let text = format!(
        "define flow main\nflow\nuse tremor::connectors;\nuse tremor::pipelines;\n\
         define connector client from tcp_client with {LINES}, config = {{\"url\": \"127.0.0.1:{port}\"}} end;\n\
         create connector client;\ncreate connector console from connectors::console;\n\
         create pipeline forth from pipelines::passthrough;\ncreate pipeline back from pipelines::passthrough;\n\
         connect /connector/console to /pipeline/forth;\nconnect /pipeline/forth to /connector/client;\n\
         connect /connector/client to /pipeline/back;\nconnect /pipeline/back to /connector/console;\nend;\ndeploy flow main;\n"
    );
    let mut process = run(&folder, &text);
    let (mut stream, _) = listener.accept().expect("the client connects");
    process.write("\"ping\"\n");
    let mut block = [0; 100];
    let count = stream.read(&mut block).expect("it writes");
    assert!(count > 0);
    stream.write_all(b"{\"pong\":1}\n").expect("it reads");
    wait_until("the answer", || process.out().contains("pong"));
    process.terminate();
}

#[test]
fn datagrams_and_unix_sockets_by_their_names() {
    let (port, target, folder) = (free_port(), free_port(), Folder::new());
    let receiver = UdpSocket::bind(("127.0.0.1", target)).expect("the port is free");
    let connectors = format!(
        "define connector server from udp_server with codec = \"json\", config = {{\"url\": \"127.0.0.1:{port}\"}} end;\n\
         define connector target from udp_client with codec = \"json\", config = {{\"url\": \"127.0.0.1:{target}\"}} end;\n\
         create connector target;"
    );
    let process = run(&folder, &flow(&connectors, "target", ECHO));
    let sender = UdpSocket::bind("127.0.0.1:0").expect("there is a port");
    receiver.set_nonblocking(true).expect("it is a socket");
    let mut block = [0; 100];
    wait_until("an answer", || {
        // Until the server listens, datagrams are refused.
        let _ = sender.send_to(b"{\"a\":1}", ("127.0.0.1", port));
        receiver.recv(&mut block).is_ok_and(|count| &block[..count] == b"{\"echo\":{\"a\":1}}")
    });
    process.terminate();

    let socket = folder.file("socket");
    let server = format!(
        "define connector server from unix_socket_server with {LINES}, \
         config = {{\"path\": {socket:?}, \"permissions\": \"=600\"}} end;"
    );
    let process = run(&folder, &flow(&server, "server", ECHO));
    wait_until("the socket", || UnixStream::connect(&socket).is_ok());
    let mut stream = UnixStream::connect(&socket).expect("it listens");
    stream.write_all(b"{\"b\":1}\n").expect("it reads");
    stream.shutdown(Shutdown::Write).expect("it is open");
    let mut got = String::new();
    stream.read_to_string(&mut got).expect("it answers");
    assert_eq!(got, "{\"echo\":{\"b\":1}}\n");
    process.terminate().succeeded();
}
