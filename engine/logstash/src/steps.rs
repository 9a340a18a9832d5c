//! The filters of Logstash as steps of chains, for configurations that were converted: each is the
//! very code that runs a configuration, and takes the options that the filter has there.

use crate::codec::{DecodeState, Moment};
use crate::complain;
use crate::filter::{Declaration, FILTERS, Outcome};
use crate::input::{self, Intake};
use crate::load::Loaded;
use crate::operator::{moment, no_order, other_configuration};
use crate::options::{COMMON, OptionSpec};
use crate::output::Outlet;
use crate::program::{Program, ProgramBuilder, ProgramState};
use crate::settings::{Ecs, Settings as Surroundings};
use crate::syntax::tree::{Plugin, Statement, Value as Tree, ValueKind, Word};
use std::sync::LazyLock;
use temblor_declare::{Given, InChain, Setting, Settings, Takes};
use temblor_lang::builtin::{CallError, Tables};
use temblor_lang::diagnostic::{Diagnostic, Severity};
use temblor_lang::error::EvalError;
use temblor_lang::run::spent;
use temblor_lang::span::Span;
use temblor_lang::value::{Arena, EVENT_BYTES_MAX, EVENT_STEPS_MAX, Value};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_pipeline::event::Event;
use temblor_pipeline::lookup::NamedTables;
use temblor_pipeline::operator::{self, AnyOperator, ELSE, Emitter, OUT, Operator};
use temblor_pipeline::operators::{OperatorKind, Supplies};
use temblor_pipeline::row::Row;

/// What stands in front of the names of filters.
pub(crate) const PREFIX: &str = "logstash::";

const TEXT: Takes = Takes::Text;

/// The kinds of operators, made from the declarations of the filters.
pub fn kinds() -> impl Iterator<Item = &'static OperatorKind> {
    static KINDS: LazyLock<Vec<OperatorKind>> = LazyLock::new(|| {
        let filters = FILTERS.iter().map(|declaration| kind_of(declaration));
        filters.collect()
    });
    KINDS.iter().chain([&UNDECIDED, &FILTERS_AS_WRITTEN, &INPUT, &OUTPUT])
}

/// The filter whose dictionary may be a table.
const TRANSLATE: &str = "translate";
const TABLE: &str = "table";

/// Lives as long as the process, as all declarations do; made once for each.
fn kept<T: ?Sized>(value: Box<T>) -> &'static T {
    Box::leak(value)
}

fn kind_of(declaration: &'static Declaration) -> OperatorKind {
    let options = declaration.options.iter().chain(COMMON).filter(|one| one.gone.is_none());
    let mut settings: Vec<Setting> = options.map(setting_of).collect();
    if declaration.name == TRANSLATE {
        settings.push(Setting::new(TABLE, TEXT, "A table of the program, as `dictionary`."));
    }
    let doc = format!(
        "{} The Logstash filter `{}` with its options. Events for which it did not succeed go to \
         `else`, or on with the others when nothing is connected there.",
        declaration.doc, declaration.name
    );
    let example: &'static str = kept(example_of(declaration).into_boxed_str());
    OperatorKind {
        path: kept(format!("{PREFIX}{}", declaration.name).into_boxed_str()),
        word: None,
        doc: kept(doc.into_boxed_str()),
        examples: kept(Box::new([example])),
        settings: kept(settings.into_boxed_slice()),
        ports: &[ELSE],
        fallbacks: &[(ELSE, OUT)],
        build,
    }
}

