//! Windows without a definition, whose name says what they are: `tumbling 10s`, `sliding 1m every
//! 10s`, `session 30s`, `100`. They are closed at the end of the input, too.

use super::window::panes;
use crate::operators::select::{Slide, WindowKind, WindowSpec};
use std::sync::Arc;
use temblor_lang::units::parse_duration;
use temblor_lang::value::{Frozen, Value};

/// Events or time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    Events(u64),
    Nanoseconds(u64),
}

/// The window that a name describes. `None` when it is just a name; an error when it describes a
/// window that cannot be.
pub(super) fn window(name: &str) -> Option<Result<WindowSpec, String>> {
    let kind = match *name.split(' ').collect::<Vec<_>>() {
        [whole] | ["tumbling", whole] => tumbling(measure(whole)?),
        ["session", gap] => session(measure(gap)?),
        ["sliding", whole] => sliding(measure(whole)?, None),
        ["sliding", whole, "every", slide] => sliding(measure(whole)?, Some(measure(slide)?)),
        [_, _, "every", _] => Err("only sliding windows have `every`".to_string()),
        _ => return None,
    };
    Some(kind.map(|kind| WindowSpec {
        name: Frozen::new(Value::Str(name)),
        kind,
        max_groups: None,
        max_age: None,
        evicts: false,
        flushes: true,
        args: Arc::default(),
    }))
}

fn measure(text: &str) -> Option<Measure> {
    if !text.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    match text.parse() {
        Ok(events) => Some(Measure::Events(events)),
        Err(_) => parse_duration(text).map(Measure::Nanoseconds),
    }
}

fn tumbling(whole: Measure) -> Result<WindowKind, String> {
    match whole {
        Measure::Events(0) | Measure::Nanoseconds(0) => Err("a window cannot be empty".to_string()),
        Measure::Events(size) => Ok(WindowKind::Size { size, weight: None }),
        Measure::Nanoseconds(interval) => Ok(WindowKind::Interval { interval, time: None }),
    }
}

fn session(gap: Measure) -> Result<WindowKind, String> {
    match gap {
        Measure::Nanoseconds(gap) if gap > 0 => Ok(WindowKind::Session { gap, time: None }),
        _ => Err("a session ends after a time without events, such as 30s".to_string()),
    }
}

fn sliding(whole: Measure, every: Option<Measure>) -> Result<WindowKind, String> {
    let (whole, slide, slides) = match (whole, every) {
        (Measure::Events(whole), None) => (whole, 1, Slide::Count(1)),
        (Measure::Events(whole), Some(Measure::Events(slide))) => {
            (whole, slide, Slide::Count(slide))
        }
        (Measure::Nanoseconds(whole), Some(Measure::Nanoseconds(slide))) => {
            (whole, slide, Slide::Time(slide))
        }
        (Measure::Nanoseconds(_), None) => {
            return Err("say how often it slides, such as `sliding 1m every 10s`".to_string());
        }
        _ => return Err("a window and its `every` are both events or both times".to_string()),
    };
    Ok(WindowKind::Sliding { slide: slides, panes: panes(whole, slide)?, script: None })
}
