//! A generator with its pace, its count and its network: what a source or the command line reads.
//!
//! Invariant: the bytes depend on the spec and the start of its time alone, however they are asked for.

use super::disorder::Network;
use super::envelope::Envelope;
use super::executions::Executions;
use super::pace::Pace;
use super::relative::TimeWord;
use super::spec::Spec;
use super::truth::Truth;
use super::zone::Zone;
use super::{Generator, Moment};
use temblor_runtime::clock::Timestamp;
use temblor_runtime::error::Error;

/// Events in the order of their times, each with the byte that ends it.
pub struct Stream {
    generator: Box<dyn Generator>,
    timing: Timing,
    envelope: Option<Envelope>,
    network: Option<Network>,
    count: u64,
    index: u64,
    /// How far the clock that events show is ahead, in nanoseconds.
    skew_ns: i64,
    /// What its times are seen from.
    shown: (TimeWord, TimeWord),
    zone: Zone,
    is_bundle: bool,
    ended: bool,
    /// Events of this time or later are none.
    end: Timestamp,
    /// Ends each event.
    separator: u8,
}

/// Where the times of events come from.
enum Timing {
    /// A rate.
    Pace(Pace),
    /// The generator's own rhythm; and whether the gap before the next event has been waited for.
    Rhythm(Pace, bool),
    /// Executions at intervals.
    Executions(Executions),
}

/// What was written at one go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filled {
    /// Events written.
    pub events: u64,
    /// When the next event is due; `None` when there are no more.
    pub next: Option<Timestamp>,
}

impl Stream {
    /// The events of a spec; without a start of its own its time begins `now`, or earlier by its back-fill.
    ///
    /// # Errors
    /// When a file that it needs cannot be read, or the file of its truth cannot be written.
    pub fn open(spec: &Spec, now: Timestamp) -> Result<Self, Error> {
        let start = spec.start_at(now);
        let skew_ns = spec.disorder.skew_ns;
        let truth = spec.truth.as_deref().map(|path| Truth::create(path, skew_ns)).transpose()?;
        let is_network = !spec.disorder.is_none() || truth.is_some();
        let network = is_network.then(|| Network::new(spec.disorder, spec.seed, truth));
        let pace = || Pace::new(start, spec.rate, spec.tables.clone(), spec.jitter, spec.seed);
        let timing = match spec.executions(now) {
            Some(executions) => Timing::Executions(executions),
            None if spec.has_rhythm() => Timing::Rhythm(pace(), false),
            None => Timing::Pace(pace()),
        };
        Ok(Stream {
            generator: spec.generator(now)?,
            timing,
            envelope: Envelope::new(&spec.envelope, spec.seed),
            network,
            count: spec.count.unwrap_or(u64::MAX),
            index: 0,
            skew_ns,
            shown: spec.shown.clone(),
            zone: spec.tables.zone,
            is_bundle: spec.is_bundle(),
            ended: false,
            end: spec
                .span_ns
                .map_or(Timestamp::MAX, |span| spec.start.unwrap_or(now).saturating_add(span)),
            separator: b'\n',
        })
    }

    /// The same events, each of which ends with this byte instead of a line end.
    #[must_use]
    pub fn separated_by(self, separator: u8) -> Self {
        Stream { separator, ..self }
    }

    /// Appends events until one is later than `until`, or `out` holds `bytes_max` or more.
    ///
    /// # Errors
    /// A sentence on why an event could not be made.
    pub fn fill(
        &mut self,
        out: &mut Vec<u8>,
        until: Timestamp,
        bytes_max: usize,
    ) -> Result<Filled, String> {
        let mut events = 0;
        while !self.ended {
            let is_over = self.index >= self.count;
            let Some(time) = self.due().filter(|time| !is_over && *time < self.end) else {
                events += self.end(out)?;
                break;
            };
            if time > until || out.len() >= bytes_max {
                self.network.as_mut().map_or(Ok(()), Network::flush)?;
                return Ok(Filled { events, next: Some(time) });
            }
            if self.begin()? {
                continue;
            }
            events += self.write(time, out)?;
        }
        Ok(Filled { events, next: None })
    }

    /// When the next event is, or the next execution.
    #[inline]
    fn due(&mut self) -> Option<Timestamp> {
        match &mut self.timing {
            Timing::Pace(pace) => pace.time(),
            Timing::Rhythm(pace, is_gap_passed) => {
                if !*is_gap_passed {
                    pace.advance(0, self.generator.gap());
                    *is_gap_passed = true;
                }
                pace.time()
            }
            Timing::Executions(executions) => executions.due(),
        }
    }

    /// Begins an execution if one must begin now; whether it did.
    #[inline]
    fn begin(&mut self) -> Result<bool, String> {
        let Timing::Executions(executions) = &mut self.timing else { return Ok(false) };
        if !executions.is_between() {
            return Ok(false);
        }
        let moment = executions.begin(self.generator.whole(), self.is_bundle);
        if let Some(envelope) = &mut self.envelope {
            envelope.begin();
        }
        if !executions.is_between()
            && let Some(count) = self.generator.begin(moment)?
        {
            executions.set_count(count);
        }
        Ok(true)
    }

