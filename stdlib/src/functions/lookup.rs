//! `std::lookup`: rows of the lookup tables that a run was started with (`--table NAME=FILE`). The
//! functions read no file; the tables are kept, and read again, by whoever runs the program.

use crate::declare::{impure, optional, text, value};
use temblor_lang::builtin::{Call, CallError, Function};
use temblor_lang::value::Kind::{Any, Array, Bool, String};
use temblor_lang::value::Value;

/// The functions of this module.
pub(super) static FUNCTIONS: &[Function] = &[
    optional(
        1,
        impure(
            "std::lookup::get",
            &[("table", String), ("key", Any), ("default", Any)],
            Any,
            "The row of a lookup table for a key, as a record; the default, or `null`, when it has \
             none. How keys are compared (exact, cidr, regex, range) is a matter of the table.",
            &[r#"not lookup::is_loaded("hosts") or lookup::get("hosts", "10.0.0.1", 1) != null"#],
            |call, arguments| Ok(row(call, arguments)?.unwrap_or_else(|| value(arguments, 2))),
        ),
    ),
    impure(
        "std::lookup::has",
        &[("table", String), ("key", Any)],
        Bool,
        "Whether a lookup table has a row for a key.",
        &[r#"not (lookup::is_loaded("hosts") and lookup::has("hosts", null))"#],
        |call, arguments| Ok(Value::Bool(row(call, arguments)?.is_some())),
    ),
    impure(
        "std::lookup::is_loaded",
        &[("table", String)],
        Bool,
        "Whether the run has a lookup table of this name.",
        &[r#"lookup::is_loaded("no such table") == false"#],
        |call, arguments| {
            let name = text(arguments, 0)?;
            let tables = call.facts.tables.as_ref();
            Ok(Value::Bool(tables.is_some_and(|tables| tables.names().contains(&name))))
        },
    ),
    impure(
        "std::lookup::tables",
        &[],
        Array,
        "The names of all lookup tables of the run, sorted.",
        &[r#"lookup::is_loaded("hosts") or lookup::tables() != ["hosts"]"#],
        |call, _| {
            let names = call.facts.tables.as_ref().map(|tables| tables.names());
            let names = names.unwrap_or_default();
            Ok(call.arena.array(names.iter().map(|name| Value::Str(call.arena.str(name)))))
        },
    ),
];

fn row<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Result<Option<Value<'a>>, CallError> {
    let name = text(arguments, 0)?;
    match &call.facts.tables {
        Some(tables) => tables.find(name, value(arguments, 1), call.arena),
        None => Err(CallError::failed(format!(
            "there is no lookup table `{name}`; start the run with `--table {name}=FILE`"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use temblor_lang::builtin::{Facts, Tables};
    use temblor_lang::value::{Arena, to_json};

    /// One table, `t`, that knows the key `k`.
    #[derive(Debug)]
    struct One;

    impl Tables for One {
        fn find<'a>(
            &self,
            table: &str,
            key: Value<'_>,
            _: &'a Arena,
        ) -> Result<Option<Value<'a>>, CallError> {
            match table {
                "t" => Ok((key.as_str() == Some("k")).then_some(Value::UInt(7))),
                _ => Err(CallError::failed("no such table")),
            }
        }

        fn names(&self) -> Vec<&str> {
            vec!["t"]
        }
    }

    fn run(
        name: &str,
        arguments: &[Value<'static>],
        facts: &Facts,
    ) -> Result<std::string::String, CallError> {
        let path = format!("std::lookup::{name}");
        let function = FUNCTIONS.iter().find(|one| one.path == path).expect("a known function");
        let arguments = arguments.to_vec();
        let arena = Arena::new();
        function.invoke(&Call { arena: &arena, facts }, &arguments).map(to_json)
    }

    #[test]
    fn rows_defaults_and_unknown_tables() {
        let facts = Facts { tables: Some(Arc::new(One)), ..Facts::default() };
        let (t, k, x) = (Value::Str("t"), Value::Str("k"), Value::Str("x"));
        for (name, arguments, expected) in [
            ("get", &[t, k][..], "7"),
            ("get", &[t, x], "null"),
            ("get", &[t, x, k], "\"k\""),
            ("has", &[t, k], "true"),
            ("has", &[t, Value::Null], "false"),
            ("is_loaded", &[t], "true"),
            ("is_loaded", &[x], "false"),
            ("tables", &[], "[\"t\"]"),
        ] {
            assert_eq!(run(name, arguments, &facts).as_deref(), Ok(expected), "{name}");
        }
        assert!(run("get", &[x, k], &facts).is_err());
        let missing = run("get", &[x, k], &Facts::default()).expect_err("no table");
        assert!(missing.to_string().contains("--table x=FILE"), "{missing}");
    }
}
