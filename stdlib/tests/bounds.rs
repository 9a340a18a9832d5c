//! Data that is large in one dimension, under the budgets of an event: every function of the library
//! ends, asks for memory and does work about in proportion to its arguments, and what it cannot do
//! within the budgets ends with the arena spent, never with the process.

use temblor_lang::builtin::{Call, Facts, Function};
use temblor_lang::value::{Arena, EVENT_BYTES_MAX, EVENT_STEPS_MAX, Kind, Value};
use temblor_stdlib::registry;

/// The ways to be large, each of them with `size` bytes, elements, fields or levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Text,
    Digits,
    Separators,
    Bytes,
    Numbers,
    Texts,
    Pairs,
    Fields,
    Records,
    DeepArray,
    DeepRecord,
}

const SHAPES: [Shape; 11] = [
    Shape::Text,
    Shape::Digits,
    Shape::Separators,
    Shape::Bytes,
    Shape::Numbers,
    Shape::Texts,
    Shape::Pairs,
    Shape::Fields,
    Shape::Records,
    Shape::DeepArray,
    Shape::DeepRecord,
];

fn large(shape: Shape, size: usize, arena: &Arena) -> Value<'_> {
    let number = |at: usize| Value::Float(at as f64 / 7.0);
    let name = |at: usize| arena.format(format_args!("k{at}"));
    let record = |at: usize| {
        let mut record = arena.record_builder(2);
        record.append("key", Value::UInt(at as u64));
        record.append("value", Value::Str(name(at)));
        record.finish()
    };
    match shape {
        Shape::Text => Value::Str(arena.str(&"Aé b,=%41\"".repeat(size / 11))),
        Shape::Digits => Value::Str(arena.str(&"7".repeat(size))),
        Shape::Separators => Value::Str(arena.str(&",".repeat(size))),
        Shape::Bytes => Value::Bytes(arena.bytes(&vec![0x5a; size])),
        Shape::Numbers => arena.array((0..size).map(number)),
        Shape::Texts => arena.array((0..size).map(|at| Value::Str(name(at)))),
        Shape::Pairs => {
            arena.array((0..size).map(|at| arena.array([Value::Str(name(at)), number(at)])))
        }
        Shape::Fields => {
            let mut record = arena.record_builder(size);
            (0..size).for_each(|at| record.append(name(at), number(at)));
            record.finish()
        }
        Shape::Records => arena.array((0..size).map(record)),
        Shape::DeepArray => (0..size).fold(Value::Null, |inner, _| arena.array([inner])),
        Shape::DeepRecord => (0..size).fold(Value::Null, |inner, _| {
            let mut record = arena.record_builder(1);
            record.append("a", inner);
            record.finish()
        }),
    }
}

/// A small value that fits, for the arguments beside the large one.
fn small<'a>(kind: Kind, at: usize) -> Value<'a> {
    match kind {
        Kind::Integer | Kind::Number => Value::UInt(3),
        Kind::Float => Value::Float(0.5),
        Kind::Bool => Value::Bool(true),
        Kind::Array => Value::Array(const { &[Value::Str("k1"), Value::Str("k2")] }),
        Kind::Record => Value::EMPTY_RECORD,
        Kind::Bytes => Value::Bytes(b"ab"),
        _ => Value::Str(if at == 1 { "," } else { "key" }),
    }
}

/// Which arguments are large.
#[derive(Clone, Copy, Debug)]
enum Which {
    One(usize),
    All,
}

fn arguments<'a>(
    function: &Function,
    (shape, size, which): (Shape, usize, Which),
    arena: &'a Arena,
) -> Vec<Value<'a>> {
    let value = large(shape, size, arena);
    let of = |(at, (_, kind)): (usize, &(&str, Kind))| match which {
        Which::All if value.kind().fits(*kind) => value,
        Which::One(one) if at == one => value,
        _ => small(*kind, at),
    };
    function.params.iter().enumerate().map(of).collect()
}

/// What a call asked for: bytes, and whether it was stopped.
fn cost(function: &Function, case: (Shape, usize, Which)) -> (usize, bool) {
    let values = Arena::new();
    let given = arguments(function, case, &values);
    let (arena, facts) = (Arena::limited(EVENT_BYTES_MAX, EVENT_STEPS_MAX), Facts::default());
    let call = Call { arena: &arena, facts: &facts };
    drop(function.invoke(&call, &given));
    let steps = EVENT_STEPS_MAX - arena.steps_left();
    (arena.charged_bytes() + steps, arena.is_spent())
}

fn fitting(function: &'static Function) -> impl Iterator<Item = (Shape, Which)> {
    SHAPES.into_iter().flat_map(move |shape| {
        let kind = large(shape, 2, &Arena::new()).kind();
        let takes = move |at: &usize| kind.fits(function.params[*at].1);
        let one = (0..function.params.len()).filter(takes).map(Which::One);
        let many = (0..function.params.len()).filter(takes).count() > 1;
        one.chain(many.then_some(Which::All)).map(move |which| (shape, which))
    })
}

fn functions() -> impl Iterator<Item = &'static Function> {
    registry().function_paths().into_iter().filter_map(|path| registry().function(path))
}

/// Twice the data takes about twice of what a function asks for, and never much more.
#[test]
fn functions_grow_in_proportion() {
    const SIZE: usize = 2_000;
    /// What a doubling may cost, and what does not count, in bytes and steps.
    const GROWTH: usize = 3;
    const SLACK: usize = 64 << 10;
    /// Their results are as long as one argument times the other.
    const PRODUCTS: [&str; 2] = ["std::mask::keep_first", "std::mask::keep_last"];
    let (mut compared, mut steep) = (0, Vec::new());
    for function in functions() {
        for (shape, which) in fitting(function) {
            let (once, _) = cost(function, (shape, SIZE, which));
            let (twice, _) = cost(function, (shape, 2 * SIZE, which));
            let is_product = PRODUCTS.contains(&function.path) && matches!(which, Which::All);
            if twice > GROWTH * once + SLACK && !is_product {
                let what = format!("{} over {shape:?} as {which:?}", function.path);
                steep.push(format!("{what}: {once}, then {twice}"));
            }
            compared += 1;
        }
    }
    assert!(steep.is_empty(), "{steep:#?}");
    assert!(compared > 800, "only {compared} calls were compared");
}

/// Large arguments of every kind: the process lives, and the call ends.
#[test]
fn functions_take_what_is_large() {
    const SIZE: usize = 20_000;
    for function in functions() {
        for (shape, which) in fitting(function) {
            let (cost, spent) = cost(function, (shape, SIZE, which));
            let enough = cost <= EVENT_BYTES_MAX + EVENT_STEPS_MAX;
            assert!(enough || spent, "{} over {shape:?} as {which:?}: {cost}", function.path);
        }
    }
}
