//! From the declaration of a connector and what a program says of it to sources and sinks.
//!
//! Invariant: nothing here knows a single connector; settings are read by the rows of its declaration.

use crate::endpoint::{SinkEndpoint, SourceEndpoint};
use crate::pipeline::Attribute;
use std::sync::Arc;
use temblor_codec::interceptor::Preprocessor;
use temblor_codec::{Encoding, InputCodec};
use temblor_declare::interceptor::after::Stream;
use temblor_declare::setting::POSITION;
use temblor_declare::{Build, Built, BuiltSink, Connector, Ends, Setting, Settings, Takes};
use temblor_lang::diagnostic::{Class, Diagnostic, Severity};
use temblor_lang::lower::Compiler;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::feedback::FeedbackConfig;
use temblor_runtime::framing::Framing;
use temblor_runtime::outlet::QueuePolicy;
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_runtime::source::{OpenSource, Source};

/// How bytes become messages.
pub struct Reading {
    /// The codec.
    pub codec: InputCodec,
    /// How a stream is cut.
    pub framing: Framing,
    /// Whether the program chose that.
    pub framing_is_chosen: bool,
    /// What is done to bytes before.
    pub preprocessors: Vec<Preprocessor>,
    /// How all that a sink gets is compressed as one stream.
    pub stream: Option<Stream>,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            codec: InputCodec::Json,
            framing: Framing::Lines,
            framing_is_chosen: false,
            preprocessors: Vec::new(),
            stream: None,
        }
    }
}

/// Whether one of them is an error.
pub(crate) fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|one| one.severity == Severity::Error)
}

/// Makes what a declaration stands for; what is wrong is reported to the compiler.
pub fn build(
    connector: &'static Connector,
    name: &str,
    ends: Ends,
    settings: &Settings,
    reading: &Reading,
    compiler: &mut Compiler<'_>,
) -> Option<Built> {
    let what = Build {
        name,
        ends,
        settings,
        codec: reading.codec,
        framing: reading.framing,
        framing_is_chosen: reading.framing_is_chosen,
        preprocessors: &reading.preprocessors,
        stream: reading.stream,
    };
    match (connector.build)(&what) {
        Ok(built) => {
            for warning in &built.warnings {
                let warning =
                    Diagnostic::warning("W0527", Class::Behaviour, settings.span, warning.clone());
                compiler.diagnostics.push(warning);
            }
            Some(named(built, connector, &what))
        }
        Err(wrong) => {
            compiler.diagnostics.push(wrong.diagnostic(settings));
            None
        }
    }
}

/// Lets source and sink say what they were made of, so that a program that is read again can be compared.
fn named(mut built: Built, connector: &Connector, what: &Build<'_>) -> Built {
    let Build { settings, codec, framing, preprocessors, .. } = what;
    let made_of =
        format!("{} {settings:?} {codec:?} {framing:?} {preprocessors:?}", connector.kind);
    // Local ones show themselves what they are made of.
    if let Some(source) = &mut built.source
        && source.forgets()
    {
        let open = Arc::clone(source);
        *source = Arc::new(MadeOf { open, made_of: made_of.clone() });
    }
    if let Some(sink) = &mut built.sink
        && !sink.is_stream
    {
        let open = Arc::clone(&sink.open);
        sink.open = Arc::new(MadeOf { open, made_of });
    }
    built
}

/// A source or a sink, whose `Debug` is what it was made of.
struct MadeOf<T> {
    open: T,
    made_of: String,
}

impl<T> std::fmt::Debug for MadeOf<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.made_of)
    }
}

impl OpenSource for MadeOf<Arc<dyn OpenSource>> {
    fn open(&self, marks: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        self.open.open(marks)
    }

    fn forgets(&self) -> bool {
        self.open.forgets()
    }

    fn needs_state(&self) -> Option<&str> {
        self.open.needs_state()
    }
}

impl OpenSink for MadeOf<Arc<dyn OpenSink>> {
    fn open(&self, resumed: bool) -> Result<Box<dyn Sink>, Error> {
        self.open.open(resumed)
    }

    fn ends_run(&self) -> bool {
        self.open.ends_run()
    }

    fn needs_state(&self) -> bool {
        self.open.needs_state()
    }
}

/// The attributes of the events of a sink: the settings that are evaluated for each event, in the order
/// of their declaration.
#[must_use]
pub fn attributes(rows: &[Setting], settings: &Settings) -> Box<[Attribute]> {
    let wanted = rows.iter().filter(|row| row.takes.is_per_event());
    let attribute = |row: &Setting| {
        let given = settings.per_event(row.name);
        let formula = given.map(|one| std::sync::Arc::clone(&one.formula));
        let as_json = !matches!(row.takes, Takes::PerEvent);
        Attribute { formula, as_json, is_position: row.name == POSITION }
    };
    wanted.map(attribute).collect()
}

/// What a built sink needs in the plan: the sink itself, and the ways back into the program.
pub fn sink_endpoint(
    (name, port): (&str, &str),
    sink: BuiltSink,
    attributes: Box<[Attribute]>,
    mut encoding: Encoding,
    sources: &mut Vec<SourceEndpoint>,
) -> SinkEndpoint {
    let back = [("err", sink.errors), ("out", sink.answers)];
    for (back, feedback) in back {
        let Some(feedback) = feedback else { continue };
        let port = format!("{name}/{back}");
        let config = FeedbackConfig { name: port.clone(), feedback };
        sources.push(SourceEndpoint::new(port, Arc::new(config), InputCodec::Json));
    }
    if !sink.finishing.is_empty() {
        let each = encoding.post.take().map_or_else(Vec::new, <[_]>::into_vec);
        encoding.post = Some(each.into_iter().chain(sink.finishing.iter().cloned()).collect());
    }
    SinkEndpoint {
        port: port.to_string(),
        config: sink.open,
        path: sink.place,
        encoding,
        each_member: true,
        attributes: sink.tells_events_apart.then_some(attributes),
        queue: QueuePolicy::default(),
    }
}
