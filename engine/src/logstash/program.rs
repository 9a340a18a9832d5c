//! A filter section as steps: filters and branches in the order of the text. Events that a filter
//! makes go on behind it; the order of events is kept.

use super::complain;
use super::condition::{Compiler, Test};
use super::event::LogEvent;
use super::filter::{Common, Declaration, FILTERS, Filter, MISSING, Outcome, Random, Turn};
use super::options::{Arguments, COMMON};
use super::settings::Settings;
use super::syntax::tree::{Branch, Plugin, Statement};
use chrono::{DateTime, Utc};
use std::any::Any;
use temblor_lang::diagnostic::{Diagnostic, nearest};
use temblor_lang::value::Arena;
use temblor_stdlib::grok::Captures;

/// The filters of a configuration.
#[derive(Debug, Default)]
pub struct Program {
    steps: Vec<Step>,
    /// The filters that remember something, by number.
    memories: usize,
}

#[derive(Debug)]
enum Step {
    Filter(Node),
    Branch { arms: Vec<(Test, Vec<Step>)>, otherwise: Vec<Step> },
}

#[derive(Debug)]
struct Node {
    filter: Box<dyn Filter>,
    common: Common,
    /// The number of its memory.
    memory: Option<usize>,
}

/// What the filters of one program remember, and memory that they share.
pub struct ProgramState {
    memories: Vec<Box<dyn Any + Send>>,
    captures: Captures,
    random: Random,
    /// What the last filter did.
    pub outcome: Outcome,
}

/// Compiles filter sections.
#[derive(Debug)]
pub struct ProgramBuilder<'c> {
    settings: &'c Settings,
    diagnostics: &'c mut Vec<Diagnostic>,
    program: Program,
}

impl<'c> ProgramBuilder<'c> {
    /// An empty program.
    pub fn new(settings: &'c Settings, diagnostics: &'c mut Vec<Diagnostic>) -> Self {
        Self { settings, diagnostics, program: Program::default() }
    }

    /// Adds a section behind what is there.
    pub fn section(&mut self, body: &[Statement]) {
        let steps = self.steps(body);
        self.program.steps.extend(steps);
    }

    /// The program.
    #[must_use]
    pub fn finish(self) -> Program {
        self.program
    }

    fn steps(&mut self, body: &[Statement]) -> Vec<Step> {
        let step = |statement: &Statement| match statement {
            Statement::Plugin(plugin) => self.filter(plugin).map(Step::Filter),
            Statement::Branch(branch) => Some(self.branch(branch)),
        };
        body.iter().filter_map(step).collect()
    }

    fn branch(&mut self, branch: &Branch) -> Step {
        let mut arms = Vec::with_capacity(branch.arms.len());
        for (condition, body) in &branch.arms {
            let mut compiler =
                Compiler { settings: self.settings, diagnostics: &mut *self.diagnostics };
            let test = compiler.compile(condition);
            arms.push((test, self.steps(body)));
        }
        let otherwise = branch.otherwise.as_ref().map(|body| self.steps(body));
        Step::Branch { arms, otherwise: otherwise.unwrap_or_default() }
    }

    fn filter(&mut self, plugin: &Plugin) -> Option<Node> {
        let name = &*plugin.name.text;
        let declaration: &Declaration = match FILTERS.iter().find(|one| one.name == name) {
            Some(declaration) => declaration,
            None => {
                self.diagnostics.push(unknown(name, plugin));
                return None;
            }
        };
        let mut arguments =
            Arguments::new(plugin, declaration.options, COMMON, self.settings, self.diagnostics);
        let common = Common::compile(&mut arguments);
        let filter = (declaration.make)(&mut arguments)?;
        let memory = filter.memory().map(|_| {
            self.program.memories += 1;
            self.program.memories - 1
        });
        Some(Node { filter, common, memory })
    }
}

/// A filter that is not here. One whose name is nearly that of a filter is misspelt.
fn unknown(name: &str, plugin: &Plugin) -> Diagnostic {
    let span = plugin.name.span;
    let known = || FILTERS.iter().map(|one| one.name);
    if !MISSING.contains(&name) && nearest(name, known()).is_some() {
        return complain::unknown_plugin("filter", name, span, known());
    }
    let help = "run it with --skip-missing, which passes events on unchanged";
    complain::missing_plugin("filter", name, span, help)
}

