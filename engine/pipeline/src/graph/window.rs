//! `define window`: exactly one way of closing, and its limits.

use super::build::{Builder, Definition, Level};
use super::complain;
use crate::operators::select::{Slide, WindowKind, WindowSpec};
use std::sync::Arc;
use temblor_lang::lower::Rules;
use temblor_lang::program::Script;
use temblor_lang::span::Span;
use temblor_lang::syntax::tree::{Ident, WindowDef};
use temblor_lang::units::parse_duration;
use temblor_lang::value::{Frozen, Value};

/// The settings of a window.
const SETTINGS: &[&str] =
    &["size", "interval", "max_groups", "max_age", "eviction", "flush", "gap", "slide"];
/// What a window may be `from`.
const KINDS: [&str; 3] = ["tumbling", "sliding", "session"];
/// Removed from tremor in earlier releases; still written, still without effect.
const IGNORED: &[&str] = &["eviction_period", "emit_empty_windows"];
/// Slides that a sliding window may be made of: each keeps its own aggregates.
const PANES_MAX: u64 = 100_000;

/// The settings as given.
#[derive(Default)]
struct Given {
    /// Names that a mistake left without a value are here too: it has been reported.
    names: Vec<String>,
    values: Vec<(String, Span, Arc<Frozen>)>,
}

impl Given {
    fn entry(&self, name: &str) -> Option<&(String, Span, Arc<Frozen>)> {
        self.values.iter().find(|(key, _, _)| key == name)
    }

    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|key| key == name)
    }
}

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
        if !KINDS.contains(&kind.text.as_str()) {
            let complaint = complain::window_kind(&kind.text, kind.span, KINDS);
            self.complain(complaint);
        }
    }

    pub(super) fn window(
        &mut self,
        def: &WindowDef,
        definition: &Definition,
        level: &Level,
    ) -> Option<WindowSpec> {
        let name = &definition.define.name;
        let given = self.window_settings(def, definition, level);
        let Some(kind) = self.window_kind(def, &given, definition, level) else {
            self.judge_scripts(def, definition, level);
            return None;
        };
        let eviction = given.entry("eviction").map(|(_, _, value)| value.get().as_str());
        if let Some((_, span, value)) = given.entry("eviction")
            && !matches!(value.get(), Value::Str("lru" | "error"))
        {
            self.complain(complain::bad_window("`eviction` is \"lru\" or \"error\"", *span));
        }
        let flush = given.entry("flush").and_then(|(_, _, value)| value.get().as_bool());
        Some(WindowSpec {
            name: Frozen::new(Value::Str(&name.text)),
            kind,
            max_groups: self.whole(&given, "max_groups"),
            max_age: self.duration(&given, "max_age"),
            evicts: eviction == Some(Some("lru")),
            flushes: flush.unwrap_or(false),
            args: level.args.clone().unwrap_or_default(),
        })
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
    ) -> Given {
        let mut given = Given::default();
        for binding in &def.with {
            let name = &binding.name;
            let value =
                self.compiler.constant(&binding.value, &definition.scope, level.args.clone());
            if !SETTINGS.contains(&name.text.as_str()) && !IGNORED.contains(&name.text.as_str()) {
                let known = SETTINGS.iter().copied();
                let mut complaint = complain::unknown_setting(&name.text, name.span, known);
                complaint.severity = temblor_lang::diagnostic::Severity::Warning;
                self.complain(complaint);
            }
            given.names.push(name.text.clone());
            given.values.extend(value.map(|value| (name.text.clone(), name.span, value)));
        }
        given
    }

    fn window_kind(
        &mut self,
        def: &WindowDef,
        given: &Given,
        definition: &Definition,
        level: &Level,
    ) -> Option<WindowKind> {
        if let Some((port, _)) = &def.tick
            && port.text != "tick"
        {
            self.complain(complain::only_tick(&port.text, port.span));
        }
        let ways = [given.has("size"), given.has("interval"), def.state.is_some()];
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
        given: &Given,
        definition: &Definition,
        level: &Level,
    ) -> Option<WindowKind> {
        if given.has("size") {
            let size = self.whole(given, "size")?;
            return Some(WindowKind::Size { size, weight: self.measure(def, definition, level) });
        }
        if given.has("interval") {
            let interval = self.duration(given, "interval")?;
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
        given: &Given,
        definition: &Definition,
        level: &Level,
    ) -> Option<WindowKind> {
        let Some(gap) = self.duration(given, "gap") else {
            let message = "a session window needs a `gap` in nanoseconds";
            self.complain(complain::bad_window(message, definition.define.span));
            return None;
        };
        Some(WindowKind::Session { gap, time: self.measure(def, definition, level) })
    }

    fn sliding(
        &mut self,
        def: &WindowDef,
        given: &Given,
        definition: &Definition,
        level: &Level,
    ) -> Option<WindowKind> {
        let by_size = given.has("size");
        let (whole, slide) = if by_size {
            (self.whole(given, "size")?, self.whole(given, "slide"))
        } else {
            (self.duration(given, "interval")?, self.duration(given, "slide"))
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

    /// Nanoseconds from 1, or a text such as `10s`.
    fn duration(&mut self, given: &Given, name: &str) -> Option<u64> {
        let (_, span, value) = given.entry(name)?;
        let Some(text) = value.get().as_str() else { return self.whole(given, name) };
        let nanoseconds = parse_duration(text).filter(|nanoseconds| *nanoseconds > 0);
        if nanoseconds.is_none() {
            let got = temblor_lang::value::to_json(value.get());
            let expected = "nanoseconds from 1, or a text such as \"10s\"";
            self.complain(complain::bad_setting(name, expected, &got, *span));
        }
        nanoseconds
    }

    /// A whole number from 1.
    fn whole(&mut self, given: &Given, name: &str) -> Option<u64> {
        let (_, span, value) = given.entry(name)?;
        let number = value.get().as_u64();
        if self.rehearsing && matches!(value.get(), Value::Null) {
            // It depends on arguments that are not known.
            return None;
        }
        if number.is_none_or(|number| number == 0) {
            let got = temblor_lang::value::to_json(value.get());
            self.complain(complain::bad_setting(name, "a whole number from 1", &got, *span));
            return None;
        }
        number
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
