//! The settings that say when and how much.

use super::super::executions::{Amount, Plan};
use super::super::rate::{Rate, Tables};
use super::super::relative::TimeWord;
use super::{Read, Settings, wrong};
use temblor_lang::value::Value;
use temblor_runtime::clock::Timestamp;
use temblor_stdlib::formats::datetime::DateFormat;

impl Settings<'_> {
    pub(super) fn rate(&self) -> Read<Rate> {
        let Some(value) = self.get("rate") else { return Ok(Rate::Unlimited) };
        let text = match value.as_f64() {
            Some(number) => number.to_string(),
            None => value.as_str().unwrap_or_default().to_string(),
        };
        Rate::parse(&text).or_else(|reason| wrong("rate", reason))
    }

    /// Executions, when there is an `interval`; a rate is then how much each of them has.
    pub(super) fn plan(&self, rate: &mut Rate) -> Read<Option<Plan>> {
        let Some(interval_ns) = self.duration("interval")? else {
            for name in ["amount", "executions", "until", "spread"] {
                if self.get(name).is_some() {
                    return wrong(
                        name,
                        "goes with `interval`, the time from one execution to the next",
                    );
                }
            }
            return Ok(None);
        };
        let amount = match (self.whole("amount")?, &rate) {
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
        let until = self.text("until")?.map(|text| TimeWord::parse(text, &self.zone)).transpose();
        Ok(Some(Plan {
            interval_ns,
            amount,
            count: self.whole("executions")?,
            until: until.or_else(|reason| wrong("until", reason))?,
            is_spread: self.flag("spread")?,
        }))
    }

    pub(super) fn start(&self) -> Read<Option<Timestamp>> {
        let Some(value) = self.get("start") else { return Ok(None) };
        let format = DateFormat::compile("%Y-%m-%dT%H:%M:%SZ");
        let time =
            value.as_u64().or_else(|| u64::try_from(format.nanoseconds(value.as_str()?)?).ok());
        time.map_or_else(
            || wrong("start", "must be like \"2026-01-01T00:00:00Z\""),
            |time| Ok(Some(time)),
        )
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
        let Some(value) = self.get(name) else { return Ok(Vec::new()) };
        let entry = |(key, factor): (&str, Value<'_>)| {
            let factor = factor.as_f64().filter(|factor| factor.is_finite() && *factor >= 0.0)?;
            Some((key.parse().ok()?, factor))
        };
        let entries: Option<Vec<_>> = self.fields(value).into_iter().map(entry).collect();
        match entries.filter(|entries| !entries.is_empty()) {
            Some(entries) => Ok(entries),
            None => wrong(name, "must be a record of numbers and factors, such as {\"9\": 2.5}"),
        }
    }
}
