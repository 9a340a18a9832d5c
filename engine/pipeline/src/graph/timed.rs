//! Windows by the time of events: `tumbling 1m on event.time late 10s`, and the port `late` of the
//! streams that their selects write to.

use super::build::{Builder, Instance, Level};
use super::window::EVENT_TIME;
use super::{Node, Step, complain};
use crate::operator::{IN, LATE};
use crate::operators::select::{Shape, Slide, TimedSpec, WindowKind, WindowSpec};
use temblor_declare::Settings;
use temblor_declare::read::Reader;
use temblor_lang::syntax::tree::{StreamRef, UsedWindow};

/// How long a partition that gives nothing holds windows open, unless a program says so: nanoseconds.
const IDLE_NS: u64 = 10_000_000_000;

/// A window, by what it goes.
pub(super) enum Window {
    /// By the time of arrival, or by a script.
    ByArrival(Box<WindowSpec>),
    /// By the time of events.
    ByEvents(Box<TimedSpec>),
}

impl Builder<'_, '_> {
    /// A window with what its definition says of event time, and what stands behind its name.
    pub(super) fn timed(
        &mut self,
        window: WindowSpec,
        defined: Option<Settings>,
        used: &UsedWindow,
        level: &Level,
    ) -> Option<Window> {
        let time = match (used.time.is_empty(), defined) {
            (true, None) => return Some(Window::ByArrival(Box::new(window))),
            (true, Some(defined)) => defined,
            (false, _) => {
                let (scope, args) = (&level.scope, level.args.clone());
                let (rows, span, wants_units) = (&[EVENT_TIME][..], used.span, true);
                let reader = Reader { rows, span, scope, args, wants_units };
                reader.bindings(&used.time, Settings::new(used.span), self.compiler)
            }
        };
        let Some(on) = time.formula("on") else {
            let message = "`late`, `idle` and `ahead` go with `on`: the time of an event";
            self.complain(complain::bad_window(message, used.span));
            return None;
        };
        let shape = match shape(&window) {
            Ok(shape) => shape,
            Err(message) => {
                let help = "such as `tumbling 1m`, `sliding 5m every 1m` or `session 30s`";
                self.complain(complain::bad_window(message, used.span).with_help(help));
                return None;
            }
        };
        Some(Window::ByEvents(Box::new(TimedSpec {
            name: window.name,
            shape,
            on,
            late_ns: time.optional_nanoseconds("late").unwrap_or(0),
            idle_ns: self.positive(&time, "idle").unwrap_or(IDLE_NS),
            ahead_ns: time.optional_nanoseconds("ahead"),
            max_groups: window.max_groups,
            flushes: window.flushes,
        })))
    }

    /// A select over event time writes to a stream: its late events can be read from that.
    pub(super) fn note_timed(&mut self, select: usize, into: &StreamRef, level: &mut Level) {
        let stream = &into.node.text;
        if into.port.is_some() || !level.streams.contains(stream) {
            return;
        }
        level.timed.push((stream.clone(), select));
        if let Some(Instance::Node(late)) = level.instance(&late_name(stream)) {
            let late = *late;
            self.connect((select, LATE), (late, IN));
        }
    }

    /// The node that the late events of a stream's selects come out of.
    pub(super) fn late_events(&mut self, level: &mut Level, stream: &str) -> usize {
        let name = late_name(stream);
        if let Some(Instance::Node(late)) = level.instance(&name) {
            return *late;
        }
        let late = self.add_node(Node::new(format!("{}{name}", level.prefix), Step::Pass));
        for (_, select) in level.timed.iter().filter(|(one, _)| one == stream) {
            self.connect((*select, LATE), (late, IN));
        }
        level.instances.push((name, Instance::Node(late)));
        late
    }

    /// Reports reading late events of streams that have none.
    pub(super) fn check_late(&mut self, level: &Level) {
        for (stream, span) in &level.late {
            if !level.timed.iter().any(|(one, _)| one == stream) {
                let complaint = complain::unknown_port(stream, LATE, *span, []);
                let help = "only a select over event time has late events: \
                            `select … over tumbling 1m on event.time late 10s`";
                self.complain(complaint.with_help(help));
            }
        }
    }
}

fn late_name(stream: &str) -> String {
    format!("{stream}/{LATE}")
}

/// How a window by event time is laid out.
fn shape(window: &WindowSpec) -> Result<Shape, &'static str> {
    if window.max_age.is_some() || window.evicts {
        return Err("a window over event time has neither `max_age` nor `eviction`");
    }
    match &window.kind {
        WindowKind::Interval { interval, time: None } => {
            Ok(Shape::Panes { slide_ns: *interval, panes: 1 })
        }
        WindowKind::Sliding { slide: Slide::Time(slide), panes, script: None } => {
            Ok(Shape::Panes { slide_ns: *slide, panes: *panes as u64 })
        }
        WindowKind::Session { gap, time: None } => Ok(Shape::Session { gap_ns: *gap }),
        WindowKind::Interval { .. } | WindowKind::Session { .. } => {
            Err("the time of an event is told by `on` or by the window's script, not by both")
        }
        WindowKind::Sliding { slide: Slide::Time(_), .. } => {
            Err("the time of an event is told by `on` or by the window's script, not by both")
        }
        WindowKind::Size { .. } | WindowKind::Sliding { .. } | WindowKind::State { .. } => {
            Err("only a window of time goes by the time of events")
        }
    }
}
