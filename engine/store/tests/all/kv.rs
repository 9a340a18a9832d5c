//! `kv`: commands and answers in a flow, and what another run finds.

use temblor_testing::{Folder, Ran, temblor};

/// Events say their command in `$kv`; answers and errors are printed with their metadata.
fn flow(path: &str, codec: &str) -> String {
    format!(
        r#"define flow main
flow
  define connector console from stdio with codec = "json", preprocessors = ["separate"], postprocessors = ["separate"] end;
  define connector store from kv with config = {{"path": "{path}"}}{codec} end;
  define pipeline ask
  pipeline
    define script command
    script
      let $kv = event.kv;
      let $correlation = event.id;
      event.value
    end;
    create script command;
    select event from in into command;
    select event from command into out;
  end;
  define pipeline tell
  into out
  pipeline
    select {{"value": event, "kv": $kv, "id": $correlation}} from in into out;
  end;
  define pipeline complain
  pipeline
    select {{"event": event.`event`, "kv": $kv, "id": $correlation}} from in into out;
  end;
  create connector console;
  create connector store;
  create pipeline ask;
  create pipeline tell;
  create pipeline complain;
  connect /connector/console to /pipeline/ask;
  connect /pipeline/ask to /connector/store;
  connect /connector/store to /pipeline/tell;
  connect /connector/store/err to /pipeline/complain;
  connect /pipeline/tell to /connector/console;
  connect /pipeline/complain to /connector/console;
end;
deploy flow main;"#
    )
}

/// Each command as a run of its own would see it: one event after the other.
fn run(folder: &Folder, flow: &str, input: &str) -> Ran {
    let path = folder.write("flow.troy", flow);
    temblor(["run".into(), "-q".into(), path.into_os_string()]).input(input).run()
}

fn lines(out: &str) -> Vec<&str> {
    let mut lines: Vec<_> = out.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn commands_are_answered_and_failures_go_to_err() {
    let (folder, store) = (Folder::new(), Folder::new());
    let flow = flow(&store.path().display().to_string(), "");
    let input = r#"{"id":1,"kv":{"put":"a"},"value":{"n":1}}
{"id":2,"kv":{"swap":"a"},"value":2}
{"id":3,"kv":{"cas":"a","old":3},"value":4}
{"id":4,"kv":{"cas":"a","old":2},"value":4}
{"id":5,"kv":{"put":"b"},"value":[5]}
{"id":6,"kv":{"scan":null},"value":null}
{"id":7,"kv":{"delete":"b"},"value":null}
{"id":8,"kv":{"grow":"b"},"value":null}
{"id":9,"kv":{"get":"b"},"value":null}
"#;
    let out = run(&folder, &flow, input).succeeded();
    let wanted = [
        r#"{"value":{"n":1},"kv":{"op":"put","ok":"a"},"id":1}"#,
        r#"{"value":{"n":1},"kv":{"op":"swap","ok":"a"},"id":2}"#,
        r#"{"event":"4","kv":{"op":"cas","error":"`cas` expected 3 at the key `a` and found 2"},"id":3}"#,
        r#"{"value":null,"kv":{"op":"cas","ok":"a"},"id":4}"#,
        r#"{"value":[5],"kv":{"op":"put","ok":"b"},"id":5}"#,
        r#"{"value":4,"kv":{"op":"scan","ok":"a"},"id":6}"#,
        r#"{"value":[5],"kv":{"op":"scan","ok":"b"},"id":6}"#,
        r#"{"value":[5],"kv":{"op":"delete","ok":"b"},"id":7}"#,
        r#"{"event":"null","kv":{"op":null,"error":"`$kv` must be a record with one of get, put, swap, delete, cas, scan, got {\"grow\":\"b\"}"},"id":8}"#,
        r#"{"value":null,"kv":{"op":"get","ok":"b"},"id":9}"#,
    ];
    assert_eq!(lines(&out), lines(&wanted.join("\n")));
    let out = run(&folder, &flow, "{\"id\":1,\"kv\":{\"get\":\"a\"},\"value\":null}\n").succeeded();
    assert_eq!(out, "{\"value\":4,\"kv\":{\"op\":\"get\",\"ok\":\"a\"},\"id\":1}\n");
}

#[test]
fn values_are_kept_as_the_codec_writes_them() {
    let (folder, store) = (Folder::new(), Folder::new());
    let flow = flow(&store.path().display().to_string(), ", codec = \"msgpack\"");
    let input = "{\"id\":1,\"kv\":{\"put\":\"a\"},\"value\":{\"b\":[1,\"x\"]}}\n\
                 {\"id\":2,\"kv\":{\"get\":\"a\"},\"value\":null}\n";
    let out = run(&folder, &flow, input).succeeded();
    let value = "\"value\":{\"b\":[1,\"x\"]}";
    assert_eq!(out.matches(value).count(), 2, "{}", out);
}

#[test]
fn a_directory_that_is_not_there_is_told_before_the_run_begins() {
    let folder = Folder::new();
    let ran = run(&folder, &flow("/no/such/directory", ""), "{}\n");
    assert_ne!(ran.code, Some(0));
    assert!(ran.err.contains("make the directory that `path` names"), "{}", ran.err);
}
