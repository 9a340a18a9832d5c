//! `websocket`, with the clients of PyPI.

use std::process::Command;

use crate::started::{start, start_file};
use temblor_testing::{Folder, free_port, peer, temblor, wait_until};

/// Sends texts to a server and prints what comes back, one line each.
const CLIENT: &str = r#"
import asyncio, sys
try:
    import websockets
except ImportError:
    sys.exit(77)
async def main():
    async with websockets.connect(sys.argv[1]) as ws:
        for text in sys.argv[2:]:
            await ws.send(text)
            print(await asyncio.wait_for(ws.recv(), 30))
asyncio.run(main())
"#;

/// What the client got; nothing where there is none.
fn talk(address: &str, texts: &[&str]) -> Option<String> {
    let python = peer("PYTHON")?;
    let folder = Folder::new();
    let script = folder.write("client.py", CLIENT);
    let ran = Command::new(python)
        .arg(script)
        .arg(format!("ws://{address}/here"))
        .args(texts)
        .output()
        .expect("python starts");
    if ran.status.code() == Some(77) {
        eprintln!("skipped: needs the package websockets");
        return None;
    }
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    Some(String::from_utf8_lossy(&ran.stdout).into_owned())
}

#[test]
fn messages_come_in_and_are_answered_on_their_connection() {
    let started = start(
        r#"source in from websocket "ADDRESS" with max_message = "1KiB" end;
sink back into websocket "reply:in";
in |> set event.path = $websocket.path |> back"#,
    );
    let Some(got) = talk(&started.address, &["{\"a\":1}", "{\"a\":2}"]) else { return };
    assert_eq!(got, "{\"a\":1,\"path\":\"/here\"}\n{\"a\":2,\"path\":\"/here\"}\n");
    assert_eq!(started.process.terminate().code, Some(0));
}

#[test]
fn a_sink_and_a_source_understand_each_other_also_when_the_server_comes_late() {
    let (folder, address) = (Folder::new(), format!("127.0.0.1:{}", free_port()));
    let sending = folder.write(
        "sending.tmb",
        format!(
            "source in from stdin;\nsink there into websocket \"ws://{address}/x\" with retry = {{\"first\": \
             \"20ms\", \"longest\": \"50ms\"}} end;\nin |> there"
        ),
    );
    let mut sender =
        temblor(["run".as_ref(), sending.as_os_str()]).input("{\"a\":1}\n{\"a\":2}\n").start();
    sender.wait_for_text("start the server that listens there");
    let taking =
        folder.write("taking.tmb", format!("source in from websocket \"{address}\"; in |> out"));
    let taker = temblor(["run".as_ref(), taking.as_os_str()]).start();
    wait_until("both messages", || taker.out().lines().count() == 2);
    drop(sender.take_input());
    sender.wait();
    assert_eq!(taker.terminate().out, "{\"a\":1}\n{\"a\":2}\n");
}

#[test]
fn a_server_of_tremor_sends_back_on_the_same_connection() {
    let flow = r#"define flow echo
flow
  define connector server from ws_server with codec = "json", config = {"url": "ADDRESS"} end;
  create connector server;
  define pipeline pass pipeline select {"got": event} from in into out end;
  create pipeline pass;
  connect /connector/server to /pipeline/pass;
  connect /pipeline/pass to /connector/server;
end;
deploy flow echo;"#;
    let started = start_file("flow.troy", flow);
    let Some(got) = talk(&started.address, &["1", "[2]"]) else { return };
    assert_eq!(got, "{\"got\":1}\n{\"got\":[2]}\n", "{}", started.process.err());
}

/// Answers each text with the same in capitals, to whoever comes, and prints its port first.
const SERVER: &str = r#"
import asyncio, sys
try:
    import websockets
except ImportError:
    sys.exit(77)
async def answer(ws):
    async for text in ws:
        await ws.send(text.upper())
async def main():
    async with websockets.serve(answer, "127.0.0.1", int(sys.argv[1])):
        await asyncio.Future()
asyncio.run(main())
"#;

#[test]
fn a_flow_talks_to_a_server_of_another_project_and_finds_it_again() {
    let Some(python) = peer("PYTHON") else { return };
    let (folder, port) = (Folder::new(), free_port());
    let script = folder.write("server.py", SERVER);
    let serve = || {
        let mut command = Command::new(&python);
        command.arg(&script).arg(port.to_string());
        temblor_testing::Process::start(command)
    };
    let flow = format!(
        "define flow main\nflow\n  use tremor::pipelines;\n\
         define connector console from stdio with codec = \"string\", preprocessors = [\"separate\"], \
         postprocessors = [\"separate\"] end;\n\
         define connector client from ws_client with codec = \"string\", \
         config = {{\"url\": \"ws://127.0.0.1:{port}/\"}}, \
         reconnect = {{\"retry\": {{\"interval_ms\": 20, \"growth_rate\": 1.1}}}} end;\n\
         create connector console;\ncreate connector client;\n\
         create pipeline there from pipelines::passthrough;\n\
         create pipeline back from pipelines::passthrough;\n\
         connect /connector/console to /pipeline/there;\nconnect /pipeline/there to /connector/client;\n\
         connect /connector/client to /pipeline/back;\nconnect /pipeline/back to /connector/console;\n\
         end;\ndeploy flow main;\n"
    );
    let path = folder.write("flow.troy", flow);
    let server = serve();
    let mut client = temblor(["run".as_ref(), "-q".as_ref(), path.as_os_str()]).start();
    // What is written while there is no connection may be refused.
    wait_until("an answer", || {
        client.write("one\n");
        client.out().contains("ONE\n")
    });
    server.kill();
    let server = serve();
    wait_until("another answer", || {
        client.write("two\n");
        client.out().contains("TWO\n")
    });
    client.terminate();
    server.kill();
}
