//! The filters of Logstash as steps of chains, for configurations that were converted: each is the
//! very code that runs a configuration, and takes the options that the filter has there.

use super::{Given, InChain, OperatorKind, Setting, Settings, Takes};
use crate::event::Event;
use crate::logstash::complain;
use crate::logstash::event::LogEvent;
use crate::logstash::filter::{Declaration, FILTERS, Outcome};
use crate::logstash::options::{COMMON, OptionSpec};
use crate::logstash::program::{Program, ProgramBuilder, ProgramState};
use crate::logstash::settings::Settings as Surroundings;
use crate::logstash::syntax::tree::{Plugin, Statement, Value as Tree, ValueKind, Word};
use crate::operator::{self, AnyOperator, ELSE, Emitter, OUT, Operator};
use chrono::{DateTime, Utc};
use std::sync::LazyLock;
use temblor_lang::diagnostic::{Diagnostic, Severity};
use temblor_lang::error::EvalError;
use temblor_lang::span::Span;
use temblor_lang::value::{Arena, Kind, Value};

/// What stands in front of the names of filters.
pub const PREFIX: &str = "logstash::";

const TEXT: Takes = Takes::Constant(Kind::String);

/// The kinds of operators, made from the declarations of the filters.
pub fn kinds() -> impl Iterator<Item = &'static OperatorKind> {
    static KINDS: LazyLock<Vec<OperatorKind>> = LazyLock::new(|| {
        let filters = FILTERS.iter().map(|declaration| kind_of(declaration));
        filters.collect()
    });
    KINDS.iter().chain([&UNDECIDED])
}

/// Lives as long as the process, as all declarations do; made once for each.
fn kept<T: ?Sized>(value: Box<T>) -> &'static T {
    Box::leak(value)
}

fn kind_of(declaration: &'static Declaration) -> OperatorKind {
    let options = declaration.options.iter().chain(COMMON).filter(|one| one.gone.is_none());
    let settings: Vec<Setting> = options.map(setting_of).collect();
    let doc = format!(
        "{} The Logstash filter `{}` with its options. Events for which it did not succeed go to \
         `else`, or on with the others when nothing is connected there.",
        declaration.doc, declaration.name
    );
    OperatorKind {
        path: kept(format!("{PREFIX}{}", declaration.name).into_boxed_str()),
        word: None,
        doc: kept(doc.into_boxed_str()),
        examples: &[],
        settings: kept(settings.into_boxed_slice()),
        ports: &[ELSE],
        fallbacks: &[(ELSE, OUT)],
        build,
    }
}

fn setting_of(option: &OptionSpec) -> Setting {
    let takes = Takes::Constant(Kind::Any);
    let setting = Setting::new(option.name, takes, InChain::No, option.doc);
    if option.required { setting.required() } else { setting }
}

/// What a conversion leaves to a person.
static UNDECIDED: OperatorKind = OperatorKind {
    path: "logstash::undecided",
    word: None,
    doc: "Stands where `temblor convert logstash` could not convert a block, and fails every check: \
          somebody has to write what belongs there, or take it out.",
    examples: &[],
    settings: &[
        Setting::new("block", TEXT, InChain::Positional, "The block, and where it stood.")
            .required(),
        Setting::new("because", TEXT, InChain::Clause("because"), "Why it was not converted.")
            .required(),
    ],
    ports: &[],
    fallbacks: &[],
    build: |settings| {
        let text = |name| settings.text(name).unwrap_or_default();
        Err(complain::undecided(&text("block"), &text("because"), settings.span_of("block")))
    },
};

fn build(settings: &Settings) -> Result<Box<dyn AnyOperator>, Diagnostic> {
    let name = settings.kind.strip_prefix(PREFIX).unwrap_or(settings.kind);
    let plugin = plugin_of(name, settings);
    let surroundings = Surroundings::of_environment();
    let mut diagnostics = Vec::new();
    let mut builder = ProgramBuilder::new(&surroundings, &mut diagnostics);
    builder.section(&[Statement::Plugin(plugin)]);
    let program = builder.finish();
    match diagnostics.into_iter().find(|one| one.severity == Severity::Error) {
        Some(error) => Err(error),
        None => Ok(Box::new(FilterStep { program })),
    }
}

/// The settings as the options of a plugin.
fn plugin_of(name: &str, settings: &Settings) -> Plugin {
    let mut options = Vec::new();
    for (name, span, given) in settings.entries() {
        let Given::Constant(value) = given else { continue };
        let arena = Arena::new();
        let value = value.get().copy_into(&arena);
        if value != Value::Null {
            let name = Word { text: name.to_string(), span };
            options.push((name, tree_of(value, span, &arena)));
        }
    }
    let span = settings.span;
    Plugin { name: Word { text: name.to_string(), span }, options, span }
}

fn tree_of<'a>(value: Value<'a>, span: Span, arena: &'a Arena) -> Tree {
    let kind = if let Some(text) = value.as_str() {
        ValueKind::Text(text.to_string())
    } else if let Some(items) = value.as_array(arena) {
        ValueKind::Array(items.iter().map(|item| tree_of(*item, span, arena)).collect())
    } else if let Some(record) = value.as_record(arena) {
        let entry = |(key, value): (&str, Value<'a>)| {
            (Word { text: key.to_string(), span }, tree_of(value, span, arena))
        };
        ValueKind::Hash(record.iter().map(entry).collect())
    } else if matches!(value, Value::Int(_) | Value::UInt(_) | Value::Float(_)) {
        ValueKind::Number(temblor_lang::value::to_json(value))
    } else {
        ValueKind::Bare(temblor_lang::value::to_json(value))
    };
    Tree { span, kind }
}

/// One filter.
#[derive(Debug)]
struct FilterStep {
    program: Program,
}

impl Operator for FilterStep {
    type State = ProgramState;

    fn start(&self) -> ProgramState {
        self.program.start()
    }

    fn is_stateful(&self) -> bool {
        self.program.is_stateful()
    }

    fn process<'a>(
        &'a self,
        state: &mut ProgramState,
        _port: &str,
        event: Event<'a>,
        around: &operator::Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let arena = around.arena();
        let now =
            DateTime::<Utc>::from_timestamp_nanos(i64::try_from(around.now_ns).unwrap_or(i64::MAX));
        let mut events = vec![LogEvent::resumed(event.value, event.meta, arena)];
        self.program.run(&mut events, state, arena, now);
        if events.is_empty() {
            out.count_drop();
        }
        let port = if state.outcome == Outcome::Matched { OUT } else { ELSE };
        for one in events {
            let meta = one.metadata.to_value(arena);
            out.emit(port, Event::new(one.data.to_value(arena), meta, event.ingest_ns));
        }
        Ok(())
    }
}
