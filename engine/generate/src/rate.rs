//! How much is generated: events or bytes in a time, and tables that make the load rise and fall.
//!
//! Invariant: bytes are those of the real output, line ends included.

use super::stamp::Civil;
use super::zone::Zone;
use temblor_runtime::clock::Timestamp;

/// A volume in a time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Rate {
    /// As fast as it goes.
    #[default]
    Unlimited,
    /// Events a second.
    Events(f64),
    /// Bytes a second.
    Bytes(f64),
}

const SECONDS: [(&str, f64); 5] =
    [("s", 1.0), ("m", 60.0), ("min", 60.0), ("h", 3_600.0), ("day", 86_400.0)];
const FACTORS: [(char, f64); 3] = [('k', 1e3), ('M', 1e6), ('G', 1e9)];

impl Rate {
    /// Reads `500`, `200k/s`, `5MB/s`, `30GB/day`.
    ///
    /// # Errors
    /// Says what rates look like.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}` is no rate: write it like 500/s, 200k/s, 5MB/s or 30GB/day");
        let (volume, per) = text.split_once('/').unwrap_or((text, "s"));
        let seconds = SECONDS.iter().find(|(name, _)| *name == per.trim()).ok_or_else(bad)?.1;
        let volume = volume.trim();
        let (volume, is_bytes) = match volume.strip_suffix('B') {
            Some(volume) => (volume, true),
            None => (volume, false),
        };
        let factor = FACTORS.iter().find(|(letter, _)| volume.ends_with([*letter]));
        let number = volume.strip_suffix(['k', 'M', 'G']).unwrap_or(volume).trim();
        let number: f64 = number.parse().map_err(|_| bad())?;
        let rate = number * factor.map_or(1.0, |(_, factor)| *factor) / seconds;
        match (rate.is_finite() && rate > 0.0, is_bytes) {
            (false, _) => Err(bad()),
            (true, true) => Ok(Rate::Bytes(rate)),
            (true, false) => Ok(Rate::Events(rate)),
        }
    }
}

/// Factors by hour, weekday, minute, day and month; all that apply are multiplied.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tables {
    /// By hour of the day.
    pub hours: Vec<(u64, f64)>,
    /// By day of the week, 0 for Sunday.
    pub weekdays: Vec<(u64, f64)>,
    /// By minute of the hour.
    pub minutes: Vec<(u64, f64)>,
    /// By day of the month.
    pub days: Vec<(u64, f64)>,
    /// By month, 1 for January.
    pub months: Vec<(u64, f64)>,
    /// Whose hours, days and months.
    pub zone: Zone,
}

impl Tables {
    /// Whether nothing rises or falls.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Tables { zone: self.zone, ..Tables::default() }
    }

    /// The factor at a time.
    pub(crate) fn factor(&self, time: Timestamp) -> f64 {
        if self.is_empty() {
            return 1.0;
        }
        let civil = Civil::of(self.zone.shown(time));
        let parts = [
            (&self.hours, civil.hour),
            (&self.weekdays, civil.weekday),
            (&self.minutes, civil.minute),
            (&self.days, civil.day),
            (&self.months, civil.month),
        ];
        parts.iter().map(|(table, key)| of(table, *key)).product()
    }
}

fn of(table: &[(u64, f64)], key: u64) -> f64 {
    table.iter().find(|(known, _)| *known == key).map_or(1.0, |(_, factor)| *factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read() {
        assert_eq!(Rate::parse("200k/s"), Ok(Rate::Events(200_000.0)));
        assert_eq!(Rate::parse("90"), Ok(Rate::Events(90.0)));
        assert_eq!(Rate::parse("600/min"), Ok(Rate::Events(10.0)));
        assert_eq!(Rate::parse("86.4GB/day"), Ok(Rate::Bytes(1e6)));
        for bad in ["", "x", "1/fortnight", "-1/s", "0", "B/s"] {
            assert!(Rate::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn factors_of_all_tables_are_multiplied() {
        let hours = vec![(0, 0.5), (1, 3.0)];
        let tables = Tables { hours, weekdays: vec![(4, 2.0)], ..Tables::default() };
        assert_eq!(tables.factor(0), 1.0, "1970 began on a Thursday, at hour 0");
        assert_eq!(tables.factor(3_600_000_000_000), 6.0);
        assert_eq!(tables.factor(7_200_000_000_000), 2.0);
        let east = Tables { zone: Zone::Fixed(3_600), ..tables };
        assert_eq!(east.factor(0), 6.0);
    }
}