/// Settings of examples, where those that must be there would not say much.
const EXAMPLES: &[(&str, &str)] = &[
    ("aggregate", r#"task_id = "%{id}", code = "map['n'] ||= 0""#),
    ("cidr", r#"address = ["%{ip}"], network = ["10.0.0.0/8"], add_tag = ["inside"]"#),
    ("csv", r#"columns = ["time", "user"]"#),
    ("date", r#"match = ["time", "ISO8601"]"#),
    ("dissect", r#"mapping = {"message": "%{time} %{+time} %{text}"}"#),
    ("drop", "percentage = 50"),
    ("fingerprint", r#"source = ["message"], method = "SHA256""#),
    ("geoip", r#"source = "ip", target = "geo", database = "GeoLite2-City.mmdb""#),
    ("grok", r#"match = {"message": "%{IP:ip} %{WORD:verb}"}"#),
    ("http", r#"url = "http://127.0.0.1:8080/%{id}", target_body = "answer""#),
    ("math", r#"calculate = [["fdiv", "bytes", 1000, "kilobytes"]]"#),
    ("metrics", r#"meter = ["events"]"#),
    ("mutate", r#"rename = {"a": "b"}, uppercase = ["b"]"#),
    ("prune", r#"whitelist_names = ["^@", "^message$"]"#),
    ("ruby", r#"code = "event.set('n', event.get('message').length)""#),
    ("throttle", r#"key = "%{host}", after_count = 5, period = "60", add_tag = "throttled""#),
    ("translate", r#"source = "status", dictionary = {"200": "fine"}, fallback = "other""#),
    ("xml", r#"source = "message", target = "document""#),
];

fn example_of(declaration: &Declaration) -> String {
    let own = EXAMPLES.iter().find(|(name, _)| *name == declaration.name);
    let settings = match own {
        Some((_, settings)) => (*settings).to_string(),
        None => {
            let required = declaration.options.iter().filter(|option| option.required);
            required.map(sample_of).collect::<Vec<_>>().join(", ")
        }
    };
    let with = if settings.is_empty() { String::new() } else { format!(" with {settings} end") };
    // `drop` is a word of the language.
    let name = if declaration.name == "drop" { "`drop`" } else { declaration.name };
    format!("in |> {PREFIX}{name}{with} |> out")
}

/// A setting with a value that it takes.
fn sample_of(option: &OptionSpec) -> String {
    use crate::options::Takes as Option;
    let value = match option.takes {
        Option::Number => "10".to_string(),
        Option::Flag => "true".to_string(),
        Option::List => r#"["a"]"#.to_string(),
        Option::Hash => r#"{"a": "b"}"#.to_string(),
        Option::OneOf(words) => format!("{:?}", words[0]),
        Option::Text | Option::Codec | Option::Anything => r#""message""#.to_string(),
        Option::Duration => r#""1 hour""#.to_string(),
    };
    format!("{} = {value}", option.name)
}

fn setting_of(option: &OptionSpec) -> Setting {
    let takes = Takes::Any;
    let setting = Setting::new(option.name, takes, option.doc);
    if option.required { setting.required() } else { setting }
}

/// What a conversion leaves to a person.
static UNDECIDED: OperatorKind = OperatorKind {
    path: "logstash::undecided",
    word: None,
    doc: "Stands where `temblor convert logstash` could not convert a block, and fails every check: \
          somebody has to write what belongs there, or take it out.",
    examples: &[
        r#"in |> logstash::undecided "filter geoip" with because = "there is none" end |> out"#,
    ],
    settings: &[
        Setting::new("block", TEXT, "The block, and where it stood.")
            .in_chain(InChain::Positional)
            .required(),
        Setting::new("because", TEXT, "Why it was not converted.").required(),
    ],
    ports: &[],
    fallbacks: &[],
    build: |settings, _| {
        let (block, because) = (settings.text("block"), settings.text("because"));
        Err(complain::undecided(block, because, settings.span_of("block")))
    },
};

/// Filters that cannot be told apart.
static FILTERS_AS_WRITTEN: OperatorKind = OperatorKind {
    path: "logstash::filters",
    word: None,
    doc: "Filters as they stand in the filter section of a Logstash configuration, branches included. \
          Filters within one such step share what they remember where they do in Logstash.",
    examples: &[r#"in |> logstash::filters "mutate { add_tag => ['seen'] }" |> out"#],
    settings: &[
        Setting::new("text", TEXT, "The filters.").in_chain(InChain::Positional).required(),
        Setting::new("ecs_compatibility", TEXT, "Which field names (v8)."),
        Setting::new("support_escapes", FLAG, "Whether texts have escapes."),
    ],
    ports: &[],
    fallbacks: &[],
    build: |settings, _| {
        let text = settings.text("text");
        let mut surroundings = Surroundings::of_environment();
        let mode = settings.optional_text("ecs_compatibility");
        surroundings.ecs = mode.and_then(Ecs::named).unwrap_or_default();
        surroundings.escapes = settings.flag("support_escapes");
        let mut loaded = Loaded::default();
        loaded.add("filters", format!("filter {{\n{text}\n}}"));
        let program = loaded.program(&surroundings);
        let fault =
            |one: &Diagnostic| one.severity == Severity::Error || one.code == complain::MISSING;
        match loaded.diagnostics.iter().find(|one| fault(one)) {
            // Places in the text are none of the program.
            Some(error) => Err(settings.error("text", error.message.clone())),
            None => Ok(Box::new(FilterStep { program, other: OUT })),
        }
    },
};

const ANY: Takes = Takes::Any;
const FLAG: Takes = Takes::Flag;

const OPTIONS: Setting = Setting::new("options", ANY, "Other options of the plugin, as a record.");

/// What an input plugin does to frames.
static INPUT: OperatorKind = OperatorKind {
    path: "logstash::input",
    word: None,
    doc: "Makes the events of a Logstash input: its codec reads what a source gave, and its options \
          add fields and tags. Every event has `@timestamp` and `@version` behind it. Without a name \
          it adds nothing else.",
    examples: &[r#"in |> logstash::input |> out"#],
    settings: &[
        Setting::new("plugin", TEXT, "The input, such as `stdin`.").in_chain(InChain::Positional),
        Setting::new("codec", ANY, "A name, or a record of a name and its options."),
        Setting::new("type", TEXT, "The field `type` of events that have none."),
        Setting::new("tags", ANY, "Tags of every event."),
        Setting::new("add_field", ANY, "Fields of every event."),
        Setting::new("command", TEXT, "The command of `exec` and `pipe`."),
        Setting::new("message", TEXT, "The message of `heartbeat`."),
        Setting::new("sequence", TEXT, "What `heartbeat` counts."),
        Setting::new("threads", ANY, "How many events each of its beats is."),
        OPTIONS,
        Setting::new("ecs_compatibility", TEXT, "Which field names (v8)."),
    ],
    ports: &[],
    fallbacks: &[],
    build: |settings, _| {
        let name = settings.optional_text("plugin");
        let plugin = plugin_of(name.unwrap_or("stdin"), settings);
        let surroundings = Surroundings::of_environment();
        let mut diagnostics = Vec::new();
        let intake = match name {
            None => Some(Intake::of_standard_input(&surroundings)),
            Some(_) => input::intake_of(&plugin, &surroundings, &mut diagnostics),
        };
        match (intake, diagnostics.into_iter().next()) {
            (Some(intake), None) => Ok(Box::new(InputStep { intake })),
            (_, error) => Err(error.unwrap_or_else(|| settings.error("plugin", "it is no input"))),
        }
    },
};

/// What an output plugin does to events.
static OUTPUT: OperatorKind = OperatorKind {
    path: "logstash::output",
    word: None,
    doc: "Writes an event as the codec of a Logstash output does: what comes out is the text or the \
          bytes for a sink with the codec `raw`. With `place` the metadata field `$place` says where \
          the event goes; a place that would leave the folder is `otherwise`. With `tell` the \
          metadata fields `$to_…` have what a sink wants to know of the event.",
    examples: &[r#"in |> logstash::input |> logstash::output with codec = "rubydebug" end |> out"#],
    settings: &[
        Setting::new("plugin", TEXT, "The output, where it writes in its own way: `syslog`.")
            .in_chain(InChain::Positional),
        Setting::new("codec", ANY, "A name, or a record of a name and its options."),
        OPTIONS,
        Setting::new("command", TEXT, "Instead of a codec: what a shell runs."),
        Setting::new("place", TEXT, "Where it goes; may hold `%{field}`."),
        Setting::new("otherwise", TEXT, "The place of events whose own is elsewhere."),
        Setting::new(
            "tell",
            ANY,
            "What `$to_NAME` is, by name: a text that may hold `%{field}`, a record of such texts, a \
             list of the fields that are labels (all when it is empty), or `true` for the time of \
             the event in nanoseconds.",
        ),
    ],
    ports: &[],
    fallbacks: &[],
    build: |settings, _| {
        let plugin = plugin_of(settings.optional_text("plugin").unwrap_or("output"), settings);
        let surroundings = Surroundings::of_environment();
        let mut diagnostics = Vec::new();
        let outlet = Outlet::of_settings(&plugin, &surroundings, &mut diagnostics);
        match diagnostics.into_iter().next() {
            None => Ok(Box::new(OutputStep { outlet })),
            Some(error) => Err(error),
        }
    },
};

fn build(settings: &Settings, supplies: &Supplies) -> Result<Box<dyn AnyOperator>, Diagnostic> {
    let name = supplies.kind.strip_prefix(PREFIX).unwrap_or(supplies.kind);
    let mut plugin = plugin_of(name, settings);
    if settings.has(TABLE) {
        plugin.options.push(dictionary_of(settings, &supplies.tables)?);
    }
    let surroundings = Surroundings::of_environment();
    let mut diagnostics = Vec::new();
    let mut builder = ProgramBuilder::new(&surroundings, &mut diagnostics);
    builder.section(&[Statement::Plugin(plugin)]);
    let program = builder.finish();
    let is_fault =
        |one: &Diagnostic| one.severity == Severity::Error || one.code == complain::MISSING;
    match diagnostics.into_iter().find(is_fault) {
        // A step that passed events on unchanged would be none.
        Some(missing) if missing.severity != Severity::Error => {
            let error = Diagnostic::error("E0510", missing.span, missing.message);
            Err(missing.help.map_or_else(|| error.clone(), |help| error.clone().with_help(help)))
        }
        Some(error) => Err(error),
        None => Ok(Box::new(FilterStep { program, other: ELSE })),
    }
}

/// The table that the settings name, as the option of a plugin.
fn dictionary_of(settings: &Settings, tables: &NamedTables) -> Result<(Word, Tree), Diagnostic> {
    let name = settings.text(TABLE);
    let Some(table) = tables.get(name) else {
        let error = settings.error(TABLE, format!("there is no lookup table `{name}`"));
        return Err(error.with_nearest(name, tables.names()));
    };
    let span = settings.span_of(TABLE);
    let mut entries = Vec::new();
    table.each(|key, value| {
        let arena = Arena::new();
        let text = key.as_str().map_or_else(|| temblor_lang::value::to_json(key), str::to_string);
        entries.push((Word { text, span }, tree_of(value.copy_into(&arena), span, &arena)));
    });
    let option = Word { text: "dictionary".to_string(), span };
    Ok((option, Tree { span, kind: ValueKind::Hash(entries) }))
}

/// The settings as the options of a plugin.
fn plugin_of(name: &str, settings: &Settings) -> Plugin {
    let mut options = Vec::new();
    for (name, span, given) in settings.entries() {
        let arena = Arena::new();
        let value = match given {
            Given::Any { value, .. } => value.get().copy_into(&arena),
            Given::Text(text) => Value::Str(text),
            Given::Flag(flag) => Value::Bool(*flag),
            _ => continue,
        };
        if name == OPTIONS.name {
            let ValueKind::Hash(others) = tree_of(value, span, &arena).kind else { continue };
            options.extend(others);
        } else if value != Value::Null && !matches!(name, "plugin" | TABLE) {
            let tree = if name == "codec" { codec_of } else { tree_of };
            options.push((Word { text: name.to_string(), span }, tree(value, span, &arena)));
        }
    }
    let span = settings.span;
    Plugin { name: Word { text: name.to_string(), span }, options, span }
}

/// `"json"`, or `{ "line": { "format": … } }`.
fn codec_of<'a>(value: Value<'a>, span: Span, arena: &'a Arena) -> Tree {
    let Some((name, inside)) = value.as_record(arena).and_then(|record| record.iter().next())
    else {
        return tree_of(value, span, arena);
    };
    let options = match tree_of(inside, span, arena).kind {
        ValueKind::Hash(options) => options,
        _ => Vec::new(),
    };
    let name = Word { text: name.to_string(), span };
    Tree { span, kind: ValueKind::Plugin(Plugin { name, options, span }) }
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

/// One filter, or several.
#[derive(Debug)]
struct FilterStep {
    program: Program,
    /// Where events go for which the last filter did not succeed.
    other: &'static str,
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
        let Moment { arena, now, .. } = moment(around);
        let mut events = vec![LogEvent::resumed(event.value, event.meta, arena)];
        let allowance = arena.begin(EVENT_BYTES_MAX, EVENT_STEPS_MAX);
        let failed = self.program.run(&mut events, state, arena, now);
        let excess = arena.excess();
        arena.end(allowance);
        if let Some(excess) = excess {
            return Err(spent(excess));
        }
        let delay_ns = state.take_delay_ns();
        if delay_ns > 0 {
            out.delay_until(around.now_ns.saturating_add(delay_ns));
        }
        if events.is_empty() && failed.is_empty() {
            out.count_drop();
        }
        for (one, reason) in failed {
            let meta = one.metadata.to_value(arena);
            let failed = Event::new(one.data.to_value(arena), meta, event.ingest_ns);
            out.fail(failed, no_order(&reason));
        }
        let port = if state.outcome == Outcome::Matched { OUT } else { self.other };
        for one in events {
            let (value, meta) = one.sent(arena);
            out.emit(port, Event::new(value, meta, event.ingest_ns));
        }
        Ok(())
    }

    fn save<'a>(&self, state: &ProgramState, arena: &'a Arena) -> Value<'a> {
        self.program.save(state, arena).to_value(arena)
    }

    fn restore(&self, saved: Value<'_>) -> Result<ProgramState, CallError> {
        let arena = Arena::new();
        let saved = Datum::from_value(saved.copy_into(&arena), &arena);
        self.program.restore(&saved).ok_or_else(other_configuration)
    }

    fn rows<'a>(&self, state: &ProgramState, arena: &'a Arena) -> Option<Vec<Row<'a>>> {
        self.program.rows(state, arena)
    }

    fn amend(
        &self,
        state: &mut ProgramState,
        hash: u128,
        columns: Value<'_>,
    ) -> Result<(), CallError> {
        self.program.amend(state, hash, columns)
    }

    fn forget(&self, state: &mut ProgramState, hash: u128) -> bool {
        self.program.forget(state, hash)
    }

    fn wants_ticks(&self) -> bool {
        self.program.wants_ticks()
    }

    fn tick<'a>(
        &'a self,
        state: &mut ProgramState,
        around: &operator::Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let Moment { arena, now, now_ns } = moment(around);
        let events = self.program.tick(state, arena, now, false);
        InputStep::send(events, (arena, now_ns), out);
        Ok(())
    }

    fn flush<'a>(
        &'a self,
        state: &mut ProgramState,
        around: &operator::Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let Moment { arena, now, now_ns } = moment(around);
        let events = self.program.tick(state, arena, now, true);
        InputStep::send(events, (arena, now_ns), out);
        Ok(())
    }
}

/// An input.
#[derive(Debug)]
struct InputStep {
    intake: Intake,
}

impl InputStep {
    fn send<'a>(
        events: Vec<LogEvent<'a>>,
        (arena, ingest_ns): (&'a Arena, u64),
        out: &mut Emitter<'a>,
    ) {
        for one in events {
            let (value, meta) = one.sent(arena);
            out.emit(OUT, Event::new(value, meta, ingest_ns));
        }
    }

    fn release<'a>(
        &'a self,
        state: &mut DecodeState,
        around: &operator::Surroundings<'a>,
        due: bool,
        out: &mut Emitter<'a>,
    ) {
        let mut events = Vec::new();
        self.intake.flush(state, moment(around), due, &mut events);
        Self::send(events, (around.arena(), around.now_ns), out);
    }
}

impl Operator for InputStep {
    type State = DecodeState;

    fn start(&self) -> DecodeState {
        DecodeState::default()
    }

    fn is_stateful(&self) -> bool {
        self.intake.is_stateful()
    }

    fn process<'a>(
        &'a self,
        state: &mut DecodeState,
        _port: &str,
        event: Event<'a>,
        around: &operator::Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let mut events = Vec::with_capacity(1);
        self.intake.receive(state, event, around, moment(around), &mut events);
        Self::send(events, (around.arena(), event.ingest_ns), out);
        Ok(())
    }

    fn save<'a>(&self, state: &DecodeState, arena: &'a Arena) -> Value<'a> {
        self.intake.save(state, arena).to_value(arena)
    }

    fn restore(&self, saved: Value<'_>) -> Result<DecodeState, CallError> {
        let arena = Arena::new();
        let saved = Datum::from_value(saved.copy_into(&arena), &arena);
        self.intake.restore(&saved).ok_or_else(other_configuration)
    }

    fn wants_ticks(&self) -> bool {
        self.intake.wants_ticks()
    }

    fn tick<'a>(
        &'a self,
        state: &mut DecodeState,
        around: &operator::Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        self.release(state, around, true, out);
        Ok(())
    }

    fn flush<'a>(
        &'a self,
        state: &mut DecodeState,
        around: &operator::Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        self.release(state, around, false, out);
        Ok(())
    }
}

/// An output.
#[derive(Debug)]
struct OutputStep {
    outlet: Outlet,
}

impl Operator for OutputStep {
    type State = ();

    fn start(&self) {}

    fn process<'a>(
        &'a self,
        (): &mut (),
        _port: &str,
        event: Event<'a>,
        around: &operator::Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let moment = moment(around);
        let one = LogEvent::resumed(event.value, event.meta, moment.arena);
        let (value, meta) = self.outlet.write(&one, moment.arena, moment.now);
        out.emit(OUT, Event::new(value, meta, event.ingest_ns));
        Ok(())
    }
}
