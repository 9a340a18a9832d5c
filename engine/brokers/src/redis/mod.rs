//! `redis`: lists, channels and streams of Redis and Valkey.
//!
//! Invariant: what a list or a stream has given is with the server until all that stems from it has got where
//! it should.

pub mod server;
pub mod list;
pub mod stream;
pub mod channel;
pub mod sink;
pub mod asking;
pub mod counts;
pub mod tokens;

use std::sync::Arc;
use std::time::Duration;

use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Settings, Takes, Wrong,
};
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::outlet::Feedback;
use temblor_runtime::source::feed::Feed;
use temblor_runtime::source::{OpenSource, Source};
use temblor_wire::retry::{RETRY, Retry};

use crate::packing::Unpacking;
use server::{PASSWORD, Server, TLS_RECORD, USERNAME};

/// The fields of stream entries that hold events, where the program says nothing else.
const FIELD: &str = "message";

const RETRY_RECORD: Setting = Setting::new(
    "retry",
    Takes::Record(RETRY),
    "How long to wait before the server is tried again after a failure.",
);

/// Lists, channels and streams of Redis.
pub static REDIS: Connector = Connector {
    kind: "redis",
    notation: Notation::Temblor,
    doc: "Lists, channels and streams of Redis (from 6.2 on) and Valkey. A source of a `list` moves what it \
          takes into a second list, and removes it there when it has got where it should: nothing is lost \
          when Temblor or the connection dies. A source of a `stream` reads with a consumer group and \
          acknowledges in the same way, and takes over what other consumers left behind. Channels have no \
          memory: what is published while nobody listens is lost. A sink appends to a list, publishes to a \
          channel, or adds to a stream, many events in one request. After a broken connection events may \
          come or go twice.",
    ends: Ends::Both,
    address: Some("\"redis://HOST:PORT/DATABASE\", `rediss://` with TLS, or \"unix:///PATH\""),
    source: &[
        Setting::new("list", Takes::Text, "The list whose oldest elements (its left end) are taken."),
        Setting::new("channel", Takes::Texts, "The channels to listen to."),
        Setting::new("pattern", Takes::Texts, "Patterns of channels to listen to: `logs.*`."),
        Setting::new("stream", Takes::Text, "The stream to read, with `group`."),
        Setting::new("group", Takes::Text, "The consumer group; it is made when it is missing."),
        Setting::new(
            "consumer",
            Takes::Text,
            "The name of this consumer, by which it finds what it had taken before it died; unless it is set, \
             the name of the source. Programs that read the same list or group at once need different names.",
        ),
        Setting::new(
            "from",
            Takes::Word(&["earliest", "latest"]),
            "Where a group that is made begins to read.",
        )
        .or("earliest"),
        Setting::new(
            "field",
            Takes::Text,
            "The field of a stream's entries that holds the event. An entry without it is read as a JSON \
             record of its fields.",
        )
        .or(FIELD),
        Setting::new(
            "claim_after",
            Takes::Duration,
            "What another consumer of the group has had for so long without acknowledging it is taken over.",
        )
        .or("1m"),
        USERNAME,
        PASSWORD,
        TLS_RECORD,
        RETRY_RECORD,
    ],
    sink: &[
        Setting::new("list", Takes::PerEvent, "The list that events are appended to (at its right end)."),
        Setting::new("channel", Takes::PerEvent, "The channel that events are published to."),
        Setting::new("stream", Takes::PerEvent, "The stream that events are added to."),
        Setting::new("field", Takes::Text, "The field of a stream's entries that holds the event.")
            .or(FIELD),
        Setting::new(
            "max_length",
            Takes::Whole { least: 1, most: i64::MAX as u64 },
            "About how many entries a stream keeps; older ones go. Without it all stay.",
        ),
        USERNAME,
        PASSWORD,
        TLS_RECORD,
        RETRY_RECORD,
    ],
    codec: CodecUse::Default("json"),
    writes_lines: false,
    gives: &[],
    meta: &["redis"],
    examples: &[
        r#"source in from redis "redis://127.0.0.1:6379" with list = "events" end; in |> out"#,
        r#"source in from redis "redis://127.0.0.1:6379" with stream = "events", group = "g" end; in |> out"#,
        r#"source in from redis "redis://127.0.0.1:6379" with pattern = ["logs.*"] end; in |> out"#,
        r#"sink out into redis "redis://127.0.0.1:6379" with list = event.host end; in |> out"#,
        r#"sink out into redis "redis://127.0.0.1:6379" with stream = "events", max_length = 100000 end; in |> out"#,
    ],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let (server, warnings) = Server::of_settings(what.settings)?;
    let retry = Retry::of_settings(what.settings.record("retry"));
    let mut built = Built { warnings, ..Built::default() };
    if what.ends == Ends::Source {
        let from = Key::of(what)?;
        built.source =
            Some(Arc::new(Reading { server, retry, from, unpacking: Unpacking::of(what) }));
    } else {
        one_of(what.settings, &["list", "channel", "stream"])?;
        let errors = Feedback::new();
        let field = what.settings.text("field").to_string();
        let max_length = what.settings.optional_whole("max_length");
        let shape = sink::Shape { field, max_length };
        let writing = sink::Writing { server, retry, shape, errors: Arc::clone(&errors) };
        built.sink = Some(BuiltSink::of_events(writing, errors));
    }
    Ok(built)
}

