//! A connector: one row beside its code, from which the notations, checks, help and manual derive.

use std::fmt::Debug;
use std::sync::Arc;

use temblor_codec::InputCodec;
use temblor_codec::interceptor::{Packing, Postprocessor, Preprocessor};
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::program::Formula;
use temblor_runtime::framing::Framing;
use temblor_runtime::outlet::Feedback;
use temblor_runtime::sink::OpenSink;
use temblor_runtime::source::OpenSource;

use crate::setting::Setting;
use crate::settings::Settings;

/// Where a connector can be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// `source NAME from KIND "ADDRESS" with … end` and `sink NAME into KIND …` of `.tmb` files.
    Temblor,
    /// `define connector NAME from KIND with config = {…} end` of tremor's flows.
    Tremor,
}

/// What a connector can stand at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Events come from it.
    Source,
    /// Events go to it.
    Sink,
    /// Events come from it and go to it; in a flow both ways at once.
    Both,
}

/// What a connector does with codecs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodecUse {
    /// The program must name one.
    Required,
    /// This one (the name of a codec) holds unless the program names another.
    Default(&'static str),
    /// None: the connector gives and takes values, as JSON.
    Structured,
    /// None: the connector takes dead letters, each with all that is known of its failure.
    Letters,
}

/// A connector.
#[derive(Debug)]
pub struct Connector {
    /// What it is called: `tcp`.
    pub kind: &'static str,
    /// Where that name holds.
    pub notation: Notation,
    /// For the manual; one or more sentences. Says what may be lost, where the protocol cannot tell.
    pub doc: &'static str,
    /// Whether it is a source, a sink, or both.
    pub ends: Ends,
    /// What the text behind the kind says (`"HOST:PORT"`); nothing when there is none. It is read as the
    /// setting `address`.
    pub address: Option<&'static str>,
    /// Settings of a source.
    pub source: &'static [Setting],
    /// Settings of a sink. Those that are evaluated for each event are the attributes of
    /// [`Parcel`](temblor_runtime::outlet::Parcel)s, in the order of this list.
    pub sink: &'static [Setting],
    /// How events are read and written where the program does not say.
    pub codec: CodecUse,
    /// Whether each event that is written ends with a newline where the program does not say otherwise.
    pub writes_lines: bool,
    /// Further ports of a sink, besides `err`, that the program may read from: `out` for answers.
    pub gives: &'static [&'static str],
    /// Fields of the metadata `$` that its events have: `tcp` for `$tcp.peer.host`.
    pub meta: &'static [&'static str],
    /// Programs that are checked by a test; the first is shown in the manual.
    pub examples: &'static [&'static str],
    /// Makes the source, the sink, or both.
    pub build: fn(&Build<'_>) -> Result<Built, Wrong>,
}

/// What a connector is made from.
#[derive(Debug)]
pub struct Build<'a> {
    /// What the user calls it.
    pub name: &'a str,
    /// Which ends are wanted.
    pub ends: Ends,
    /// The settings, checked against the rows of the end that is wanted (of both, those of the source
    /// before those of the sink).
    pub settings: &'a Settings,
    /// How messages are read.
    pub codec: InputCodec,
    /// How a stream of bytes is cut into messages, as the program or the codec says.
    pub framing: Framing,
    /// Whether the program itself chose the framing.
    pub framing_is_chosen: bool,
    /// What is done to bytes before they are messages; each connection has its own chain.
    pub preprocessors: &'a [Preprocessor],
    /// How all that a sink gets is compressed as one stream, and with which level. Only sinks that are a
    /// [stream](BuiltSink::is_stream) are asked to.
    pub stream: Option<(Packing, Option<i64>)>,
}

impl Build<'_> {
    /// Refuses settings that the program sets and that have no meaning beside something else.
    ///
    /// # Errors
    /// The first of them; `help` says why.
    pub fn refuse(&self, names: &[&'static str], beside: &str, help: &str) -> Result<(), Wrong> {
        match names.iter().find(|name| self.settings.says(name)) {
            Some(name) => {
                Err(Wrong::at(name, format!("`{name}` does not go with `{beside}`"), help))
            }
            None => Ok(()),
        }
    }
}

/// What a connector became.
#[derive(Debug, Default)]
pub struct Built {
    /// The source, when events come from it.
    pub source: Option<Arc<dyn OpenSource>>,
    /// The sink, when events go to it.
    pub sink: Option<BuiltSink>,
    /// Sentences that `check` and `run` show as warnings: no TLS on an address that others reach.
    pub warnings: Vec<String>,
}

/// A sink and what belongs to it.
#[derive(Debug)]
pub struct BuiltSink {
    /// The sink.
    pub open: Arc<dyn OpenSink>,
    /// Whether it needs to know where each event ends. Without that there are no attributes either.
    pub tells_events_apart: bool,
    /// Where events go that the other side refuses for good: the port `err` of the sink.
    pub errors: Option<Arc<Feedback>>,
    /// Where answers of the other side go: the port `out` of the sink.
    pub answers: Option<Arc<Feedback>>,
    /// Whether its bytes are one stream on this machine, such as a file, which may be compressed as a whole.
    pub is_stream: bool,
    /// Whether events wait for it in a queue of its own, since it confirms later.
    pub has_queue: bool,
    /// Its place, where that depends on the event.
    pub place: Option<Arc<Formula>>,
    /// What is done to each encoded event behind the postprocessors of the program.
    pub finishing: &'static [Postprocessor],
    /// Sinks behind further input ports of a connector in a flow, by the names of the ports.
    pub beside: Vec<(&'static str, BuiltSink)>,
}

impl BuiltSink {
    /// A sink that takes bytes as they come.
    pub fn of_bytes(open: impl OpenSink + 'static) -> Self {
        Self {
            open: Arc::new(open),
            tells_events_apart: false,
            errors: None,
            answers: None,
            is_stream: false,
            has_queue: true,
            place: None,
            finishing: &[],
            beside: Vec::new(),
        }
    }

    /// A sink that takes events one by one, and gives back what the other side refuses.
    pub fn of_events(open: impl OpenSink + 'static, errors: Arc<Feedback>) -> Self {
        Self { tells_events_apart: true, errors: Some(errors), ..Self::of_bytes(open) }
    }

    /// A sink on this machine that writes at once.
    pub fn of_stream(open: impl OpenSink + 'static) -> Self {
        Self { is_stream: true, has_queue: false, ..Self::of_bytes(open) }
    }
}

/// What is wrong with settings that are right one by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The setting that the complaint points at; the whole declaration when there is none.
    pub setting: Option<&'static str>,
    /// What is wrong, as a sentence.
    pub message: String,
    /// What to try; may be empty.
    pub help: String,
}

impl Wrong {
    /// A complaint about one setting.
    pub fn at(setting: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { setting: Some(setting), message: message.into(), help: help.into() }
    }

    /// The complaint where the setting stands.
    #[must_use]
    pub fn diagnostic(self, settings: &Settings) -> Diagnostic {
        let span = self.setting.map_or(settings.span, |setting| settings.span_of(setting));
        let is_no_place = self.setting == Some("address") && !settings.has("address");
        let code = if is_no_place { "E0520" } else { "E0510" };
        let complaint = Diagnostic::error(code, span, self.message);
        if self.help.is_empty() { complaint } else { complaint.with_help(self.help) }
    }
}