    fn moment(&self, time: Timestamp) -> Moment {
        let mut moment = match &self.timing {
            Timing::Executions(executions) => executions.moment(self.index),
            _ => Moment::at(self.index, time),
        };
        let is_plain = self.shown.0.is_now() && self.shown.1.is_now();
        if !matches!(self.timing, Timing::Executions(_)) && !is_plain {
            let earliest = self.shown.0.at(time, &self.zone);
            moment.window = (earliest, self.shown.1.at(time, &self.zone).max(earliest));
        }
        if self.skew_ns != 0 {
            let skewed = |time: Timestamp| time.saturating_add_signed(self.skew_ns);
            moment.time = skewed(moment.time);
            moment.window = (skewed(moment.window.0), skewed(moment.window.1));
        }
        moment
    }

    #[inline]
    fn write(&mut self, time: Timestamp, out: &mut Vec<u8>) -> Result<u64, String> {
        let start = out.len();
        let moment = self.moment(time);
        if !self.generator.write(moment, out)? {
            out.truncate(start);
            return self.end(out);
        }
        if let Some(envelope) = &mut self.envelope {
            envelope.wrap(start, moment, self.generator.fields(), out);
        }
        out.push(self.separator);
        self.index += 1;
        match &mut self.timing {
            Timing::Pace(pace) => pace.advance(out.len() - start, None),
            Timing::Rhythm(_, is_gap_passed) => *is_gap_passed = false,
            Timing::Executions(executions) => executions.wrote(out.len() - start),
        }
        match &mut self.network {
            Some(network) => network.pass(start, self.index - 1, out),
            None => Ok(1),
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) -> Result<u64, String> {
        self.ended = true;
        self.network.as_mut().map_or(Ok(0), |network| network.end(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_lang::value::{Arena, Value};

    fn spec(kind: &str, settings: &str) -> Spec {
        let arena = Arena::new();
        let settings: Value<'_> = temblor_stdlib::formats::json::parse(settings, &arena).unwrap();
        Spec::from_settings(kind, settings, None).unwrap()
    }

    /// All events, asked for in steps of time and of bytes.
    fn text(spec: &Spec, step_ns: u64, bytes_max: usize) -> String {
        let mut stream = Stream::open(spec, 7).unwrap();
        let (mut text, mut until, mut events) = (Vec::new(), 0, 0);
        loop {
            let mut out = Vec::new();
            let filled = stream.fill(&mut out, until, bytes_max).unwrap();
            text.extend_from_slice(&out);
            events += filled.events;
            match filled.next {
                None => break,
                Some(next) if next > until => until = (until + step_ns).max(next),
                Some(_) => {}
            }
        }
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.lines().count() as u64, events);
        text
    }

    #[test]
    fn bytes_do_not_depend_on_how_they_are_asked_for() {
        for kind in ["weblog", "syslog", "json-app", "windbag"] {
            let spec = spec(
                kind,
                r#"{"count": 2000, "rate": "100/s", "seed": 5, "loss": 0.1, "duplicate": 0.05,
                    "reorder": 0.2, "delay": 9, "jitter": 0.2, "start": "2026-01-01T00:00:00Z"}"#,
            );
            let whole = text(&spec, u64::MAX / 4, usize::MAX);
            assert_eq!(whole, text(&spec, 10_000_000, 100), "{kind}");
            let other = Spec { seed: 6, ..spec };
            assert_ne!(whole, text(&other, u64::MAX / 4, usize::MAX), "{kind}");
        }
    }

    #[test]
    fn streams_of_one_seed_differ_only_by_what_the_network_did() {
        let events = |stream: u64| {
            let settings =
                format!(r#"{{"count": 1000, "seed": 5, "loss": 0.1, "stream": {stream}}}"#);
            text(&spec("syslog", &settings), 1, usize::MAX)
        };
        let (first, second) = (events(1), events(2));
        assert_ne!(first, second);
        let all = text(&spec("syslog", r#"{"count": 1000, "seed": 5}"#), 1, usize::MAX);
        let known: std::collections::HashSet<&str> = all.lines().collect();
        assert!(first.lines().chain(second.lines()).all(|line| known.contains(line)));
    }

    #[test]
    fn wrong_settings_are_named() {
        let arena = Arena::new();
        for (kind, settings, name) in [
            ("nothing", "{}", "kind"),
            ("weblog", r#"{"rate": "fast"}"#, "rate"),
            ("weblog", r#"{"loss": 2}"#, "loss"),
            ("weblog", r#"{"start": "yesterday"}"#, "start"),
            ("weblog", r#"{"hours": {"x": 1}}"#, "hours"),
            ("lines", r#"{"lines": []}"#, "lines"),
            ("lines", r#"{"lines": [1]}"#, "lines"),
            ("template", "{}", "template"),
            ("sample", r#"{"file": "/nowhere"}"#, "file"),
            ("replay", r#"{"file": "/nowhere"}"#, "file"),
        ] {
            let settings = temblor_stdlib::formats::json::parse(settings, &arena).unwrap();
            let error = Spec::from_settings(kind, settings, None).unwrap_err();
            assert_eq!(error.name, name, "{}", error.reason);
        }
    }
}
