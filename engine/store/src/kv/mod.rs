//! `kv` of tremor's flows: values by their keys, in a file that outlives the run.
//!
//! Invariant: an event is answered once what it changed is on disk.

mod command;
mod values;
mod sink;

use temblor_declare::{Build, Built, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong};

use crate::place;

/// Values by their keys.
pub(crate) static KV: Connector = Connector {
    kind: "kv",
    notation: Notation::Tremor,
    doc: "Keeps values by their keys. `$kv` of an event is the command: `{\"get\": key}`, `{\"put\": key}`, `{\"swap\": key}`, \
          `{\"delete\": key}`, `{\"cas\": key, \"old\": value}` or `{\"scan\": first, \"end\": key}`; its payload is the \
          value. The answer is an event on `out`: the value that is there (`get`, `put`), was there (`swap`, `delete`) or \
          `null`, with `$kv.op` and the key in `$kv.ok`, and the `$correlation` of the command. `cas` puts the value \
          only where `old` stands, or nothing if there is no `old`. `scan` gives an event for each key from `first` to \
          before `end`, in the order of their bytes. What fails goes to `err`. Values are kept as the codec writes them, \
          in the file `values.redb`; commands that come together are one transaction.",
    ends: Ends::Sink,
    address: None,
    source: &[],
    sink: &[
        Setting::new("command", Takes::Hidden("$kv"), "What an event asks for."),
        Setting::new("correlation", Takes::Hidden("$correlation"), "Comes back with the answer."),
        place::PATH,
    ],
    codec: CodecUse::Default("json"),
    writes_lines: false,
    gives: &["out"],
    meta: &["kv"],
    examples: &[r#"define flow main
flow
  define connector console from stdio with
    codec = "json", preprocessors = ["separate"], postprocessors = ["separate"]
  end;
  define connector store from kv with
    config = {"path": "/var/lib/hosts"}
  end;
  define pipeline ask
  pipeline
    define script by_host
    script
      let $kv = {"swap": event.host};
      event
    end;
    create script by_host;
    select event from in into by_host;
    select event from by_host into out;
  end;
  define pipeline tell
  pipeline
    select {"host": $kv.ok, "before": event} from in into out;
  end;
  create connector console;
  create connector store;
  create pipeline ask;
  create pipeline tell;
  connect /connector/console to /pipeline/ask;
  connect /pipeline/ask to /connector/store;
  connect /connector/store to /pipeline/tell;
  connect /pipeline/tell to /connector/console;
end;
deploy flow main;"#],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let sink = sink::built(place::of_settings(what), what.codec);
    Ok(Built { sink: Some(sink), ..Built::default() })
}
