//! `tremor::system`, `tremor::origin`, `std::test` and `std::win`: facts about the process, the
//! event and the select. The clock is read by whoever makes the facts, never here.

use crate::declare::{Outcome, Params, impure, pure, value, variadic, warned};
use std::sync::OnceLock;
use temblor_lang::builtin::{Call, Function};
use temblor_lang::value::Kind::{Any, Integer, Null, String};
use temblor_lang::value::{Kind, Value};

/// The name of this process among others, as tremor has it by default.
/// The name of a process that nobody named.
const INSTANCE: &str = "tremor";
static NAMED: OnceLock<std::string::String> = OnceLock::new();

/// Names this process among others, for `system::instance()`. The first name counts.
pub fn name_instance(name: &str) {
    let _ = NAMED.set(name.to_string());
}

const NONE: Params = &[];
const ANYTHING: Params = &[("arguments", Kind::Any)];

/// The functions of these modules.
pub(super) static FUNCTIONS: &[Function] = &[
    impure(
        "tremor::system::hostname",
        NONE,
        String,
        "The name of the host that this process runs on.",
        &["type::is_string(system::hostname())"],
        |_, _| Ok(Value::Str(host_name())),
    ),
    impure(
        "tremor::system::ingest_ns",
        NONE,
        Integer,
        "When the event arrived, in nanoseconds since 1970-01-01 UTC.",
        &["system::ingest_ns() == system::ingest_ns()"],
        |call, _| Ok(Value::UInt(call.facts.ingest_ns)),
    ),
    impure(
        "tremor::system::instance",
        NONE,
        String,
        "The name of this process among others: that of `temblor run --instance`, or `tremor`.",
        &["type::is_string(system::instance())"],
        |_, _| Ok(Value::Str(NAMED.get().map_or(INSTANCE, |name| name.as_str()))),
    ),
    warned(
        "`system::nanotime()` asks for the time of day; `system::ingest_ns()` is cheaper and the \
         same on replay",
        impure(
            "tremor::system::nanotime",
            NONE,
            Integer,
            "The time of day in nanoseconds since 1970-01-01 UTC.",
            &["type::is_integer(system::nanotime())"],
            |call, _| Ok(Value::UInt(call.facts.now_ns)),
        ),
    ),
    impure(
        "tremor::system::version",
        NONE,
        String,
        "The version of this program.",
        &["type::is_string(system::version())"],
        |_, _| Ok(Value::Str(env!("CARGO_PKG_VERSION"))),
    ),
    impure(
        "tremor::origin::as_uri_string",
        NONE,
        Any,
        "Where the event came from, as a URI; `null` when that is not known.",
        &["origin::as_uri_string() == null"],
        |call, _| Ok(call.facts.origin.as_deref().map_or(Value::Null, Value::Str)),
    ),
    impure(
        "tremor::origin::as_uri_record",
        NONE,
        Any,
        "Where the event came from, as a record of `scheme`, `host`, `port` and `path`; `null` \
         when that is not known.",
        &["origin::as_uri_record() == null"],
        |call, _| {
            let Some(origin) = Origin::of(call) else { return Ok(Value::Null) };
            let mut record = call.arena.record_builder(4);
            record.insert("scheme", Value::Str(origin.scheme));
            record.insert("host", Value::Str(origin.host));
            record.insert("port", origin.port_value());
            record.insert("path", origin.path_value(call));
            Ok(record.finish())
        },
    ),
    impure(
        "tremor::origin::scheme",
        NONE,
        Any,
        "The scheme of the URI that the event came from, such as `file`; `null` when unknown.",
        &["origin::scheme() == null"],
        |call, _| Ok(Origin::of(call).map_or(Value::Null, |origin| Value::Str(origin.scheme))),
    ),
    impure(
        "tremor::origin::host",
        NONE,
        Any,
        "The host of the URI that the event came from; `null` when unknown.",
        &["origin::host() == null"],
        |call, _| Ok(Origin::of(call).map_or(Value::Null, |origin| Value::Str(origin.host))),
    ),
    impure(
        "tremor::origin::port",
        NONE,
        Any,
        "The port of the URI that the event came from; `null` when unknown.",
        &["origin::port() == null"],
        |call, _| Ok(Origin::of(call).map_or(Value::Null, |origin| origin.port_value())),
    ),
    impure(
        "tremor::origin::path",
        NONE,
        Any,
        "The segments of the path of the URI that the event came from; `null` when unknown.",
        &["origin::path() == null"],
        |call, _| Ok(Origin::of(call).map_or(Value::Null, |origin| origin.path_value(call))),
    ),
    impure(
        "std::win::cardinality",
        NONE,
        Integer,
        "The number of groups of the running select that are open, the one that is emitted among \
         them; 0 outside of one.",
        &["win::cardinality() == 0"],
        |call, _| Ok(Value::UInt(call.facts.groups.get())),
    ),
    impure(
        "std::win::starts",
        NONE,
        Integer,
        "Where the window over event time that is emitted begins, in nanoseconds since 1970; 0 outside \
         of one.",
        &["win::starts() == 0"],
        |call, _| Ok(Value::UInt(call.facts.window.get().0)),
    ),
    impure(
        "std::win::ends",
        NONE,
        Integer,
        "Where the window over event time that is emitted ends, in nanoseconds since 1970; 0 outside of \
         one. The end of a session is that of its last event and the gap.",
        &["win::ends() == 0"],
        |call, _| Ok(Value::UInt(call.facts.window.get().1)),
    ),
    pure(
        "std::test::assert",
        &[("name", Any), ("expected", Any), ("got", Any)],
        Any,
        "`true` when both values are equal, else an array of the two.",
        &[r#"test::assert("two", 2, 1 + 1)"#, r#"test::assert("no", 1, 2) == [1, 2]"#],
        |call, arguments| {
            let (expected, got) = (value(arguments, 1), value(arguments, 2));
            if expected == got {
                return Ok(Value::Bool(true));
            }
            Ok(call.arena.array([expected, got]))
        },
    ),
    variadic(pure(
        "std::test::suite",
        ANYTHING,
        Null,
        "Marks a suite of tests for the test runner; gives `null`.",
        &["test::suite({}) == null"],
        nothing,
    )),
    variadic(pure(
        "std::test::test",
        ANYTHING,
        Null,
        "Marks one test for the test runner; gives `null`.",
        &["test::test({}) == null"],
        nothing,
    )),
];

fn nothing<'a>(_: &Call<'a>, _: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Null)
}

