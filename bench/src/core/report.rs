//! The table. Every figure is a median; ratios are taken run by run before the median is.

use super::measure::{Cost, Input, median};
use super::runtime::Case;
use std::fmt;

/// Ratio of two workers' speed to one's that is asked for on an idle machine.
const TWO_WORKERS_MIN: f64 = 1.8;

/// One line of the table.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// The data.
    pub data: String,
    /// What was measured.
    pub name: String,
    /// Speed as a share of the limit's, by processor time.
    pub cpu_ratio: Option<f64>,
    /// The same by the clock on the wall.
    pub wall_ratio: Option<f64>,
    /// What it came to.
    figure: String,
    /// What is asked for, if anything is.
    target: String,
}

impl Row {
    /// The limit itself.
    pub fn limit(data: &str, name: &str, input: &Input, costs: &[Cost]) -> Self {
        Self { figure: speed(input, costs), ..Self::named(data, name) }
    }

    /// A case beside the limit.
    pub fn against_limit(
        data: &str,
        case: &Case,
        input: &Input,
        limits: &[Cost],
        costs: &[Cost],
    ) -> Self {
        let pairs = || limits.iter().zip(costs);
        Self {
            cpu_ratio: Some(median(pairs().map(|(limit, cost)| limit.cpu_s / cost.cpu_s))),
            wall_ratio: Some(median(pairs().map(|(limit, cost)| limit.wall_s / cost.wall_s))),
            figure: speed(input, costs),
            target: format!("{:.2}", case.target),
            ..Self::named(data, case.name)
        }
    }

    /// Two workers beside one; only the clock on the wall can tell.
    pub fn two_workers(data: &str, input: &Input, one: &[Cost], two: &[Cost]) -> Self {
        let ratios = one.iter().zip(two).map(|(one, two)| one.wall_s / two.wall_s);
        Self {
            wall_ratio: Some(median(ratios)),
            figure: speed(input, two),
            target: format!("{TWO_WORKERS_MIN:.2} of one worker, idle machine"),
            ..Self::named(data, "pass-through, two workers")
        }
    }

    /// A case without a limit.
    pub fn alone(data: &str, case: &Case, input: &Input, costs: &[Cost]) -> Self {
        let lines = median(costs.iter().map(|cost| input.lines as f64 / cost.cpu_s));
        let figure = format!("{}, {:.2} M lines per CPU s", speed(input, costs), lines / 1e6);
        Self { figure, ..Self::named(data, case.name) }
    }

    /// A figure with an upper bound.
    pub fn figure(name: &str, value: f64, unit: &str, most: f64) -> Self {
        Self {
            figure: format!("{value:.1} {unit}"),
            target: format!("under {most} {unit}"),
            ..Self::named("", name)
        }
    }

    fn named(data: &str, name: &str) -> Self {
        Self { data: data.to_string(), name: name.to_string(), ..Self::default() }
    }
}

fn speed(input: &Input, costs: &[Cost]) -> String {
    let cpu_s = median(costs.iter().map(|cost| cost.cpu_s));
    let wall_s = median(costs.iter().map(|cost| cost.wall_s));
    let speed = input.megabytes() / cpu_s;
    format!("{speed:.0} MB per CPU s ({cpu_s:.3} s CPU, {wall_s:.3} s wall)")
}

/// All figures.
#[derive(Clone, Debug, Default)]
pub struct Report {
    rows: Vec<Row>,
}

impl Report {
    /// Adds a line.
    pub fn add(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// The lines in order.
    pub fn rows(&self) -> impl Iterator<Item = &Row> + Clone {
        self.rows.iter()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "| data | case | ratio (CPU) | ratio (wall) | target | figure |")?;
        writeln!(out, "|---|---|---|---|---|---|")?;
        let ratio = |ratio: Option<f64>| ratio.map_or(String::new(), |ratio| format!("{ratio:.2}"));
        for row in &self.rows {
            let (cpu, wall) = (ratio(row.cpu_ratio), ratio(row.wall_ratio));
            let Row { data, name, figure, target, .. } = row;
            writeln!(out, "| {data} | {name} | {cpu} | {wall} | {target} | {figure} |")?;
        }
        Ok(())
    }
}
