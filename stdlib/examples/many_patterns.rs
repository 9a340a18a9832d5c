//! What thousands of grok patterns cost: `cargo run --release -p temblor-stdlib --example many_patterns`.
//! It prints the time to be ready, and for each event, of patterns tried in a row and behind one search
//! for their literals; both ways must agree.

use std::time::{Duration, Instant};
use temblor_stdlib::grok::{Captures, Grok, Hits, Library, Options, Prefilter};

const EVENTS: usize = 20_000;

fn patterns(count: usize) -> Vec<String> {
    let verbs = ["Accepted", "Failed", "Closed", "Opened", "Started", "Refused", "Lost", "Reset"];
    let pattern = |number: usize| {
        format!(
            "%{{SYSLOGTIMESTAMP:time}} %{{SYSLOGHOST:host}} app{}(?:\\[%{{POSINT:pid}}\\])?: {} unit {number} \
             for %{{USER:user}} from %{{IP:ip}} port %{{INT:port:int}}",
            number % 50,
            verbs[number % verbs.len()],
        )
    };
    (0..count).map(pattern).collect()
}

fn events(count: usize) -> Vec<String> {
    let verbs = ["Accepted", "Failed", "Closed", "Opened", "Started", "Refused", "Lost", "Reset"];
    let event = |at: usize| {
        let number = (at * 7919) % count;
        let (app, verb) = (number % 50, verbs[number % verbs.len()]);
        let line = format!(
            "Jan  2 03:04:05 host-{} app{app}[{at}]: {verb} unit {number} for joe from 10.1.2.{} port {at}",
            at % 9,
            at % 250
        );
        // One in ten matches nothing.
        if at.is_multiple_of(10) { line.replace("unit", "item") } else { line }
    };
    (0..EVENTS).map(event).collect()
}

fn main() {
    for count in [10, 200, 2_000, 10_000] {
        let texts = patterns(count);
        let started = Instant::now();
        let library = Library::legacy();
        let compile = |text: &String| Grok::compile(text, &library, &Options::default());
        let groks: Vec<Grok> =
            texts.iter().map(|text| compile(text).expect("the pattern is right")).collect();
        let literals: Vec<_> = groks.iter().map(Grok::required_literals).collect();
        let filter = Prefilter::new(&literals);
        let ready = started.elapsed();
        let events = events(count);
        let (mut captures, mut hits) = (Captures::new(), Hits::default());
        let mut filtered = |text: &str| {
            let candidates = filter.candidates(text, &mut hits);
            candidates.iter().copied().find(|at| groks[*at as usize].matches(text, &mut captures))
        };
        let started = Instant::now();
        let first: Vec<_> = events.iter().map(|text| filtered(text)).collect();
        let warm = started.elapsed();
        let started = Instant::now();
        let second: Vec<_> = events.iter().map(|text| filtered(text)).collect();
        let each = per_event(started.elapsed(), events.len());
        assert_eq!(first, second);
        let started = Instant::now();
        let tried: usize = events.iter().map(|text| filter.candidates(text, &mut hits).len()).sum();
        let search = per_event(started.elapsed(), events.len());
        let sample = &events[..events.len().min(2_000_000 / count / 10).max(20)];
        let mut captures = Captures::new();
        let in_a_row = |text: &String| {
            (0_u32..)
                .zip(&groks)
                .find(|(_, grok)| grok.matches(text, &mut captures))
                .map(|one| one.0)
        };
        let started = Instant::now();
        let plain: Vec<_> = sample.iter().map(in_a_row).collect();
        let slow = per_event(started.elapsed(), sample.len());
        assert_eq!(plain, second[..plain.len()], "the search changes no answer");
        let found = second.iter().flatten().count();
        println!(
            "{count:>6} patterns: ready in {ready:>9.1?}, first {EVENTS} events {warm:>9.1?}, then {each:>9.1?} an \
             event, of it {search:>9.1?} to find {tried} to try; in a row {slow:>9.1?}; {found} matched"
        );
    }
}

fn per_event(all: Duration, events: usize) -> Duration {
    all / u32::try_from(events).expect("there are few events")
}