fn host_name() -> &'static str {
    static NAME: OnceLock<std::string::String> = OnceLock::new();
    NAME.get_or_init(|| gethostname::gethostname().to_string_lossy().into_owned())
}

/// The parts of an origin such as `file://host/var/log/x`.
struct Origin<'a> {
    scheme: &'a str,
    host: &'a str,
    port: Option<u16>,
    path: &'a str,
}

impl<'a> Origin<'a> {
    fn of(call: &Call<'a>) -> Option<Self> {
        let (scheme, rest) = call.facts.origin.as_deref()?.split_once("://")?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        // The colons of an IPv6 address stand within brackets.
        let port_at = authority.rfind(':').filter(|at| !authority[*at..].contains(']'));
        let (host, port) = match port_at {
            Some(at) => (&authority[..at], authority[at + 1..].parse().ok()),
            None => (authority, None),
        };
        Some(Self { scheme, host, port, path })
    }

    fn port_value(&self) -> Value<'a> {
        self.port.map_or(Value::Null, |port| Value::UInt(u64::from(port)))
    }

    fn path_value(&self, call: &Call<'a>) -> Value<'a> {
        match self.path.strip_prefix('/') {
            Some(path) => call.arena.array(path.split('/').map(Value::Str)),
            None => call.arena.array([]),
        }
    }
}
