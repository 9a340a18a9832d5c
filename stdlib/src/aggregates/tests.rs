//! Results, merging and saving of every aggregate.

use super::AGGREGATES;
use temblor_lang::builtin::{Accumulator, Call, Facts};
use temblor_lang::value::{Arena, Value, to_json};

fn started(path: &str) -> Box<dyn Accumulator> {
    let found = AGGREGATES.iter().find(|aggregate| aggregate.path == path);
    (found.unwrap_or_else(|| panic!("{path} is missing")).start)()
}

fn fed(path: &str, events: &[&[Value<'_>]]) -> Box<dyn Accumulator> {
    let mut accumulator = started(path);
    events.iter().for_each(|event| accumulator.accumulate(event).unwrap());
    accumulator
}

fn result(accumulator: &dyn Accumulator) -> String {
    let (arena, facts) = (Arena::new(), Facts::default());
    to_json(accumulator.emit(&Call { arena: &arena, facts: &facts }).unwrap())
}

/// The result of `events`, whether seen by one state, merged of two at any place, or restored.
fn check(path: &str, events: &[&[Value<'_>]], expected: &str) {
    let whole = fed(path, events);
    assert_eq!(result(&*whole), expected, "{path}");
    for cut in 0..=events.len() {
        let mut earlier = fed(path, &events[..cut]);
        earlier.merge(&*fed(path, &events[cut..])).unwrap();
        assert_eq!(result(&*earlier), expected, "{path} merged after {cut}");
    }
    let arena = Arena::new();
    let mut restored = started(path);
    restored.restore(whole.save(&arena)).unwrap();
    assert_eq!(result(&*restored), expected, "{path} restored");
    let mut reset = whole;
    reset.reset();
    assert_eq!(result(&*reset), result(&*started(path)), "{path} reset");
}

const ONE: &[Value<'static>] = &[Value::Int(1)];
const TWO: &[Value<'static>] = &[Value::UInt(2)];
const FOUR: &[Value<'static>] = &[Value::Float(4.0)];

#[test]
fn numbers_are_aggregated() {
    let events = [TWO, ONE, FOUR];
    for (path, expected) in [
        ("aggr::stats::count", "3"),
        ("aggr::stats::sum", "7.0"),
        ("aggr::stats::min", "1.0"),
        ("aggr::stats::max", "4.0"),
        ("aggr::stats::mean", "2.3333333333333335"),
        ("aggr::stats::var", "2.3333333333333335"),
        ("aggr::stats::median", "2.0"),
        ("aggr::stats::count_distinct", "3"),
        ("aggr::stats::rate", "666666666.6666666"),
        ("aggr::win::first", "2"),
        ("aggr::win::last", "4.0"),
        ("aggr::win::collect_flattened", "[2,1,4.0]"),
        ("aggr::win::unique", "[2,1,4.0]"),
    ] {
        check(path, &events, expected);
    }
}

#[test]
fn nothing_is_aggregated() {
    for (path, expected) in [
        ("aggr::stats::count", "0"),
        ("aggr::stats::sum", "0.0"),
        ("aggr::stats::min", "0.0"),
        ("aggr::stats::max", "0.0"),
        ("aggr::stats::mean", "null"),
        ("aggr::stats::var", "0.0"),
        ("aggr::stats::stdev", "0.0"),
        ("aggr::stats::median", "null"),
        ("aggr::stats::percentile", "null"),
        ("aggr::stats::rate", "null"),
        ("aggr::win::first", "null"),
        ("aggr::win::collect_flattened", "[]"),
        ("aggr::win::collect_up_to", "[]"),
    ] {
        check(path, &[], expected);
    }
}

#[test]
fn one_number_has_no_variance() {
    check("aggr::stats::var", &[FOUR], "null");
    check("aggr::stats::stdev", &[FOUR], "null");
    check("aggr::stats::stdev", &[FOUR, FOUR], "0.0");
}

#[test]
fn merging_keeps_the_least_number() {
    let mut earlier = fed("aggr::stats::min", &[FOUR]);
    earlier.merge(&*started("aggr::stats::min")).unwrap();
    assert_eq!(result(&*earlier), "4.0");
}

#[test]
fn other_kinds_are_refused() {
    for path in ["sum", "min", "max", "mean", "var", "stdev"] {
        let mut accumulator = started(&format!("aggr::stats::{path}"));
        assert!(accumulator.accumulate(&[Value::Str("1")]).is_err(), "{path}");
        assert!(accumulator.restore(Value::Str("x")).is_err(), "{path}");
    }
    assert!(started("aggr::stats::sum").merge(&*started("aggr::stats::mean")).is_err());
}

#[test]
fn nested_collections_keep_windows_apart() {
    let mut earlier = fed("aggr::win::collect_nested", &[ONE]);
    earlier.merge(&*fed("aggr::win::collect_nested", &[TWO, FOUR])).unwrap();
    assert_eq!(result(&*earlier), "[1,[2,4.0]]");
}

#[test]
fn bounded_collections_stop_at_their_limit() {
    let events = [1, 2, 3].map(|number| [Value::Int(number), Value::UInt(2)]);
    let events: Vec<&[Value<'_>]> = events.iter().map(|event| &event[..]).collect();
    check("aggr::win::collect_up_to", &events, "[1,2]");
}

#[test]
fn percentiles_are_interpolated() {
    let events = [1, 2, 3, 4].map(|number| [Value::Int(number), Value::Float(0.5)]);
    let events: Vec<&[Value<'_>]> = events.iter().map(|event| &event[..]).collect();
    check("aggr::stats::percentile", &events, "2.5");
    let mut wrong = started("aggr::stats::percentile");
    assert!(wrong.accumulate(&[Value::Int(1), Value::Int(50)]).is_err());
}

#[test]
fn histograms_report_what_was_asked_for() {
    let names = [Value::Str("0.5"), Value::Str("0.99"), Value::Int(1)];
    let numbers: Vec<_> =
        (1..=100).map(|number| [Value::Int(number), Value::Array(&names)]).collect();
    let events: Vec<&[Value<'_>]> = numbers.iter().map(|event| &event[..]).collect();
    check(
        "aggr::stats::hdr",
        &events,
        r#"{"count":100,"min":1,"max":100,"mean":50.5,"stdev":28.86607004772212,"var":833.25,"percentiles":{"0.5":50,"0.99":99}}"#,
    );
    check(
        "aggr::stats::dds",
        &events,
        r#"{"count":100,"sum":5050.0,"min":1.0,"max":100.0,"mean":50.5,"percentiles":{"0.5":50.0,"0.99":98.6}}"#,
    );
}

#[test]
fn what_is_no_number_does_not_count_in_histograms() {
    for path in ["aggr::stats::hdr", "aggr::stats::dds"] {
        let ignored = fed(path, &[&[Value::Null], &[Value::Int(-1)], &[Value::Str("1")]]);
        assert!(result(&*ignored).starts_with(r#"{"count":0,"#), "{path}");
        let mut wrong = started(path);
        assert!(wrong.accumulate(&[Value::Int(1), Value::Array(&[Value::Str("x")])]).is_err());
    }
}

#[test]
fn many_numbers_stay_within_the_stated_error() {
    let (mut median, mut distinct) =
        (started("aggr::stats::median"), started("aggr::stats::count_distinct"));
    let mut hdr = started("aggr::stats::hdr");
    for number in 0..20_000 {
        for accumulator in [&mut median, &mut distinct, &mut hdr] {
            accumulator.accumulate(&[Value::UInt(number)]).unwrap();
        }
    }
    let median: f64 = result(&*median).parse().unwrap();
    assert!((9_900.0..=10_100.0).contains(&median), "{median}");
    let distinct: f64 = result(&*distinct).parse().unwrap();
    assert!((19_200.0..=20_800.0).contains(&distinct), "{distinct}");
    assert!(result(&*hdr).starts_with(r#"{"count":20000,"min":0,"max":20"#), "{}", result(&*hdr));
}
