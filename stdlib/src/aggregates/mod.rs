//! Aggregates for windows. Every aggregate stands in [`AGGREGATES`] exactly once. Merging two
//! states always gives what one state would hold that had seen the events of both.

mod state;
mod simple;
mod variance;
mod percentiles;
mod histogram;
mod sketch;
mod quantile;
mod distinct;
mod collect;

use state::start;
use temblor_lang::builtin::{Aggregate, Arity};
use temblor_lang::value::Kind::{self, Any, Array, Float, Integer, Number, Record};

const NUMBER: &[(&str, Kind)] = &[("number", Number)];
const VALUE: &[(&str, Kind)] = &[("value", Any)];
const PERCENTILES: &[(&str, Kind)] = &[("number", Any), ("percentiles", Any)];

const COLLECTS: Option<&str> =
    Some("collecting keeps every value of a window in memory; `collect_up_to` has a limit");

/// An aggregate without optional parameters and without a warning.
const fn plain(
    path: &'static str,
    params: &'static [(&'static str, Kind)],
    returns: Kind,
    doc: &'static str,
    start: fn() -> Box<dyn temblor_lang::builtin::Accumulator>,
) -> Aggregate {
    Aggregate { path, params, arity: Arity::Exact, returns, doc, warning: None, start }
}

/// All aggregates.
pub(crate) static AGGREGATES: &[Aggregate] = &[
    plain("aggr::stats::count", &[], Integer, "The number of events.", start::<simple::Count>),
    plain("aggr::stats::sum", NUMBER, Float, "The sum, as a float.", start::<simple::Sum>),
    plain(
        "aggr::stats::min",
        NUMBER,
        Float,
        "The smallest number, as a float; 0.0 when there was none.",
        start::<simple::Least>,
    ),
    plain(
        "aggr::stats::max",
        NUMBER,
        Float,
        "The largest number, as a float; 0.0 when there was none.",
        start::<simple::Most>,
    ),
    plain(
        "aggr::stats::mean",
        NUMBER,
        Any,
        "The mean, as a float; `null` when there was no number.",
        start::<simple::Mean>,
    ),
    plain(
        "aggr::stats::var",
        NUMBER,
        Any,
        "The variance of the sample (divided by n - 1): 0.0 of no number, `null` of one.",
        start::<variance::Variance>,
    ),
    plain(
        "aggr::stats::stdev",
        NUMBER,
        Any,
        "The standard deviation of the sample: 0.0 of no number, `null` of one.",
        start::<variance::Deviation>,
    ),
    Aggregate {
        arity: Arity::Optional(1),
        ..plain(
            "aggr::stats::hdr",
            PERCENTILES,
            Record,
            "A record of `count`, `min`, `max`, `mean`, `stdev`, `var` and `percentiles` from a \
             high dynamic range histogram of two digits. Fractions are cut off; negative numbers \
             and whatever is no number do not count. The percentiles are an array of strings such \
             as `\"0.99\"`.",
            start::<histogram::Hdr>,
        )
    },
    Aggregate {
        arity: Arity::Optional(1),
        ..plain(
            "aggr::stats::dds",
            PERCENTILES,
            Record,
            "A record of `count`, `sum`, `min`, `max`, `mean` and `percentiles` from a DDSketch \
             with an error of one percent. Negative numbers and whatever is no number do not \
             count. Percentiles are rounded up to one decimal.",
            start::<sketch::Dds>,
        )
    },
    plain(
        "aggr::stats::median",
        NUMBER,
        Any,
        "The median: exact up to 1,024 numbers, within one percent beyond; `null` of none.",
        start::<quantile::Median>,
    ),
    plain(
        "aggr::stats::percentile",
        &[("number", Number), ("percentile", Number)],
        Any,
        "The given percentile, from 0 to 1: exact up to 1,024 numbers (between two of them, a \
         linear mean), within one percent beyond; `null` of none.",
        start::<quantile::Percentile>,
    ),
    plain(
        "aggr::stats::count_distinct",
        VALUE,
        Integer,
        "The number of different values: exact up to 1,024, an estimate by HyperLogLog within \
         about two percent beyond.",
        start::<distinct::Distinct>,
    ),
    plain(
        "aggr::stats::rate",
        &[("nanos", Number)],
        Any,
        "Events per second between the earliest and the latest of the given times in \
         nanoseconds; `null` when there is no span of time.",
        start::<simple::Rate>,
    ),
    plain(
        "aggr::win::first",
        VALUE,
        Any,
        "The value of the first event; `null` when there was none.",
        start::<collect::First>,
    ),
    plain(
        "aggr::win::last",
        VALUE,
        Any,
        "The value of the last event; `null` when there was none.",
        start::<collect::Last>,
    ),
    Aggregate {
        warning: COLLECTS,
        ..plain(
            "aggr::win::collect_flattened",
            VALUE,
            Array,
            "The values of all events; those of merged windows one after the other.",
            start::<collect::Flattened>,
        )
    },
    Aggregate {
        warning: COLLECTS,
        ..plain(
            "aggr::win::collect_nested",
            VALUE,
            Array,
            "The values of all events; each merged window adds one array of its own.",
            start::<collect::Nested>,
        )
    },
    plain(
        "aggr::win::collect_up_to",
        &[("value", Any), ("limit", Integer)],
        Array,
        "The values of the first `limit` events.",
        start::<collect::Bounded>,
    ),
    plain(
        "aggr::win::unique",
        VALUE,
        Array,
        "The different values in the order in which they came, at most 10,000 of them.",
        start::<collect::Unique>,
    ),
];

#[cfg(test)]
mod tests;
