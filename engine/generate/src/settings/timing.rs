//! The settings that say when and how much.

use super::super::executions::{Amount, Plan};
use super::super::rate::{Rate, Tables};
use super::super::relative::TimeWord;
use super::{Draft, Read, wrong};
use temblor_runtime::clock::Timestamp;
use temblor_stdlib::formats::datetime::DateFormat;

impl Draft<'_> {
    pub(super) fn rate(&self) -> Read<Rate> {
        let Some(text) = self.text("rate") else { return Ok(Rate::Unlimited) };
        Rate::parse(text).or_else(|reason| wrong("rate", reason))
    }

    /// Executions, when there is an `interval`; a rate is then how much each of them has.
    pub(super) fn plan(&self, rate: &mut Rate) -> Read<Option<Plan>> {
        let Some(interval_ns) = self.duration("interval") else {
            for name in ["amount", "executions", "until", "spread"] {
                if self.settings.says(name) {
                    return wrong(
                        name,
                        "goes with `interval`, the time from one execution to the next",
                    );
                }
            }
            return Ok(None);
        };
        let amount = match (self.settings.optional_whole("amount"), &rate) {
            (Some(_), Rate::Events(_) | Rate::Bytes(_)) => {
                return wrong("amount", "is how many events an execution has; `rate` says it, too");
            }
            (Some(events), Rate::Unlimited) => Amount::Events(events),
            (None, Rate::Unlimited) => Amount::Whole,
            (None, Rate::Bytes(rate)) => Amount::BytesPerSecond(*rate),
            (None, Rate::Events(rate)) => {
                Amount::Events((rate * interval_ns as f64 / 1e9).round() as u64)
            }
        };
        *rate = Rate::Unlimited;
        let until = self.text("until").map(|text| TimeWord::parse(text, &self.zone)).transpose();
        Ok(Some(Plan {
            interval_ns,
            amount,
            count: self.settings.optional_whole("executions"),
            until: until.or_else(|reason| wrong("until", reason))?,
            is_spread: self.settings.flag("spread"),
        }))
    }

    pub(super) fn start(&self) -> Read<Option<Timestamp>> {
        let Some(text) = self.text("start") else { return Ok(None) };
        let format = DateFormat::compile("%Y-%m-%dT%H:%M:%SZ");
        let date = || u64::try_from(format.nanoseconds(text)?).ok();
        match text.parse().ok().or_else(date) {
            Some(time) => Ok(Some(time)),
            None => wrong("start", "must be like \"2026-01-01T00:00:00Z\""),
        }
    }

    pub(super) fn tables(&self) -> Read<Tables> {
        Ok(Tables {
            hours: self.table("hours")?,
            weekdays: self.table("weekdays")?,
            minutes: self.table("minutes")?,
            days: self.table("days")?,
            months: self.table("months")?,
            zone: self.zone,
        })
    }

    fn table(&self, name: &'static str) -> Read<Vec<(u64, f64)>> {
        if !self.settings.has(name) {
            return Ok(Vec::new());
        }
        let entry = |(key, factor): &(String, String)| {
            let factor = factor.parse().ok();
            let factor = factor.filter(|factor: &f64| factor.is_finite() && *factor >= 0.0)?;
            Some((key.parse().ok()?, factor))
        };
        let entries: Option<Vec<_>> = self.settings.map(name).iter().map(entry).collect();
        match entries.filter(|entries| !entries.is_empty()) {
            Some(entries) => Ok(entries),
            None => wrong(name, "must be a record of numbers and factors, such as {\"9\": 2.5}"),
        }
    }
}
