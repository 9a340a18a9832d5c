//! Unit tests in the language itself, as tremor has them: statements of a script that are
//! `test::suite({"name": …, "tags": […], "tests": [test::test({"name": …, "test": …})]})`, or arrays of such.
//! Each test is evaluated on its own, so that one that fails does not hide the others.

use super::coverage::{Reach, in_file};
use std::path::Path;
use temblor_lang::builtin::Facts;
use temblor_lang::coverage::Coverage;
use temblor_lang::diagnostic::{Colour, Severity, render_all};
use temblor_lang::lower::{Compiler, Rules, Scope};
use temblor_lang::run::{Context, Outcome};
use temblor_lang::syntax::parse_script;
use temblor_lang::syntax::tree::{Expr, ExprKind, Item, PathRoot, Script, StringLit};
use temblor_lang::value::{Arena, Owned, Value, to_json};
use temblor_pipeline::load::Directories;
use temblor_pipeline::lookup::NamedTables;

/// A suite as written.
#[derive(Debug)]
pub(crate) struct Suite {
    /// Its name.
    pub name: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its tests, with what became of them.
    pub tests: Vec<UnitTest>,
}

/// A test of a suite.
#[derive(Debug)]
pub(crate) struct UnitTest {
    /// Its name.
    pub name: String,
    /// Line where it begins, from 1.
    pub line: usize,
    /// `Err` says why it fails.
    pub result: Result<(), String>,
}

/// Whether a script may be a suite, found without reading it as a program.
#[must_use]
pub(crate) fn may_be_suite(text: &str) -> bool {
    text.contains("test::suite")
}

/// Runs the suites of a script, in order; those without tags are none. What it reaches of the
/// script and of its modules goes to `reach`; `tables` are the lookup tables that its tests may ask.
///
/// # Errors
/// The diagnostics of the script, when it cannot be compiled.
pub(crate) fn run(
    file: &Path,
    text: &str,
    tables: Option<&NamedTables>,
    reach: Option<&mut Reach>,
) -> Result<Vec<Suite>, String> {
    let directories = Directories::new(&[], Some(file));
    let mut compiler = Compiler::new(temblor_stdlib::registry(), &directories);
    compiler.coverage = reach.is_some().then(Coverage::default);
    let source = compiler.sources.add(file.display().to_string(), text);
    let parsed = parse_script(&compiler.sources, source);
    compiler.diagnostics.extend(parsed.diagnostics);
    let mut script = parsed.tree;
    let mut written = Vec::new();
    script.items.retain(|item| {
        let found = suites_of(item);
        let is_definition = found.is_empty();
        written.extend(found);
        is_definition
    });
    let facts = Facts { tables: tables.and_then(NamedTables::shared), ..Facts::default() };
    let mut runner = Runner { compiler, definitions: script, facts };
    let mut suites = Vec::new();
    for fields in written {
        suites.extend(runner.suite(file, &fields)?);
    }
    if let (Some(reach), Some(coverage)) = (reach, &runner.compiler.coverage) {
        reach.add(coverage, &runner.compiler.sources, in_file);
    }
    Ok(suites)
}

/// The fields of the record of each `test::suite({…})` that a statement is, or lists.
fn suites_of(item: &Item) -> Vec<Vec<(StringLit, Expr)>> {
    let Item::Expr(expr) = item else { return Vec::new() };
    let suite = |one: &Expr| fields_of_call(one, "suite").map(<[_]>::to_vec);
    // A list that holds anything else is an ordinary value.
    elements(expr).iter().map(suite).collect::<Option<_>>().unwrap_or_default()
}

/// The fields of the record in `test::NAME({…})`.
fn fields_of_call<'e>(expr: &'e Expr, name: &str) -> Option<&'e [(StringLit, Expr)]> {
    let ExprKind::Call(path, arguments) = &plain(expr).kind else { return None };
    let (last, [argument]) = (path.segments.last()?, arguments.as_slice()) else { return None };
    match &plain(argument).kind {
        ExprKind::Record(fields) if last.text == name => Some(fields),
        _ => None,
    }
}

/// An expression without the path around it that only holds it.
fn plain(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Path(path) if path.segments.is_empty() => match &path.root {
            PathRoot::Expr(inner) => plain(inner),
            _ => expr,
        },
        ExprKind::Paren(inner) => plain(inner),
        _ => expr,
    }
}