impl Program {
    /// Whether there is no filter.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether a filter remembers something.
    #[must_use]
    pub fn is_stateful(&self) -> bool {
        self.memories > 0
    }

    /// The state before the first event.
    #[must_use]
    pub fn start(&self) -> ProgramState {
        let mut memories = Vec::with_capacity(self.memories);
        gather(&self.steps, &mut memories);
        ProgramState {
            memories,
            captures: Captures::new(),
            random: Random::new(),
            outcome: Outcome::Matched,
        }
    }

    /// Sends events through all steps; what is cancelled is taken out.
    pub fn run<'a>(
        &'a self,
        events: &mut Vec<LogEvent<'a>>,
        state: &mut ProgramState,
        arena: &'a Arena,
        now: DateTime<Utc>,
    ) {
        let mut run = Run { state, arena, now };
        run.steps(&self.steps, events);
    }
}

/// Memories in the order of their numbers, which is the order of the text.
fn gather(steps: &[Step], memories: &mut Vec<Box<dyn Any + Send>>) {
    for step in steps {
        match step {
            Step::Filter(node) => memories.extend(node.filter.memory()),
            Step::Branch { arms, otherwise } => {
                arms.iter().for_each(|(_, steps)| gather(steps, memories));
                gather(otherwise, memories);
            }
        }
    }
}

struct Run<'a, 's> {
    state: &'s mut ProgramState,
    arena: &'a Arena,
    now: DateTime<Utc>,
}

impl<'a> Run<'a, '_> {
    fn steps(&mut self, steps: &'a [Step], events: &mut Vec<LogEvent<'a>>) {
        for step in steps {
            if events.is_empty() {
                return;
            }
            match step {
                Step::Filter(node) => self.filter(node, events),
                Step::Branch { arms, otherwise } => self.branch(arms, otherwise, events),
            }
        }
    }

    fn filter(&mut self, node: &'a Node, events: &mut Vec<LogEvent<'a>>) {
        let mut emitted = Vec::new();
        if let [event] = events.as_mut_slice() {
            self.apply(node, event, &mut emitted);
            events.append(&mut emitted);
        } else {
            for mut event in std::mem::take(events) {
                self.apply(node, &mut event, &mut emitted);
                events.push(event);
                events.append(&mut emitted);
            }
        }
        events.retain(|event| !event.cancelled);
    }

    fn apply(&mut self, node: &'a Node, event: &mut LogEvent<'a>, emitted: &mut Vec<LogEvent<'a>>) {
        let mut nothing = ();
        let memory: &mut dyn Any = match node.memory {
            Some(number) => self.state.memories[number].as_mut(),
            None => &mut nothing,
        };
        let mut turn = Turn {
            arena: self.arena,
            now: self.now,
            common: &node.common,
            emitted,
            memory,
            captures: &mut self.state.captures,
            random: &mut self.state.random,
        };
        let outcome = node.filter.filter(event, &mut turn);
        self.state.outcome = outcome;
        if outcome == Outcome::Matched && !node.common.is_empty() {
            node.common.apply(event, self.arena, self.now);
        }
    }

    fn branch(
        &mut self,
        arms: &'a [(Test, Vec<Step>)],
        otherwise: &'a [Step],
        events: &mut Vec<LogEvent<'a>>,
    ) {
        if let [event] = events.as_slice() {
            match choose(arms, otherwise, event) {
                Some(steps) => self.steps(steps, events),
                None => events.clear(),
            }
            return;
        }
        for event in std::mem::take(events) {
            if let Some(steps) = choose(arms, otherwise, &event) {
                let mut one = vec![event];
                self.steps(steps, &mut one);
                events.append(&mut one);
            }
        }
    }
}

/// The steps for an event; none when a condition failed, which ends the event.
fn choose<'s>(
    arms: &'s [(Test, Vec<Step>)],
    otherwise: &'s [Step],
    event: &LogEvent<'_>,
) -> Option<&'s [Step]> {
    for (test, steps) in arms {
        if test.holds(event).ok()? {
            return Some(steps);
        }
    }
    Some(otherwise)
}
