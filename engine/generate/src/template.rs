//! Events from a text of our own language: `"#{event.time} user=#{event.user.name} #{event.size}"`.
//!
//! Invariant: an event's text depends on its number, its time and the seed; rows and draws are fresh
//! for each event, and all columns that it reads of a file are of one row.

use super::{Generator, Moment, Random};
use std::sync::Arc;
use temblor_lang::builtin::Facts;
use temblor_lang::program::Formula;
use temblor_lang::run::Context;
use temblor_lang::value::{Arena, Owned, Value, push_text};

/// A file with a row of names; each event gets one of the others.
#[derive(Debug)]
pub struct Table {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Sums of the column called `weight`, when there is one.
    weights: Option<Vec<f64>>,
}

impl Table {
    /// Cells between commas; the first line has the names. No cell holds a comma.
    ///
    /// # Errors
    /// When there is no row, or a weight is no number.
    pub(crate) fn of(text: &str) -> Result<Self, String> {
        let cells = |line: &str| line.split(',').map(|cell| cell.trim().to_string()).collect();
        let mut lines = text.lines().filter(|line| !line.trim().is_empty()).map(cells);
        let names: Vec<String> = lines.next().unwrap_or_default();
        let rows: Vec<Vec<String>> = lines.collect();
        if rows.is_empty() {
            return Err("needs a line of names and at least one row".to_string());
        }
        let weights = match names.iter().position(|name| name == "weight") {
            Some(column) => Some(sums(rows.iter().map(|row| row.get(column)?.parse().ok()))?),
            None => None,
        };
        Ok(Table { names, rows, weights })
    }

    fn pick(&self, random: &mut Random) -> &[String] {
        let index = match &self.weights {
            Some(sums) => weighted(sums, random),
            None => random.below(self.rows.len() as u64) as usize,
        };
        &self.rows[index]
    }
}

/// Running sums of weights.
pub(crate) fn sums(weights: impl Iterator<Item = Option<f64>>) -> Result<Vec<f64>, String> {
    let mut sum = 0.0;
    let mut sums = Vec::new();
    for weight in weights {
        let weight = weight.filter(|weight| weight.is_finite() && *weight >= 0.0);
        sum += weight.ok_or("a weight is no number of zero or more")?;
        sums.push(sum);
    }
    if sum > 0.0 { Ok(sums) } else { Err("all weights are zero".to_string()) }
}

fn weighted(sums: &[f64], random: &mut Random) -> usize {
    let point = random.unit() * sums.last().copied().unwrap_or(0.0);
    sums.partition_point(|sum| *sum <= point).min(sums.len().saturating_sub(1))
}

/// A value that is drawn for each event.
#[derive(Clone, Debug, PartialEq)]
pub enum Draw {
    /// `{"uniform": [1, 10]}`: whole numbers, both ends included.
    Uniform(i64, i64),
    /// `{"normal": [120, 30]}`: mean and standard deviation.
    Normal(f64, f64),
    /// `{"zipf": [1000, 1.1]}`: a rank from 1, and the exponent.
    Zipf(u64, f64),
    /// `{"choice": {"info": 90, "error": 10}}`: words and the running sums of their weights.
    Choice(Vec<String>, Vec<f64>),
    /// `{"sequence": [1, 1]}`: start and step.
    Sequence(i64, i64),
    /// `{"session": [50, 20]}`: an id that stays for a number of events on average, of so many at a time.
    Session(u64, u64),
}

/// What a template is made of.
#[derive(Debug)]
pub struct TemplateParts {
    /// The text.
    pub text: Arc<Formula>,
    /// By the names that the text uses.
    pub tables: Vec<(String, Table)>,
    /// By the names that the text uses.
    pub draws: Vec<(String, Draw)>,
}

/// The generator.
pub(crate) struct Template {
    parts: Arc<TemplateParts>,
    arena: Arena,
    facts: Facts,
    random: Random,
    /// For each draw of sessions, the ids that are open.
    sessions: Vec<Vec<u64>>,
}

