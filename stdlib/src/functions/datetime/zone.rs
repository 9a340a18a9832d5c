//! Zones of time as programs name them: an IANA name, an offset, or the index of a zone in the
//! table of this release. A zone is small and copied freely.

use chrono::offset::{LocalResult, Offset};
use chrono::{DateTime, FixedOffset, NaiveDate, NaiveDateTime, TimeZone};
use chrono_tz::Tz;
use std::fmt;
use temblor_lang::builtin::CallError;
use temblor_lang::value::Value;

/// A named zone or a fixed offset from UTC.
#[derive(Clone, Copy, Debug)]
pub(super) enum Zone {
    /// `Europe/Berlin`
    Named(Tz),
    /// `+02:00`
    Fixed(FixedOffset),
}

impl Zone {
    /// Universal time.
    pub(super) const UTC: Self = Self::Named(Tz::UTC);

    /// Whether it is universal time.
    pub(super) fn is_utc(self) -> bool {
        matches!(self, Self::Named(Tz::UTC))
    }

    /// The zone that `value` names.
    pub(super) fn read(value: Value<'_>) -> Result<Self, CallError> {
        if let Some(index) = value.as_usize() {
            return chrono_tz::TZ_VARIANTS.get(index).map(|zone| Self::Named(*zone)).ok_or_else(
                || CallError::failed(format!("there is no zone with the number {index}")),
            );
        }
        match value.as_str() {
            Some(name) => Self::named(name),
            None => Err(CallError::failed(format!(
                "a zone is a name or an offset, not {}",
                value.kind().name()
            ))),
        }
    }

    /// The zone with this IANA name or offset.
    pub(super) fn named(name: &str) -> Result<Self, CallError> {
        if let Ok(zone) = name.parse() {
            return Ok(Self::Named(zone));
        }
        offset_seconds(name)
            .and_then(FixedOffset::east_opt)
            .map(Self::Fixed)
            .ok_or_else(|| CallError::failed(format!("`{name}` is no zone and no offset")))
    }

    /// The datetime in this zone, so many nanoseconds since 1970.
    pub(super) fn at_nanos(self, nanos: u64) -> Result<DateTime<Self>, CallError> {
        let seconds = (nanos / super::NANOS_PER_SECOND) as i64;
        let rest = (nanos % super::NANOS_PER_SECOND) as u32;
        self.timestamp_opt(seconds, rest)
            .single()
            .ok_or_else(|| CallError::failed("the time is out of range"))
    }
}

/// `+HH`, `+HHMM`, `+HH:MM` or the same with `-` or without a sign. What follows is not looked
/// at, as in tremor.
fn offset_seconds(text: &str) -> Option<i32> {
    let bytes = text.as_bytes();
    let (negative, digits) = match bytes.first()? {
        b'-' => (true, &bytes[1..]),
        b'+' => (false, &bytes[1..]),
        b'0'..=b'9' => (false, bytes),
        _ => return None,
    };
    let number = |pair: &[u8], tens_max: u8| match pair {
        [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] if *tens <= tens_max => {
            Some(i32::from((tens - b'0') * 10 + (ones - b'0')))
        }
        _ => None,
    };
    let hours = number(digits.get(..2)?, b'9')?;
    let rest = &digits[2..];
    let rest = rest.strip_prefix(b":").unwrap_or(rest);
    let minutes = if rest.is_empty() { 0 } else { number(rest.get(..2)?, b'5')? };
    let seconds = hours * 3600 + minutes * 60;
    Some(if negative { -seconds } else { seconds })
}

/// What a [`Zone`] amounts to at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) enum ZoneOffset {
    /// Of a named zone; prints as its abbreviation.
    Named(<Tz as TimeZone>::Offset),
    /// Of a fixed zone.
    Fixed(FixedOffset),
}

impl Offset for ZoneOffset {
    fn fix(&self) -> FixedOffset {
        match self {
            ZoneOffset::Named(offset) => offset.fix(),
            ZoneOffset::Fixed(offset) => *offset,
        }
    }
}

impl fmt::Display for ZoneOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ZoneOffset::Named(offset) => offset.fmt(f),
            ZoneOffset::Fixed(offset) => offset.fmt(f),
        }
    }
}

impl TimeZone for Zone {
    type Offset = ZoneOffset;

    fn from_offset(offset: &ZoneOffset) -> Self {
        match offset {
            ZoneOffset::Named(offset) => Zone::Named(Tz::from_offset(offset)),
            ZoneOffset::Fixed(offset) => Zone::Fixed(*offset),
        }
    }

    fn offset_from_local_date(&self, local: &NaiveDate) -> LocalResult<ZoneOffset> {
        match self {
            Zone::Named(zone) => zone.offset_from_local_date(local).map(ZoneOffset::Named),
            Zone::Fixed(zone) => zone.offset_from_local_date(local).map(ZoneOffset::Fixed),
        }
    }

    fn offset_from_local_datetime(&self, local: &NaiveDateTime) -> LocalResult<ZoneOffset> {
        match self {
            Zone::Named(zone) => zone.offset_from_local_datetime(local).map(ZoneOffset::Named),
            Zone::Fixed(zone) => zone.offset_from_local_datetime(local).map(ZoneOffset::Fixed),
        }
    }

    fn offset_from_utc_date(&self, utc: &NaiveDate) -> ZoneOffset {
        match self {
            Zone::Named(zone) => ZoneOffset::Named(zone.offset_from_utc_date(utc)),
            Zone::Fixed(zone) => ZoneOffset::Fixed(zone.offset_from_utc_date(utc)),
        }
    }

    fn offset_from_utc_datetime(&self, utc: &NaiveDateTime) -> ZoneOffset {
        match self {
            Zone::Named(zone) => ZoneOffset::Named(zone.offset_from_utc_datetime(utc)),
            Zone::Fixed(zone) => ZoneOffset::Fixed(zone.offset_from_utc_datetime(utc)),
        }
    }
}
