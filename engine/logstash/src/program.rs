//! A filter section as steps: filters and branches in the order of the text. Events that a filter
//! makes go on behind it; the order of events is kept.

mod tables;

use super::catalog::Stock;
use super::condition::{Compiler, NoOrder, Test};
use super::filter::{Common, Declaration, FILTERS, Filter, Outcome, Random, TICK_SECONDS, Turn};
use super::options::{Arguments, COMMON};
use super::settings::Settings;
use super::syntax::tree::{Branch, Plugin, Statement};
use super::trace::{Notebook, shown};
use chrono::{DateTime, Utc};
use std::any::Any;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::span::Span;
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_stdlib::grok::Captures;

/// The filters of a configuration.
#[derive(Debug, Default)]
pub struct Program {
    steps: Vec<Step>,
    /// The filters that remember something, by number.
    memories: usize,
    /// The names of memories that several filters share.
    shared: Vec<(String, usize)>,
    /// Whether what is remembered changes what comes out.
    stateful: bool,
    /// Whether a filter wants to know that time passes.
    ticking: bool,
    /// Whether a filter wants to see events ahead.
    ahead: bool,
}

#[derive(Debug)]
enum Step {
    Filter(Node),
    Branch { arms: Vec<Arm>, otherwise: Vec<Step> },
}

/// `if [a] { … }`
#[derive(Debug)]
struct Arm {
    test: Test,
    /// Of the condition.
    span: Span,
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Node {
    name: &'static str,
    filter: Box<dyn Filter>,
    span: Span,
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
    delay_ns: u64,
    /// When time was last told to pass.
    ticked: Option<DateTime<Utc>>,
    /// Takes down the way of events, where a person looks.
    pub(crate) notebook: Option<Notebook>,
}

impl ProgramState {
    /// Takes the nanoseconds that are to pass before the next event.
    pub(crate) fn take_delay_ns(&mut self) -> u64 {
        std::mem::take(&mut self.delay_ns)
    }
}

/// Compiles filter sections.
#[derive(Debug)]
pub(crate) struct ProgramBuilder<'c> {
    settings: &'c Settings,
    diagnostics: &'c mut Vec<Diagnostic>,
    program: Program,
}

impl<'c> ProgramBuilder<'c> {
    /// An empty program.
    pub(crate) fn new(settings: &'c Settings, diagnostics: &'c mut Vec<Diagnostic>) -> Self {
        Self { settings, diagnostics, program: Program::default() }
    }

    /// Adds a section behind what is there.
    pub(crate) fn section(&mut self, body: &[Statement]) {
        let steps = self.steps(body);
        self.program.steps.extend(steps);
    }

    /// The program.
    #[must_use]
    pub(crate) fn finish(self) -> Program {
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
            arms.push(Arm { test, span: condition.span, steps: self.steps(body) });
        }
        let otherwise = branch.otherwise.as_ref().map(|body| self.steps(body));
        Step::Branch { arms, otherwise: otherwise.unwrap_or_default() }
    }

    fn filter(&mut self, plugin: &Plugin) -> Option<Node> {
        let name = &*plugin.name.text;
        let declaration: &Declaration = match FILTERS.iter().find(|one| one.name == name) {
            Some(declaration) => declaration,
            None => {
                absent(plugin, self.settings, self.diagnostics);
                return None;
            }
        };
        let mut arguments =
            Arguments::new(plugin, declaration.options, COMMON, self.settings, self.diagnostics);
        let common = Common::compile(&mut arguments);
        let filter = (declaration.make)(&mut arguments)?;
        let memory = filter.memory().map(|_| self.program.memory(&*filter));
        self.program.stateful |= memory.is_some() && !filter.remembers_only_to_be_fast();
        self.program.ticking |= filter.wants_ticks();
        self.program.ahead |= filter.looks_ahead();
        Some(Node { name: declaration.name, filter, span: plugin.span, common, memory })
    }
}

impl Program {
    /// The number of a filter's memory: a new one, or that of another with the same name.
    fn memory(&mut self, filter: &dyn Filter) -> usize {
        let name = filter.shares_memory();
        if let Some((_, number)) = self.shared.iter().find(|(known, _)| Some(&**known) == name) {
            return *number;
        }
        let number = self.memories;
        self.memories += 1;
        self.shared.extend(name.map(|name| (name.to_string(), number)));
        number
    }
}

