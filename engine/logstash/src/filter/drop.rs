//! `drop`: ends events, all or a share of them. It never succeeds: the common options do nothing.

use super::{Declaration, Filter, Outcome, Turn};
use crate::options::{Arguments, Takes, option};
use temblor_logstash_event::event::LogEvent;

/// `drop`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "drop",
    doc: "Ends events.",
    options: &[option("percentage", Takes::Number, "The share of events that end, in percent.")],
    make,
};

#[derive(Debug)]
struct Drop {
    percentage: f64,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    Some(Box::new(Drop { percentage: arguments.number("percentage").unwrap_or(100.0) }))
}

impl Filter for Drop {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        /// Random numbers below this one are thrown.
        const SCALE: u64 = 1 << 32;
        let thrown = (turn.random.bits() % SCALE) as f64 * 100.0 / SCALE as f64;
        if self.percentage >= 100.0 || thrown < self.percentage {
            event.cancelled = true;
        }
        Outcome::Unmatched
    }
}
