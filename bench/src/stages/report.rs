//! The table of stages: what each takes, and how much of the whole they explain together.

use serde_json::{Map, Value, json};
use std::fmt;

/// The sum of the stages may differ from the whole by this share.
pub(super) const UNEXPLAINED_MAX: f64 = 0.20;

/// The stages of one subject.
#[derive(Clone, Debug)]
struct Table {
    subject: &'static str,
    /// Name, and processor time in nanoseconds an event.
    stages: Vec<(&'static str, f64)>,
    /// Processor time of the whole run, in nanoseconds an event.
    whole: f64,
}

impl Table {
    fn sum(&self) -> f64 {
        self.stages.iter().map(|(_, ns)| ns).sum()
    }
}

/// All tables.
#[derive(Clone, Debug, Default)]
pub struct Report {
    tables: Vec<Table>,
}

impl Report {
    /// Adds a subject.
    pub fn add(&mut self, subject: &'static str, stages: Vec<(&'static str, f64)>, whole: f64) {
        self.tables.push(Table { subject, stages, whole });
    }

    /// The figures by subject.
    pub fn json(&self) -> Value {
        let table = |table: &Table| {
            let stages = table.stages.iter().map(|(name, ns)| (name.to_string(), json!(ns)));
            let stages = stages.collect::<Map<_, _>>();
            (table.subject.to_string(), json!({"stages_ns": stages, "whole_ns": table.whole}))
        };
        self.tables.iter().map(table).collect::<Map<_, _>>().into()
    }

    /// Subjects whose stages explain less, or more, than they may.
    pub fn unexplained(&self) -> impl Iterator<Item = &'static str> {
        let is_off = |table: &&Table| (table.sum() / table.whole - 1.0).abs() > UNEXPLAINED_MAX;
        self.tables.iter().filter(is_off).map(|table| table.subject)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "| scenario | stage | CPU, ns/event | of the whole |")?;
        writeln!(out, "|---|---|---:|---:|")?;
        for table in &self.tables {
            let mut row = |stage: &str, ns: f64| {
                let percent = 100.0 * ns / table.whole;
                writeln!(out, "| {} | {stage} | {ns:.0} | {percent:.0} % |", table.subject)
            };
            for (stage, ns) in &table.stages {
                row(stage, *ns)?;
            }
            row("**sum**", table.sum())?;
            row("**whole run**", table.whole)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_stages_do_not_explain_is_named() {
        let mut report = Report::default();
        report.add("good", vec![("a", 60.0), ("b", 30.0)], 100.0);
        report.add("short", vec![("a", 60.0)], 100.0);
        report.add("long", vec![("a", 130.0)], 100.0);
        assert_eq!(report.unexplained().collect::<Vec<_>>(), ["short", "long"]);
        let text = report.to_string();
        assert!(text.contains("| good | b | 30 | 30 % |"), "{text}");
        assert!(text.contains("| good | **sum** | 90 | 90 % |"), "{text}");
    }
}