/// What is wrong with a filter that is not here.
fn absent(plugin: &Plugin, settings: &Settings, diagnostics: &mut Vec<Diagnostic>) {
    let here: Vec<_> = FILTERS.iter().map(|one| one.name).collect();
    let help = "run it with --skip-missing, which passes events on unchanged";
    let stock = Stock { kind: "filter", here: &here, common: COMMON, help };
    stock.absent(plugin, settings, diagnostics, |arguments| {
        Common::compile(arguments);
    });
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
        self.stateful
    }

    /// Whether a filter wants to know that time passes.
    #[must_use]
    pub fn wants_ticks(&self) -> bool {
        self.ticking
    }

    /// The state before the first event.
    #[must_use]
    pub fn start(&self) -> ProgramState {
        let memories = self.keepers().iter().filter_map(|node| node.filter.memory()).collect();
        self.start_with(memories)
    }

    /// The state with what filters remember as a value.
    #[must_use]
    pub fn save<'a>(&self, state: &ProgramState, arena: &'a Arena) -> Datum<'a> {
        let keepers = self.keepers();
        let kept = keepers.iter().zip(&state.memories);
        Datum::List(kept.map(|(node, memory)| node.filter.save(memory.as_ref(), arena)).collect())
    }

    /// The state that [`Program::save`] gave; `None` when it belongs to other filters.
    #[must_use]
    pub fn restore(&self, saved: &Datum<'_>) -> Option<ProgramState> {
        let keepers = self.keepers();
        let saved = super::saved::list(Some(saved))?;
        if saved.len() != keepers.len() {
            return None;
        }
        let restore = |(node, saved): (&&Node, &Datum<'_>)| match saved {
            Datum::Null => node.filter.memory(),
            saved => node.filter.restore(saved),
        };
        let memories: Option<Vec<_>> = keepers.iter().zip(saved).map(restore).collect();
        memories.map(|memories| self.start_with(memories))
    }

    /// The filters that remember something, in the order of their memories.
    fn keepers(&self) -> Vec<&Node> {
        let mut keepers = Vec::with_capacity(self.memories);
        gather(&self.steps, &mut keepers);
        keepers
    }

    fn start_with(&self, memories: Vec<Box<dyn Any + Send>>) -> ProgramState {
        ProgramState {
            memories,
            captures: Captures::new(),
            random: Random::new(),
            outcome: Outcome::Matched,
            delay_ns: 0,
            ticked: None,
            notebook: None,
        }
    }

    /// Sends events through all steps; what is cancelled is taken out. What a comparison failed is
    /// taken out too, and returned with the reason.
    pub fn run<'a>(
        &'a self,
        events: &mut Vec<LogEvent<'a>>,
        state: &mut ProgramState,
        arena: &'a Arena,
        now: DateTime<Utc>,
    ) -> Vec<(LogEvent<'a>, NoOrder)> {
        let mut run = Run { state, arena, now, failed: Vec::new() };
        run.steps(&self.steps, events);
        run.failed
    }

    /// Whether [`Program::look_ahead`] does anything.
    #[must_use]
    pub fn looks_ahead(&self) -> bool {
        self.ahead
    }

    /// Goes through events that will be run later, with a fresh memory and without any outcome, so that
    /// filters that wait for others can do so for all of them together.
    pub fn look_ahead<'a>(
        &'a self,
        mut events: Vec<LogEvent<'a>>,
        arena: &'a Arena,
        now: DateTime<Utc>,
    ) {
        let keepers = self.keepers();
        let notes = keepers.iter().filter_map(|node| node.filter.notes()).collect();
        let mut state = self.start_with(notes);
        self.run(&mut events, &mut state, arena, now);
        for (node, notes) in keepers.iter().zip(state.memories) {
            node.filter.noted(notes, now);
        }
    }

    /// Lets time pass for filters that want it, if enough of it has passed, or at the end of the
    /// input. The events that come of it.
    pub fn tick<'a>(
        &'a self,
        state: &mut ProgramState,
        arena: &'a Arena,
        now: DateTime<Utc>,
        last: bool,
    ) -> Vec<LogEvent<'a>> {
        let mut events = Vec::new();
        let since = *state.ticked.get_or_insert(now);
        if self.ticking && (last || (now - since).num_seconds() >= TICK_SECONDS as i64) {
            state.ticked = Some(now);
            let mut run = Run { state, arena, now, failed: Vec::new() };
            run.tick(&self.steps, &mut events, last);
        }
        events
    }
}

