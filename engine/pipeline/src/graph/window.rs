//! `define window`: exactly one way of closing, and its limits.

use super::build::{Builder, Definition, Level};
use super::complain;
use crate::operators::select::{Slide, WindowKind, WindowSpec};
use temblor_declare::read::{self, Reader};
use temblor_declare::{Setting, Settings, Takes};
use temblor_lang::diagnostic::Severity;
use temblor_lang::lower::Rules;
use temblor_lang::program::Script;
use temblor_lang::syntax::tree::{Ident, WindowDef};
use temblor_lang::value::{Frozen, Value};

/// The settings of a window.
pub static WINDOW: &[Setting] = &[
    Setting::new(
        "size",
        Takes::Whole { least: 1, most: u64::MAX },
        "How many events, or how much of what the script weighs, make a window.",
    ),
    Setting::new("interval", Takes::Duration, "How long a window is open."),
    Setting::new(
        "max_groups",
        Takes::Whole { least: 1, most: u64::MAX },
        "How many groups have windows at the same time.",
    ),
    Setting::new("max_age", Takes::Duration, "A group that gets nothing for so long is given up."),
    Setting::new(
        "eviction",
        Takes::Word(&["lru", "error"]),
        "What happens beyond `max_groups`: the group that got nothing for longest is given up, or the \
         event fails.",
    ),
    Setting::new("flush", Takes::Flag, "Whether open windows are let out when the input ends."),
    Setting::new("gap", Takes::Duration, "How long nothing comes at the end of a session."),
    Setting::new(
        "slide",
        Takes::Duration,
        "How far a sliding window moves; a number of events with `size`.",
    ),
    ON,
    LATE,
    IDLE,
    AHEAD,
];
/// What a select may say behind a window: `over tumbling 1m on event.time late 10s`.
pub(super) static EVENT_TIME: &[Setting] = &[ON, LATE, IDLE, AHEAD];
const ON: Setting = Setting::new(
    "on",
    Takes::Formula,
    "The time of an event, by which the window goes instead of the time of arrival: whole nanoseconds since \
     1970, or a text of RFC 3339.",
);
const LATE: Setting = Setting::new(
    "late",
    Takes::Duration,
    "With `on`: how far an event may be behind the latest that has come. A window closes that long after its end.",
);
const IDLE: Setting = Setting::new(
    "idle",
    Takes::Duration,
    "With `on`: a source or partition that gives nothing for so long, while others do, holds no window open any \
     more; 10s unless set.",
);
const AHEAD: Setting = Setting::new(
    "ahead",
    Takes::Duration,
    "With `on`: an event whose time is further ahead of its arrival fails, and closes no window.",
);
/// Removed from tremor in earlier releases; still written, still without effect.
static REMOVED: &[Setting] = &[
    Setting::new("eviction_period", Takes::Any, "Has no effect."),
    Setting::new("emit_empty_windows", Takes::Any, "Has no effect."),
];
/// What a window may be `from`.
pub const WINDOW_KINDS: [&str; 3] = ["tumbling", "sliding", "session"];
/// Slides that a sliding window may be made of: each keeps its own aggregates.
const PANES_MAX: u64 = 100_000;

/// The slides that a window is made of.
pub(super) fn panes(whole: u64, slide: u64) -> Result<usize, String> {
    let panes = whole.div_ceil(slide.max(1));
    match usize::try_from(panes) {
        Ok(number)
            if slide > 0 && whole.is_multiple_of(slide) && (1..=PANES_MAX).contains(&panes) =>
        {
            Ok(number)
        }
        _ => Err(format!("`slide` must divide the window into 1 to {PANES_MAX} equal parts")),
    }
}

impl Builder<'_, '_> {
    /// Whether windows of this kind exist; reports when not.
    pub(super) fn check_window_kind(&mut self, kind: &Ident) {
        if !WINDOW_KINDS.contains(&kind.text.as_str()) {
            let complaint = complain::window_kind(&kind.text, kind.span, WINDOW_KINDS);
            self.complain(complaint);
        }
    }

    pub(super) fn window(
        &mut self,
        def: &WindowDef,
        definition: &Definition,
        level: &Level,
    ) -> Option<(WindowSpec, Option<Settings>)> {
        let name = &definition.define.name;
        let given = self.window_settings(def, definition, level);
        let Some(kind) = self.window_kind(def, &given, definition, level) else {
            self.judge_scripts(def, definition, level);
            return None;
        };
        let spec = WindowSpec {
            name: Frozen::new(Value::Str(&name.text)),
            kind,
            max_groups: given.optional_whole("max_groups"),
            max_age: self.positive(&given, "max_age"),
            evicts: given.optional_text("eviction") == Some("lru"),
            flushes: given.flag("flush"),
            args: level.args.clone().unwrap_or_default(),
        };
        let is_timed = EVENT_TIME.iter().any(|row| given.says(row.name));
        Some((spec, is_timed.then_some(given)))
    }

    /// The mistakes in the scripts of a window whose settings are wrong.
    fn judge_scripts(&mut self, def: &WindowDef, definition: &Definition, level: &Level) {
        if let Some(script) = &def.script {
            self.window_script(script, Rules::WINDOW_SCRIPT, definition, level);
        }
        if let Some((_, tick)) = &def.tick {
            self.window_script(tick, Rules::TICK_SCRIPT, definition, level);
        }
    }

