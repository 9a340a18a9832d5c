//! Every function takes every kind of argument without a panic: what it cannot use is an error.

use temblor_lang::builtin::{Call, Facts, Function};
use temblor_lang::value::{Arena, Value};
use temblor_stdlib::registry;

/// Values at the edges of every kind.
fn odd_values(arena: &Arena) -> Vec<Value<'_>> {
    let mut record = arena.record_builder(2);
    record.insert("timestamp", Value::UInt(u64::MAX));
    record.insert("tz", Value::Str("+99:59"));
    let numbers = [0.0, -0.0, 0.5, 1e300, -1e300, f64::NAN, f64::INFINITY].map(Value::Float);
    let texts =
        ["", "a", "ß日", "%", "\"", "\\", "(", "1.5.5", "+", "::/129", "a=\"", "\u{0}", "%Q"];
    let mut values = vec![
        Value::Null,
        Value::Bool(true),
        Value::Int(i64::MIN),
        Value::Int(-1),
        Value::Int(3),
        Value::UInt(0),
        Value::UInt(5_000_000_000),
        Value::UInt(u64::MAX),
        Value::Bytes(&[0xff, 0x00]),
        arena.array([]),
        arena.array([Value::Null, Value::Str("a"), Value::Float(f64::NAN), Value::UInt(u64::MAX)]),
        arena.array([Value::UInt(u64::MAX), Value::UInt(u64::MAX)]),
        arena.record_builder(0).finish(),
        record.finish(),
    ];
    values.extend(numbers);
    values.extend(texts.map(Value::Str));
    values
}

#[test]
fn no_argument_makes_a_function_panic() {
    let seeds = Arena::new();
    let facts = Facts { ingest_ns: u64::MAX, ..Facts::default() };
    let values = odd_values(&seeds);
    let mut calls = 0u64;
    for path in registry().function_paths() {
        let function = registry().function(path).expect("a path that was listed");
        let (least, _) = function.argument_range();
        for count in least..=function.params.len() {
            let combinations = values.len().pow(count.min(2) as u32);
            for number in 0..combinations {
                let arena = Arena::new();
                let call = Call { arena: &arena, facts: &facts };
                // The third and later arguments go through the values in step with the first.
                let arguments: Vec<_> = (0..count)
                    .map(|at| values[(number / values.len().pow(at as u32 % 2)) % values.len()])
                    .collect();
                // Kinds are not checked here on purpose: the code itself must hold.
                drop((function.call)(&call, &arguments));
                calls += 1;
            }
        }
    }
    assert!(calls > 50_000, "only {calls} calls were made");
}

/// Calls a function with all combinations of odd values of the kinds that it takes: how many there are, and the
/// first that it refuses.
fn refused(function: &'static Function) -> (u64, Option<String>) {
    let seeds = Arena::new();
    let facts = Facts { ingest_ns: 1_700_000_000_000_000_000, ..Facts::default() };
    let values = odd_values(&seeds);
    let fits = |at: usize| -> Vec<Value<'_>> {
        let wanted = function.params[at].1;
        values.iter().copied().filter(|value| value.kind().fits(wanted)).collect()
    };
    let (least, _) = function.argument_range();
    let mut calls = 0;
    for count in least..=function.params.len() {
        let choices: Vec<_> = (0..count).map(fits).collect();
        let combinations: usize = choices.iter().map(Vec::len).product();
        for number in 0..combinations.min(20_000) {
            let (arena, mut rest) = (Arena::new(), number);
            let call = Call { arena: &arena, facts: &facts };
            let arguments: Vec<_> = choices
                .iter()
                .map(|choice| {
                    let value = choice[rest % choice.len()];
                    rest /= choice.len();
                    value
                })
                .collect();
            calls += 1;
            if let Err(error) = function.invoke(&call, &arguments) {
                return (calls, Some(format!("{}: {error:?}", function.path)));
            }
        }
    }
    (calls, None)
}

#[test]
fn total_functions_refuse_nothing() {
    let mut total = 0;
    for path in registry().function_paths() {
        let function = registry().function(path).expect("a path that was listed");
        if std::env::var_os("TEMBLOR_BLESS").is_some()
            && let (1.., None) = refused(function)
        {
            println!("    {path:?},");
        }
        if registry().never_refuses(function) {
            total += 1;
            assert_eq!(refused(function).1, None);
        }
    }
    assert!(total > 50, "only {total} functions are total");
}

#[test]
fn wrong_numbers_of_arguments_are_refused() {
    let (arena, facts) = (Arena::new(), Facts::default());
    let call = Call { arena: &arena, facts: &facts };
    for path in registry().function_paths() {
        let function = registry().function(path).expect("a path that was listed");
        let (least, most) = function.argument_range();
        if let Some(fewer) = least.checked_sub(1) {
            let arguments = vec![Value::Null; fewer];
            assert!(function.invoke(&call, &arguments).is_err(), "{path} with {fewer}");
        }
        if let Some(most) = most {
            let arguments = vec![Value::Null; most + 1];
            assert!(function.invoke(&call, &arguments).is_err(), "{path} with {}", most + 1);
        }
    }
}