/// Filters in the order of the numbers of their memories, which is the order of the text.
fn gather<'s>(steps: &'s [Step], keepers: &mut Vec<&'s Node>) {
    for step in steps {
        match step {
            Step::Filter(node) => {
                if node.memory == Some(keepers.len()) {
                    keepers.push(node);
                }
            }
            Step::Branch { arms, otherwise } => {
                arms.iter().for_each(|arm| gather(&arm.steps, keepers));
                gather(otherwise, keepers);
            }
        }
    }
}

struct Run<'a, 's> {
    state: &'s mut ProgramState,
    arena: &'a Arena,
    now: DateTime<Utc>,
    failed: Vec<(LogEvent<'a>, NoOrder)>,
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
            if emitted.is_empty() && !event.cancelled {
                return;
            }
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

    /// Time passes: what filters make of it goes through those behind them.
    fn tick(&mut self, steps: &'a [Step], events: &mut Vec<LogEvent<'a>>, last: bool) {
        for step in steps {
            match step {
                Step::Filter(node) => {
                    if !events.is_empty() {
                        self.filter(node, events);
                    }
                    if node.filter.wants_ticks() {
                        self.turn(node, events, |turn| node.filter.tick(turn, last));
                    }
                }
                Step::Branch { arms, otherwise } => {
                    if !events.is_empty() {
                        self.branch(arms, otherwise, events);
                    }
                    for steps in arms.iter().map(|arm| &arm.steps).chain([otherwise]) {
                        let mut made = Vec::new();
                        self.tick(steps, &mut made, last);
                        events.append(&mut made);
                    }
                }
            }
        }
    }

    fn turn<T>(
        &mut self,
        node: &'a Node,
        emitted: &mut Vec<LogEvent<'a>>,
        act: impl FnOnce(&mut Turn<'a, '_>) -> T,
    ) -> T {
        let mut nothing = ();
        let memory: &mut dyn Any = match node.memory {
            Some(number) => self.state.memories[number].as_mut(),
            None => &mut nothing,
        };
        act(&mut Turn {
            arena: self.arena,
            now: self.now,
            common: &node.common,
            emitted,
            memory,
            captures: &mut self.state.captures,
            random: &mut self.state.random,
            delay_ns: &mut self.state.delay_ns,
        })
    }

    fn apply(&mut self, node: &'a Node, event: &mut LogEvent<'a>, emitted: &mut Vec<LogEvent<'a>>) {
        let made = emitted.len();
        let before = self.state.notebook.as_ref().map(|_| shown(event, self.arena));
        let outcome = self.turn(node, emitted, |turn| node.filter.filter(event, turn));
        self.state.outcome = outcome;
        if outcome == Outcome::Matched && !node.common.is_empty() {
            node.common.apply(event, self.arena, self.now);
        }
        if let (Some(notebook), Some(before)) = (&mut self.state.notebook, before) {
            let after = std::iter::once(&*event).chain(&emitted[made..]);
            notebook.filter(node.span, before, after, self.arena);
        }
    }

    fn branch(&mut self, arms: &'a [Arm], otherwise: &'a [Step], events: &mut Vec<LogEvent<'a>>) {
        if let [event] = events.as_slice() {
            match self.choose(arms, otherwise, event) {
                Ok(steps) => self.steps(steps, events),
                Err(reason) => self.failed.extend(events.pop().map(|event| (event, reason))),
            }
            return;
        }
        for event in std::mem::take(events) {
            match self.choose(arms, otherwise, &event) {
                Ok(steps) => {
                    let mut one = vec![event];
                    self.steps(steps, &mut one);
                    events.append(&mut one);
                }
                Err(reason) => self.failed.push((event, reason)),
            }
        }
    }

    /// The steps for an event, unless a condition fails, which ends the event.
    fn choose(
        &mut self,
        arms: &'a [Arm],
        otherwise: &'a [Step],
        event: &LogEvent<'a>,
    ) -> Result<&'a [Step], NoOrder> {
        for Arm { test, span, steps } in arms {
            let holds = test.holds(event);
            if let Some(notebook) = &mut self.state.notebook {
                let told = holds.clone().map_err(|reason| reason.0.into_string());
                notebook.condition(*span, test, event, told, self.arena);
            }
            if holds? {
                return Ok(steps);
            }
        }
        Ok(otherwise)
    }
}
