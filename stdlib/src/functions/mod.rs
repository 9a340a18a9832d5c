//! The functions that programs call, one file a module. Every function stands in [`GROUPS`]
//! exactly once.

mod array;
mod binary;
mod chash;
mod csv;
mod datetime;
mod float;
mod hash;
mod integer;
mod ip;
mod json;
mod kind;
mod list;
mod logstash;
mod lookup;
mod math;
mod members;
mod path;
mod random;
mod range;
mod re;
mod record;
mod shape;
mod string;
mod system;
mod units;
mod url;
mod user_agent;
mod uuid;

pub use system::name_instance;

use temblor_lang::builtin::Function;

/// All functions.
pub(crate) static GROUPS: &[&[Function]] = &[
    array::FUNCTIONS,
    binary::FUNCTIONS,
    chash::FUNCTIONS,
    csv::FUNCTIONS,
    datetime::FUNCTIONS,
    datetime::PARSE_FUNCTIONS,
    float::FUNCTIONS,
    hash::FUNCTIONS,
    integer::FUNCTIONS,
    ip::FUNCTIONS,
    json::FUNCTIONS,
    kind::FUNCTIONS,
    list::FUNCTIONS,
    logstash::FUNCTIONS,
    lookup::FUNCTIONS,
    math::FUNCTIONS,
    path::FUNCTIONS,
    random::FUNCTIONS,
    range::FUNCTIONS,
    re::FUNCTIONS,
    record::FUNCTIONS,
    shape::FUNCTIONS,
    string::FUNCTIONS,
    system::FUNCTIONS,
    units::FUNCTIONS,
    url::FUNCTIONS,
    user_agent::FUNCTIONS,
    uuid::FUNCTIONS,
];
