//! `dead_letters`: where events go that nobody could use, to be looked at, and tried again by a program that can.
//!
//! Invariant: a letter is on disk before its event counts as done.

use crate::endpoint::SinkEndpoint;
use crate::load::Loaded;
use crate::operator::ERR;
use std::path::PathBuf;
use std::sync::Arc;
use temblor_buffer::letters::{Letters, OnFull};
use temblor_buffer::log::{BYTES_MIN, Durability, Settings as Kept};
use temblor_codec::{Encoding, OutputCodec};
use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong,
};
use temblor_runtime::outlet::QueuePolicy;
use temblor_runtime::sink::OpenSink;

/// Bytes of letters, unless the program or the command line says otherwise.
pub const BYTES_DEFAULT: u64 = 1 << 30;

/// Dead letters.
pub static DEAD_LETTERS: Connector = Connector {
    kind: "dead_letters",
    notation: Notation::Temblor,
    doc: "A folder of dead letters: events that nobody could use, each with its original bytes, the reason, code, \
          step and place of the failure, source, line and time. As `sink err` it takes all that fails in the \
          program and goes to no other port; behind `else NAME` what one step sorts out. `temblor dead` lists \
          them, shows them, and replays them through a program.",
    ends: Ends::Sink,
    address: Some("the folder of the letters"),
    source: &[],
    sink: &[
        Setting::new("max_bytes", Takes::Bytes, "Bytes on disk, at the most; 64KiB at the least.").or("1GiB"),
        Setting::new(
            "on_full",
            Takes::Word(&["drop_oldest", "drop_newest", "stop"]),
            "What happens when there is no more room: letters are left out and counted, or the run ends.",
        )
        .or("drop_oldest"),
        Setting::new("compression", Takes::Word(&["none", "lz4"]), "How letters are compressed.").or("lz4"),
    ],
    codec: CodecUse::Letters,
    writes_lines: true,
    gives: &[],
    meta: &[],
    examples: &[
        r#"sink err into dead_letters "target/letters" with max_bytes = "100MiB" end; in |> out"#,
        r#"sink bad into dead_letters "target/letters"; in |> parse json from event else bad |> out"#,
    ],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let bytes_max = settings.size("max_bytes") as u64;
    if bytes_max < BYTES_MIN {
        let message = format!("`max_bytes` must be at least {BYTES_MIN} bytes, got {bytes_max}");
        return Err(Wrong::at("max_bytes", message, ""));
    }
    let on_full = match settings.optional_text("on_full") {
        Some("drop_newest") => OnFull::DropNewest,
        Some("stop") => OnFull::Stop,
        _ => OnFull::DropOldest,
    };
    let compresses = settings.optional_text("compression") == Some("lz4");
    let directory = PathBuf::from(settings.text("address"));
    let letters = letters(directory, bytes_max, on_full, compresses);
    // A folder refuses nothing: what it cannot keep stays unacknowledged.
    let sink = BuiltSink { tells_events_apart: true, ..BuiltSink::of_bytes(letters) };
    Ok(Built { sink: Some(sink), ..Built::default() })
}

/// A folder of letters.
#[must_use]
pub fn letters(directory: PathBuf, bytes_max: u64, on_full: OnFull, compresses: bool) -> Letters {
    let (reserve_bytes, durability, key) = (0, Durability::System, None);
    let settings = Kept { bytes_max, reserve_bytes, compresses, durability, key };
    Letters { directory, settings, on_full, stores: Arc::default() }
}

/// Gives a program of any kind a folder for its dead letters, unless it has a sink for them.
pub fn keep(loaded: &mut Loaded, directory: PathBuf, bytes_max: u64, drops_oldest: bool) {
    let on_full = if drops_oldest { OnFull::DropOldest } else { OnFull::DropNewest };
    let bytes_max = bytes_max.max(BYTES_MIN);
    if !loaded.endpoints.sinks.iter().any(|sink| sink.port == ERR) {
        give_err(loaded, Arc::new(letters(directory, bytes_max, on_full, true)));
    }
}

/// Gives a program the sink of its port `err`, which takes letters.
pub fn give_err(loaded: &mut Loaded, sink: Arc<dyn OpenSink>) {
    loaded.graph.add_output(ERR);
    loaded.graph.tell_codes();
    loaded.endpoints.sinks.retain(|one| one.port != ERR);
    loaded.endpoints.sinks.push(SinkEndpoint {
        port: ERR.to_string(),
        config: sink,
        path: None,
        encoding: Encoding { codec: OutputCodec::Letter, post: None },
        each_member: true,
        attributes: Some(Box::default()),
        queue: QueuePolicy::default(),
    });
}
