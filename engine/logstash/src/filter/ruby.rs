//! `ruby`: runs inline code, or a script, in the interpreter of [`temblor_ruby`]. Code that it
//! does not know is named when the configuration is loaded; it never runs in part.

use super::{Declaration, Filter, Outcome, Turn};
use crate::complain;
use crate::options::{Arguments, Setting, SettingKind, Takes, option};
use chrono::{DateTime, Utc};
use std::any::Any;
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::Map;
use temblor_logstash_event::event::LogEvent;
use temblor_ruby::{Heap, Machine, Memory, Script, Stop, Value};

/// `ruby`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "ruby",
    doc: "Runs code in a part of Ruby.",
    options: &[
        option("code", Takes::Text, "The code; `event` is the event."),
        option("init", Takes::Text, "Code that is run at the start."),
        option("path", Takes::Text, "A file of code that defines `filter(event)`."),
        option("script_params", Takes::Hash, "What `register(params)` of the file is given."),
        option("tag_on_exception", Takes::Text, "The tag that says that it failed."),
        option("tag_with_exception_message", Takes::Flag, "Whether a tag tells the message too."),
    ],
    make,
};

#[derive(Debug)]
struct Ruby {
    init: Option<Script>,
    code: Script,
    /// Whether `code` is a file that defines `filter`.
    file: bool,
    parameters: Vec<(String, Setting)>,
    tag: String,
    tag_message: bool,
}

/// Begins the tag that says that the code asked for something of Ruby that is not known here.
const UNKNOWN_TAG: &str = "_rubyunknown";

/// What the code remembers.
#[derive(Default)]
struct State {
    memory: Memory,
    started: bool,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let file = arguments.text("path").filter(|_| arguments.get("code").is_none());
    let code = match &file {
        Some(path) => match std::fs::read_to_string(path) {
            Ok(code) => Some((code, "path")),
            Err(error) => {
                let reason = format!("{path}: {error}");
                arguments.complain(complain::missing_file(arguments.place("path"), &reason));
                return None;
            }
        },
        None => arguments.text("code").map(|code| (code, "code")),
    };
    let Some((code, option)) = code else {
        arguments.complain(complain::missing_option("ruby", "code", arguments.span));
        return None;
    };
    let init = arguments.text("init").filter(|init| !init.trim().is_empty());
    let init = match init {
        Some(init) => Some(script(arguments, &init, "init", &[])?),
        None => None,
    };
    let defined = init.as_ref().map(Script::defined).unwrap_or_default();
    let code = script(arguments, &code, option, &defined)?;
    let tag = arguments.text("tag_on_exception").unwrap_or_else(|| "_rubyexception".to_string());
    let tag_message = arguments.flag("tag_with_exception_message", false);
    let parameters = arguments.pairs("script_params");
    let ruby = Ruby { init, code, file: file.is_some(), parameters, tag, tag_message };
    if let Err(reason) = ruby.test() {
        let span = arguments.place("path");
        arguments.complain(complain::unknown_ruby("ruby", span, &reason));
        return None;
    }
    Some(Box::new(ruby))
}

/// Reads code; what it has that is not known is said with its place.
pub(super) fn script(
    arguments: &mut Arguments<'_>,
    code: &str,
    option: &str,
    defined: &[String],
) -> Option<Script> {
    match Script::parse(code, defined) {
        Ok(script) => Some(script),
        Err(problem) => {
            let line = 1 + code[..problem.at.min(code.len())].matches('\n').count();
            let reason = match option {
                "path" => format!("line {line} of the file: {}", problem.message),
                _ => problem.message,
            };
            let span = arguments.place_within(option, code, problem.at);
            arguments.complain(complain::unknown_ruby(arguments.plugin, span, &reason));
            None
        }
    }
}

/// A setting as a value of code.
fn value(heap: &Heap, setting: &Setting) -> Value {
    match &setting.kind {
        SettingKind::Text(text) => heap.text(text),
        SettingKind::Number(text) => Value::of_datum(heap, &super::common::number(text)),
        SettingKind::List(items) => heap.list(items.iter().map(|one| value(heap, one)).collect()),
        SettingKind::Hash(entries) => {
            heap.hash(entries.iter().map(|(key, one)| (heap.text(key), value(heap, one))))
        }
        SettingKind::Codec(plugin) => heap.text(&plugin.name.text),
    }
}

impl Filter for Ruby {
    fn memory(&self) -> Option<Box<dyn Any + Send>> {
        let remembers =
            self.file || self.code.remembers() || self.init.as_ref().is_some_and(Script::remembers);
        remembers.then(|| Box::new(State::default()) as Box<dyn Any + Send>)
    }

    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let mut fresh = State::default();
        let state = turn.memory.downcast_mut::<State>().unwrap_or(&mut fresh);
        let (arena, now) = (turn.arena, turn.now);
        let taken = std::mem::take(event);
        let mut machine = Machine::new(taken, &mut state.memory, arena, now);
        machine.collect_while_running();
        let result = self.run(&mut machine, &mut state.started);
        let mut made: Vec<Option<LogEvent<'a>>> =
            std::mem::take(&mut machine.events).into_iter().map(Some).collect();
        let emitted = std::mem::take(&mut machine.emitted);
        *turn.delay_ns = turn.delay_ns.saturating_add(machine.slept_ns);
        state.memory.settle(std::iter::empty());
        *event = made[0].take().expect("the event is the first of the machine");
        for number in emitted {
            let one = match number {
                0 => Some(event.clone()),
                number => made[number].take(),
            };
            turn.emitted.extend(one);
        }
        match result {
            Ok(()) => Outcome::Matched,
            Err(stop) => {
                if self.tag_message {
                    event.tag(arena.str(&format!("{}: {}", self.tag, stop.message())));
                }
                event.tag(&self.tag);
                if let Stop::Unknown(message) = &stop {
                    event.tag(arena.str(&format!("{UNKNOWN_TAG}: {message}")));
                }
                Outcome::Unmatched
            }
        }
    }
}

impl Ruby {
    /// Runs the tests that a file holds, as Logstash does before it starts.
    fn test(&self) -> Result<(), String> {
        if !self.file {
            return Ok(());
        }
        let (arena, mut memory) = (Arena::new(), Memory::default());
        let now = DateTime::<Utc>::UNIX_EPOCH;
        let event = LogEvent::new(Map::default(), now);
        let mut machine = Machine::new(event, &mut memory, &arena, now);
        machine.gather_tests();
        machine.run(&self.code).map_err(|stop| stop.message())?;
        machine.run_tests()
    }

    fn run(&self, machine: &mut Machine<'_, '_>, started: &mut bool) -> Result<(), Stop> {
        if !*started {
            *started = true;
            if let Some(init) = &self.init {
                machine.run(init)?;
            }
            if self.file {
                machine.run(&self.code)?;
                let pairs = self.parameters.iter();
                let heap = machine.heap();
                let given = pairs.map(|(key, one)| (heap.text(key), value(heap, one)));
                machine.call_defined("register", vec![heap.hash(given)])?;
            }
        }
        if !self.file {
            return machine.run(&self.code).map(drop);
        }
        let result = machine.call_defined("filter", vec![Value::Event(0)])?;
        machine.replace_events(result.unwrap_or_default());
        Ok(())
    }
}
