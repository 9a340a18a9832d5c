//! When the events of a stanza come, and how many: its options as settings of a generator.
//!
//! Invariant: a recording takes its times from its events, everything else from its executions.

use super::conf::Complaint;
use super::stanza::Maker;
use serde_json::{Map, Value, json};

/// Part by which counts differ when a stanza does not say.
const RANDOMIZE_COUNT: f64 = 0.2;
/// Seconds between the executions of a stanza that does not say.
const INTERVAL_S: f64 = 60.0;
/// Events of an execution of windbag that does not say.
const WINDBAG_EVENTS: f64 = 60.0;

impl Maker<'_> {
    /// How often a recording is played.
    pub(super) fn rounds(&mut self) -> Result<(), Complaint> {
        let rounds = match self.keys.text("end").map(str::parse::<i64>) {
            Some(Ok(rounds)) if rounds >= 0 => rounds,
            Some(Err(_)) => {
                self.notes.push(
                    "end: a recording ends after a number of rounds, not at a time".to_string(),
                );
                0
            }
            _ => 0,
        };
        let interval = self.number("interval").unwrap_or(INTERVAL_S);
        if self.keys.text("end") == Some("0") {
            self.set("count", 0);
        }
        // Without an interval there is one round.
        self.set("rounds", if interval <= 0.0 { 1 } else { rounds });
        self.set("pause", nanoseconds(interval));
        if let Some(slowness) = self.number("timeMultiple").filter(|slowness| *slowness > 0.0) {
            self.set("speed", 1.0 / slowness);
        }
        self.past()?;
        for key in ["count", "randomizeCount", "perDayVolume", "randomizeEvents", "bundlelines"] {
            if self.keys.get(key).is_some() {
                self.notes.push(format!("{key}: a recording is played as it is"));
            }
        }
        Ok(())
    }

    /// When events come, and how many.
    pub(super) fn executions(&mut self) -> Result<(), Complaint> {
        let multiple =
            self.number("timeMultiple").filter(|multiple| *multiple > 0.0).unwrap_or(1.0);
        let interval = self.number("interval").unwrap_or(INTERVAL_S).max(0.0) * multiple;
        self.set("interval", nanoseconds(interval));
        let gigabytes = self.number("perDayVolume").filter(|gigabytes| *gigabytes > 0.0);
        let count = self.number("count").filter(|count| *count > 0.0);
        let is_whole = gigabytes.is_none() && count.is_none();
        match (gigabytes, count) {
            (Some(gigabytes), _) => {
                self.set("rate", format!("{}B/day", gigabytes * 1e9));
                if count.is_some() {
                    self.notes.push("count: perDayVolume says how much".to_string());
                }
            }
            (None, Some(count)) => self.set("amount", count.trunc() as u64),
            (None, None) if self.kind == "windbag" => self.set("amount", WINDBAG_EVENTS as u64),
            (None, None) => {}
        }
        // A whole sample is whole, unless the stanza itself says otherwise.
        let jitter = self.number("randomizeCount");
        let jitter = jitter.unwrap_or(if is_whole { 0.0 } else { RANDOMIZE_COUNT }).clamp(0.0, 1.0);
        if jitter > 0.0 {
            self.set("jitter", jitter);
        }
        self.tables()?;
        match self.keys.text("end").map(|text| (text, text.parse::<i64>())) {
            None => {}
            Some((_, Ok(executions))) if executions >= 0 => self.set("executions", executions),
            Some((_, Ok(_))) => {}
            Some(_) => self.word("end", "until")?,
        }
        if self.flag("spread") {
            self.set("spread", true);
        }
        self.word("earliest", "earliest")?;
        self.word("latest", "latest")?;
        self.past()
    }

    /// Back-fill and delay.
    fn past(&mut self) -> Result<(), Complaint> {
        self.word("backfill", "backfill")?;
        if let Some(delay) = self.number("delay").filter(|delay| *delay > 0.0) {
            self.set("wait", nanoseconds(delay));
        }
        Ok(())
    }

    fn tables(&mut self) -> Result<(), Complaint> {
        for (key, name) in [
            ("hourOfDayRate", "hours"),
            ("dayOfWeekRate", "weekdays"),
            ("minuteOfHourRate", "minutes"),
            ("dayOfMonthRate", "days"),
            ("monthOfYearRate", "months"),
        ] {
            let Some(text) = self.keys.text(key) else { continue };
            let parsed = serde_json::from_str::<Map<String, Value>>(text);
            let parsed = parsed.map_err(|error| self.wrong(key, &error.to_string()))?;
            let number = |(key, value): (String, Value)| {
                let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())?;
                // Splunk's weeks may have a seventh day: Sunday.
                let key = if name == "weekdays" && key == "7" { "0".to_string() } else { key };
                let key: u64 = key.trim().parse().ok()?;
                Some((key.to_string(), json!(number)))
            };
            let table: Option<Map<String, Value>> = parsed.into_iter().map(number).collect();
            match table {
                Some(table) if table.is_empty() => {}
                Some(table) => self.set(name, table),
                None => {
                    let reason =
                        "expected a table of whole numbers and factors such as {\"9\": 2.5}";
                    return Err(self.wrong(key, reason));
                }
            }
        }
        Ok(())
    }
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds.max(0.0) * 1e9) as u64
}