    fn window_settings(
        &mut self,
        def: &WindowDef,
        definition: &Definition,
        level: &Level,
    ) -> Settings {
        let span = definition.define.span;
        let (scope, args) = (&definition.scope, level.args.clone());
        let before = self.compiler.diagnostics.len();
        let settings = Reader { rows: &[WINDOW, REMOVED], span, scope, args, wants_units: false }
            .bindings(&def.with, Settings::new(span), self.compiler);
        // tremor does not look at what it does not know.
        let said = &mut self.compiler.diagnostics[before..];
        for one in said.iter_mut().filter(|one| one.code == "E0506") {
            one.severity = Severity::Warning;
        }
        settings
    }

    fn window_kind(
        &mut self,
        def: &WindowDef,
        given: &Settings,
        definition: &Definition,
        level: &Level,
    ) -> Option<WindowKind> {
        if let Some((port, _)) = &def.tick
            && port.text != "tick"
        {
            self.complain(complain::only_tick(&port.text, port.span));
        }
        let ways = [given.says("size"), given.says("interval"), def.state.is_some()];
        let ways = ways.into_iter().filter(|way| *way).count();
        let span = definition.define.span;
        match (def.kind.text.as_str(), ways) {
            ("session", _) => self.session(def, given, definition, level),
            ("tumbling" | "sliding", 0) => {
                let message = "either `size`, `interval` or `state` is required";
                self.complain(complain::bad_window(message, span));
                None
            }
            ("tumbling" | "sliding", 2..) => {
                let message = "only one of `size`, `interval` and `state` can be given";
                self.complain(complain::bad_window(message, span));
                None
            }
            ("tumbling", _) => self.tumbling(def, given, definition, level),
            ("sliding", _) => self.sliding(def, given, definition, level),
            // Reported where it is defined.
            _ => None,
        }
    }

    fn tumbling(
        &mut self,
        def: &WindowDef,
        given: &Settings,
        definition: &Definition,
        level: &Level,
    ) -> Option<WindowKind> {
        if given.says("size") {
            let size = given.optional_whole("size")?;
            return Some(WindowKind::Size { size, weight: self.measure(def, definition, level) });
        }
        if given.says("interval") {
            let interval = self.positive(given, "interval")?;
            return Some(WindowKind::Interval {
                interval,
                time: self.measure(def, definition, level),
            });
        }
        let state = def.state.as_ref()?;
        let initial = self
            .compiler
            .constant(state, &definition.scope, level.args.clone())
            .unwrap_or_default();
        let Some(script) = &def.script else {
            let message = "a window that closes by `state` needs a script";
            self.complain(complain::bad_window(message, definition.define.span));
            return None;
        };
        let script = self.window_script(script, Rules::WINDOW_SCRIPT, definition, level);
        let tick = def
            .tick
            .as_ref()
            .map(|(_, tick)| self.window_script(tick, Rules::TICK_SCRIPT, definition, level));
        Some(WindowKind::State { initial, script, tick })
    }

    fn session(
        &mut self,
        def: &WindowDef,
        given: &Settings,
        definition: &Definition,
        level: &Level,
    ) -> Option<WindowKind> {
        let Some(gap) = self.positive(given, "gap") else {
            let message = "a session window needs a `gap` in nanoseconds";
            self.complain(complain::bad_window(message, definition.define.span));
            return None;
        };
        Some(WindowKind::Session { gap, time: self.measure(def, definition, level) })
    }

    fn sliding(
        &mut self,
        def: &WindowDef,
        given: &Settings,
        definition: &Definition,
        level: &Level,
    ) -> Option<WindowKind> {
        let by_size = given.says("size");
        let (whole, slide) = if by_size {
            (given.optional_whole("size")?, given.optional_nanoseconds("slide"))
        } else {
            (self.positive(given, "interval")?, self.positive(given, "slide"))
        };
        let slide = match slide {
            Some(slide) => slide,
            None if by_size => 1,
            None => whole,
        };
        let panes = match panes(whole, slide) {
            Ok(panes) => panes,
            Err(message) => {
                self.complain(complain::bad_window(&message, definition.define.span));
                return None;
            }
        };
        Some(WindowKind::Sliding {
            slide: if by_size { Slide::Count(slide) } else { Slide::Time(slide) },
            panes,
            script: self.measure(def, definition, level),
        })
    }

    /// Nanoseconds from 1.
    pub(super) fn positive(&mut self, given: &Settings, name: &str) -> Option<u64> {
        let nanoseconds = given.optional_nanoseconds(name)?;
        if nanoseconds == 0 {
            let span = given.span_of(name);
            self.complain(read::complain::unfit(name, "must be longer than 0", span));
            return None;
        }
        Some(nanoseconds)
    }

    /// The script that weighs or times an event: only its last expression counts in tremor, since
    /// locals of earlier ones are not there; here all of it is run.
    fn measure(
        &mut self,
        def: &WindowDef,
        definition: &Definition,
        level: &Level,
    ) -> Option<Script> {
        let script = def.script.as_ref()?;
        Some(self.window_script(script, Rules::WINDOW_SCRIPT, definition, level))
    }

    fn window_script(
        &mut self,
        script: &temblor_lang::syntax::tree::Script,
        rules: Rules,
        definition: &Definition,
        level: &Level,
    ) -> Script {
        let scope = self.body_scope(&definition.scope);
        self.compiler.lower_script(script, scope, rules, level.args.clone())
    }
}
