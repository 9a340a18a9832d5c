//! A `match` takes the same arm and gives the same result, whether its test literals are asked one
//! by one or in one look-up.

use temblor_lang::builtin::{Aggregate, ExtractorKind, Facts, Function, Registry};
use temblor_lang::diagnostic::Severity;
use temblor_lang::lower::{Compiler, NoModules, Rules, Scope};
use temblor_lang::program::Script;
use temblor_lang::random::Random;
use temblor_lang::run::{Context, Outcome};
use temblor_lang::syntax;
use temblor_lang::value::{Arena, Owned, Value, to_json};
use temblor_stdlib::registry;

/// The standard library without look-ups.
#[derive(Debug)]
struct OneByOne;

impl Registry for OneByOne {
    fn function(&self, path: &str) -> Option<&'static Function> {
        registry().function(path)
    }
    fn aggregate(&self, path: &str) -> Option<&'static Aggregate> {
        registry().aggregate(path)
    }
    fn extractor(&self, name: &str) -> Option<&'static ExtractorKind> {
        registry().extractor(name)
    }
    fn module(&self, path: &str) -> Option<&'static str> {
        registry().module(path)
    }
    fn function_paths(&self) -> Vec<&'static str> {
        registry().function_paths()
    }
    fn aggregate_paths(&self) -> Vec<&'static str> {
        registry().aggregate_paths()
    }
    fn extractor_names(&self) -> Vec<&'static str> {
        registry().extractor_names()
    }
    fn module_paths(&self) -> Vec<&'static str> {
        registry().module_paths()
    }
}

fn compile(text: &str, registry: &dyn Registry) -> Script {
    let mut compiler = Compiler::new(registry, &NoModules);
    let source = compiler.sources.add("test", text);
    let parsed = syntax::parse_script(&compiler.sources, source);
    compiler.diagnostics.extend(parsed.diagnostics);
    let script = compiler.lower_script(&parsed.tree, Scope::default(), Rules::SCRIPT, None);
    let errors: Vec<_> =
        compiler.diagnostics.iter().filter(|one| one.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{text}\n{errors:#?}");
    script
}

fn run<'a>(script: &'a Script, event: Value<'a>, arena: &'a Arena) -> String {
    let facts = Facts::default();
    let facts = arena.bump().alloc(facts);
    let mut state = Owned::default();
    let mut context = Context::new(arena, facts, event, Value::Null, &mut state);
    match script.run(&mut context) {
        Ok(Outcome::Emit { value, .. }) => to_json(value),
        Ok(Outcome::Drop) => "drop".to_string(),
        Err(error) => error.to_string(),
    }
}

/// Small numbers that only depend on the seed.
struct Chance(Random);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0.index(limit)
    }

    fn one_of<'t>(&mut self, choices: &[&'t str]) -> &'t str {
        choices[self.below(choices.len())]
    }
}

const TESTS: [&[&str]; 3] = [
    &["cidr|10.0.0.0/8|", "cidr|10.1.0.0/16|", "cidr||", "CIDR|0.0.0.0/0|", "cidr|10.1.2.3|"],
    &["glob|10.*|", "glob|*.3|", "glob|a|", "glob|1?.*|", "glob|[ab]|", "glob|*|"],
    &["re|^10|", "re|(?P<last>[0-9]+)$|", "re|a|", "re|b+|", "re|\\\\.1\\\\.|", "re|x|"],
];
const TEXTS: [&str; 9] = ["10.1.2.3", "10.9.9.9", "9.1.2.3", "a", "b", "ab", "x.3", "", "::1"];

fn pattern(kind: usize, field: &str, chance: &mut Chance) -> String {
    let test = chance.one_of(TESTS[kind]);
    match (field, chance.below(4)) {
        ("", _) => format!("~ {test}"),
        (field, 0) => format!("%{{ present {field}, {field} ~= {test} }}"),
        (field, 1) => format!("%{{ absent c, {field} ~= {test}, d == 1 }}"),
        (field, 2) => format!("%{{ d > 0, {field} ~= {test} }}"),
        (field, _) => format!("%{{ {field} ~= {test} }}"),
    }
}

fn arms(chance: &mut Chance) -> String {
    let mut arms = String::new();
    let whole = chance.below(2) == 0;
    for number in 0..1 + chance.below(30) {
        // Runs of one kind with something else in between.
        let kind = number / 7 % TESTS.len();
        let field = match (whole, chance.below(10)) {
            (true, _) => "",
            (false, 0) => "b",
            (false, _) => "a",
        };
        let bind = if chance.below(4) == 0 { "got = " } else { "" };
        let guard = match chance.below(6) {
            0 => " when false",
            1 if !whole => " when event.d == 1",
            2 if chance.below(20) == 0 => " when event.d + \"x\"",
            _ => "",
        };
        let got = if bind.is_empty() { "0" } else { "got" };
        let pattern = if chance.below(12) == 0 && whole {
            format!("\"{}\"", chance.one_of(&TEXTS))
        } else {
            pattern(kind, field, chance)
        };
        arms.push_str(&format!("case {bind}{pattern}{guard} => [{number}, {got}]\n"));
    }
    arms
}

#[test]
fn the_same_arm_is_taken() {
    let mut taken = std::collections::BTreeSet::new();
    for seed in 0..300 {
        let mut chance = Chance(Random::seeded(seed));
        let text = format!("match event of\n{}case _ => \"none\"\nend", arms(&mut chance));
        let (one_by_one, many) = (compile(&text, &OneByOne), compile(&text, registry()));
        for _ in 0..40 {
            let arena = Arena::new();
            let text_of = |chance: &mut Chance| Value::Str(chance.one_of(&TEXTS));
            let mut record = arena.record_builder(3);
            record.insert("a", text_of(&mut chance));
            record.insert("b", text_of(&mut chance));
            record.insert(chance.one_of(&["c", "d", "e"]), Value::UInt(chance.below(2) as u64));
            let event = match chance.below(3) {
                0 => record.finish(),
                1 => Value::UInt(1),
                _ => text_of(&mut chance),
            };
            let event = if text.contains("%{") && chance.below(8) > 0 {
                let mut record = arena.record_builder(2);
                record.insert("a", text_of(&mut chance));
                record.insert("d", Value::UInt(1));
                record.finish()
            } else {
                event
            };
            let expected = run(&one_by_one, event, &arena);
            assert_eq!(run(&many, event, &arena), expected, "{text}\n{}", to_json(event));
            taken.insert(expected);
        }
    }
    assert!(taken.len() > 60, "only {} results", taken.len());
}