/// What is read from.
#[derive(Clone, Debug)]
enum Key {
    List(list::List),
    Channels(channel::Channels),
    Stream(stream::Group),
}

impl Key {
    fn of(what: &Build<'_>) -> Result<Self, Wrong> {
        let settings = what.settings;
        let names = ["list", "stream", "channel", "pattern"];
        let first = names.into_iter().find(|name| settings.has(name));
        let text = |name| settings.optional_text(name).map(str::to_string);
        let consumer = text("consumer").unwrap_or_else(|| what.name.to_string());
        let others: Vec<_> = names.into_iter().filter(|name| settings.has(name)).collect();
        if others.len() > 1 && others != ["channel", "pattern"] {
            let message = format!("`{}` and `{}` do not go together", others[0], others[1]);
            return Err(Wrong::at(others[1], message, "declare a source for each"));
        }
        Ok(match first {
            Some("list") => {
                let name = settings.text("list").to_string();
                Key::List(list::List {
                    processing: format!("{name}:{consumer}:processing"),
                    name,
                    consumer,
                })
            }
            Some("stream") => {
                let help = "such as: group = \"temblor\"";
                let missing = || Wrong::at("stream", "a stream needs a `group`", help);
                Key::Stream(stream::Group {
                    stream: settings.text("stream").to_string(),
                    group: text("group").ok_or_else(missing)?,
                    consumer,
                    earliest: settings.text("from") == "earliest",
                    field: settings.text("field").to_string(),
                    claim_after: settings.duration("claim_after").max(Duration::from_millis(1)),
                })
            }
            Some(_) => {
                let (names, patterns) = (settings.texts("channel"), settings.texts("pattern"));
                Key::Channels(channel::Channels {
                    names: names.to_vec(),
                    patterns: patterns.to_vec(),
                })
            }
            None => one_of(settings, &names).map(|()| unreachable!("none of them is set"))?,
        })
    }
}

/// Complains unless exactly one of the settings is there.
fn one_of(settings: &Settings, names: &[&'static str]) -> Result<(), Wrong> {
    let set: Vec<_> = names.iter().filter(|name| settings.has(name)).collect();
    match set[..] {
        [_] => Ok(()),
        [] => {
            let message = format!("one of {} has to be set", names.join(", "));
            Err(Wrong { setting: None, message, help: "such as: list = \"events\"".to_string() })
        }
        [first, second, ..] => {
            let message = format!("`{first}` and `{second}` do not go together");
            Err(Wrong::at(second, message, "declare one connector for each"))
        }
    }
}

/// A source.
#[derive(Clone, Debug)]
struct Reading {
    server: Server,
    retry: Retry,
    from: Key,
    unpacking: Unpacking,
}

impl OpenSource for Reading {
    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        Ok(Box::new(self.clone()))
    }
}

impl Source for Reading {
    fn name(&self) -> String {
        self.server.name()
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let Self { server, retry, from, unpacking } = self.clone();
        feed.network.handle()?.block_on(async {
            match &from {
                Key::List(list) => list::read(list, &server, &unpacking, retry, feed).await,
                Key::Stream(group) => stream::read(group, &server, &unpacking, retry, feed).await,
                Key::Channels(some) => channel::read(some, &server, &unpacking, retry, feed).await,
            }
        })
    }
}