fn field<'f>(fields: &'f [(StringLit, Expr)], name: &str) -> Option<&'f Expr> {
    fields.iter().find(|(key, _)| key.constant() == Some(name)).map(|(_, value)| value)
}

/// The elements of an array literal; any other expression stands for itself.
fn elements(expr: &Expr) -> &[Expr] {
    match &plain(expr).kind {
        ExprKind::List(elements) => elements,
        _ => std::slice::from_ref(expr),
    }
}

/// Evaluates parts of a script with the definitions of the whole.
struct Runner<'r> {
    compiler: Compiler<'r>,
    definitions: Script,
    /// What the tests know besides their own text.
    facts: Facts,
}

impl Runner<'_> {
    fn suite(
        &mut self,
        file: &Path,
        fields: &[(StringLit, Expr)],
    ) -> Result<Option<Suite>, String> {
        let Some(tags) = field(fields, "tags") else { return Ok(None) };
        let tags = self.strings(tags)?;
        let name = match field(fields, "name") {
            Some(name) => self.text(name)?,
            None => file.display().to_string(),
        };
        let mut tests = Vec::new();
        for test in field(fields, "tests").map(elements).unwrap_or_default() {
            tests.push(self.test(test)?);
        }
        Ok(Some(Suite { name, tags, tests }))
    }

    fn test(&mut self, test: &Expr) -> Result<UnitTest, String> {
        let line = self.compiler.sources.position(test.span).line;
        let Some(fields) = fields_of_call(test, "test") else {
            let result = self.assert(test).unwrap_or_else(Err);
            return Ok(UnitTest { name: format!("line {line}"), line, result });
        };
        let name = match field(fields, "name") {
            Some(name) => self.text(name)?,
            None => format!("line {line}"),
        };
        let mut result = Ok(());
        let asserts = field(fields, "test").map(elements).unwrap_or_default();
        if asserts.is_empty() {
            result = Err("the test asserts nothing: give it a field `test`".to_string());
        }
        for assert in asserts {
            // What cannot be compiled in one test is no matter of the others.
            result = result.and(self.assert(assert).unwrap_or_else(Err));
        }
        Ok(UnitTest { name, line, result })
    }

    /// `true` passes; `[expected, got]` and anything else fails.
    fn assert(&mut self, expr: &Expr) -> Result<Result<(), String>, String> {
        self.evaluate(expr, |result, arena| {
            let value = match result {
                Ok(Value::Bool(true)) => return Ok(()),
                Ok(value) => value,
                Err(message) => return Err(message),
            };
            match value.as_array(arena) {
                Some([expected, got]) => {
                    Err(format!("expected {}\n     got {}", to_json(*expected), to_json(*got)))
                }
                _ => Err(format!("expected true\n     got {}", to_json(value))),
            }
        })
    }

    fn text(&mut self, expr: &Expr) -> Result<String, String> {
        self.evaluate(expr, |result, _| {
            result.map(|value| value.as_str().map_or_else(|| to_json(value), str::to_string))
        })?
    }

    fn strings(&mut self, expr: &Expr) -> Result<Vec<String>, String> {
        self.evaluate(expr, |result, arena| {
            let array = result?.as_array(arena).unwrap_or_default();
            Ok(array.iter().filter_map(|tag| tag.as_str()).map(str::to_string).collect())
        })?
    }

    /// The value of an expression, or why there is none. The outer error is a diagnostic.
    fn evaluate<T>(
        &mut self,
        expr: &Expr,
        take: impl FnOnce(Result<Value<'_>, String>, &Arena) -> T,
    ) -> Result<T, String> {
        let mut tree = self.definitions.clone();
        tree.items.push(Item::Expr(expr.clone()));
        let script = self.compiler.lower_script(&tree, Scope::default(), Rules::SCRIPT, None);
        if self.compiler.has_errors() {
            let errors: Vec<_> = std::mem::take(&mut self.compiler.diagnostics)
                .into_iter()
                .filter(|one| one.severity == Severity::Error)
                .collect();
            return Err(render_all(&errors, &self.compiler.sources, Colour::Off));
        }
        self.compiler.diagnostics.clear();
        let (arena, mut state) = (Arena::new(), Owned::Null);
        let meta = arena.record_builder(0).finish();
        let mut context = Context::new(&arena, &self.facts, Value::Null, meta, &mut state);
        let value = match script.run(&mut context) {
            Ok(Outcome::Emit { value, .. }) => Ok(value),
            Ok(Outcome::Drop) => Err("the test dropped its event".to_string()),
            Err(error) => Err(temblor_pipeline::pipeline::describe(&self.compiler.sources, &error)),
        };
        Ok(take(value, &arena))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_pipeline::lookup::{Lookup, Matching};

    const SUITE: &str = r#"use std::test;
use std::string;
const TWO = 2;
test::suite({
  "name": "strings",
  "tags": ["unit"],
  "tests": [
    test::test({"name": "len", "test": test::assert("two", TWO, string::len("ab"))}),
    test::test({"name": "wrong", "test": test::assert("two", 3, string::len("ab"))}),
    test::test({"name": "fails", "test": test::assert("x", 1, 1 / event.zero)}),
    test::test({"name": "many", "test": [test::assert("a", 1, 1), test::assert("b", 1, 1)]}),
    test::test({"name": "one of many", "test": [test::assert("a", 1, 1), test::assert("b", 1, 2)]})
  ]
});
"#;

    #[test]
    fn each_test_has_its_result() {
        let suite = run(Path::new("s.tremor"), SUITE, None, None).expect("it compiles").remove(0);
        let results: Vec<_> =
            suite.tests.iter().map(|test| (test.name.as_str(), test.result.is_ok())).collect();
        let expected = [
            ("len", true),
            ("wrong", false),
            ("fails", false),
            ("many", true),
            ("one of many", false),
        ];
        assert_eq!(results, expected);
        assert_eq!(suite.tests[1].result.clone().unwrap_err(), "expected 3\n     got 2");
        assert_eq!((suite.name.as_str(), suite.tags), ("strings", vec!["unit".to_string()]));
        assert_eq!(suite.tests[0].line, 8);
    }

    #[test]
    fn tests_may_ask_the_tables_that_are_given() {
        let text = r#"use std::test;
use std::lookup;
test::suite({"name": "tables", "tags": [], "tests": [
  test::test({"name": "asks", "test": test::assert("a", {"value": "b"}, lookup::get("hosts", "a"))})
]});
"#;
        let hosts = Lookup::of_record(r#"{"a": "b"}"#, Matching::Exact).expect("it is a table");
        let mut tables = NamedTables::default();
        tables.insert("hosts", hosts);
        for (tables, passes) in [(Some(&tables), true), (None, false)] {
            let suite = run(Path::new("s.tremor"), text, tables, None).expect("it compiles");
            let result = &suite[0].tests[0].result;
            assert_eq!(result.is_ok(), passes, "{result:?}");
        }
    }

    #[test]
    fn what_is_no_suite_is_left_alone() {
        let run = |text: &str| run(Path::new("s.tremor"), text, None, None).expect("it compiles");
        assert!(run("event").is_empty());
        assert!(run("use std::test;\ntest::suite({\"name\": \"x\"})").is_empty());
    }

    #[test]
    fn all_suites_of_a_script_run() {
        let one = |name: &str, got: u8| {
            format!(
                "test::suite({{\"name\": \"{name}\", \"tags\": [], \"tests\": \
                 [test::test({{\"name\": \"t\", \"test\": test::assert(\"a\", 1, A + {got})}})]}})"
            )
        };
        let text = format!(
            "use std::test;\nconst A = 1;\n{};\n[{}, {}];\n{{\"other\": true}}",
            one("first", 0),
            one("second", 1),
            one("third", 0)
        );
        let suites = run(Path::new("s.tremor"), &text, None, None).expect("it compiles");
        let results: Vec<_> =
            suites.iter().map(|one| (one.name.as_str(), one.tests[0].result.is_ok())).collect();
        assert_eq!(results, [("first", true), ("second", false), ("third", true)]);
    }

    #[test]
    fn errors_are_diagnostics() {
        let text =
            "use std::test;\nconst A = 1 + \"x\";\ntest::suite({\"tags\": [], \"tests\": []})";
        let error = super::run(Path::new("s.tremor"), text, None, None).unwrap_err();
        assert!(error.contains("s.tremor:2:"), "{error}");
        // What is wrong with one test hides no other.
        let text = "use std::test;\ntest::suite({\"tags\": [], \"tests\": [test::asert(1),\n\
                    test::assert(\"x\", 1, 1)]})";
        let mut suites = super::run(Path::new("s.tremor"), text, None, None).expect("it is read");
        let tests = suites.remove(0).tests;
        let error = tests[0].result.clone().unwrap_err();
        assert!(error.contains("s.tremor:2:"), "{error}");
        assert_eq!(tests[1].result, Ok(()));
    }
}