impl Template {
    /// Events of a seed.
    pub(crate) fn new(parts: Arc<TemplateParts>, seed: u64) -> Self {
        let sessions = parts.draws.iter().map(|_| Vec::new()).collect();
        let facts = Facts { seed, ..Facts::default() };
        let random = Random::seeded(seed);
        Template { parts, arena: Arena::new(), facts, random, sessions }
    }
}

impl Generator for Template {
    fn write(&mut self, moment: Moment, out: &mut Vec<u8>) -> Result<bool, String> {
        self.arena.reset();
        self.facts.arrive(moment.time);
        let Self { parts, arena, facts, random, sessions } = self;
        let arena: &Arena = arena;
        let mut event = arena.record_builder(2 + parts.tables.len() + parts.draws.len());
        event.insert("index", Value::UInt(moment.index));
        event.insert("time", Value::UInt(moment.time));
        for (name, table) in &parts.tables {
            let row = table.pick(random);
            let mut record = arena.record_builder(row.len());
            for (name, cell) in table.names.iter().zip(row) {
                record.insert(name, Value::Str(cell));
            }
            event.insert(name, record.finish());
        }
        for ((name, draw), open) in parts.draws.iter().zip(sessions) {
            event.insert(name, drawn(draw, moment, random, open));
        }
        let (event, meta) = (event.finish(), arena.record_builder(0).finish());
        let mut nothing = Owned::Null;
        let mut context = Context::new(arena, facts, event, meta, &mut nothing);
        let value = parts.text.eval(&mut context).map_err(|error| error.to_string())?;
        push_text(out, value);
        if out.last() == Some(&b'\n') {
            out.pop();
        }
        Ok(true)
    }
}

fn drawn<'d>(
    draw: &'d Draw,
    moment: Moment,
    random: &mut Random,
    open: &mut Vec<u64>,
) -> Value<'d> {
    match draw {
        Draw::Uniform(low, high) => {
            let span = high.abs_diff(*low).saturating_add(1);
            Value::Int(low.wrapping_add_unsigned(random.below(span)))
        }
        Draw::Normal(mean, deviation) => Value::Float(random.normal(*mean, *deviation)),
        Draw::Zipf(ranks, exponent) => Value::UInt(random.zipf(*ranks, *exponent) + 1),
        Draw::Choice(words, sums) => Value::Str(&words[weighted(sums, random)]),
        Draw::Sequence(start, step) => {
            Value::Int(start.wrapping_add(step.wrapping_mul(moment.index.cast_signed())))
        }
        Draw::Session(events, at_a_time) => {
            let place = random.below((*at_a_time).max(1)) as usize;
            while open.len() <= place {
                open.push(random.bits() >> 16);
            }
            if random.below((*events).max(1)) == 0 {
                open[place] = random.bits() >> 16;
            }
            Value::UInt(open[place])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_and_distributions_have_their_shape() {
        let mut random = Random::seeded(5);
        let table = Table::of("name,weight\nada,9\nbob,1\n").unwrap();
        let ada = (0..10_000).filter(|_| table.pick(&mut random)[0] == "ada").count();
        assert!(ada.abs_diff(9_000) < 150, "{ada}");
        assert!(Table::of("a,weight\nb,x").is_err() && Table::of("a").is_err());
        let mut open = Vec::new();
        let mut draw =
            |draw: &Draw| drawn(draw, Moment::default(), &mut random, &mut open).as_f64();
        let mean = (0..10_000).filter_map(|_| draw(&Draw::Normal(100.0, 15.0))).sum::<f64>() / 1e4;
        assert!((mean - 100.0).abs() < 1.0, "{mean}");
        let first = (0..10_000).filter(|_| draw(&Draw::Zipf(100, 1.0)) == Some(1.0)).count();
        assert!((1_200..2_000).contains(&first), "{first}");
    }

    #[test]
    fn sessions_stay_for_a_while() {
        let (mut random, mut open) = (Random::seeded(5), Vec::new());
        let mut ids = std::collections::BTreeSet::new();
        for _ in 0..10_000 {
            let draw = Draw::Session(100, 5);
            ids.insert(drawn(&draw, Moment::default(), &mut random, &mut open).as_u64());
        }
        assert!((60..160).contains(&ids.len()), "{}", ids.len());
    }
}
