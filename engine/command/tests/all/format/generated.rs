//! The formatter over programs that nobody wrote: each construct of the grammar, nested in each other at
//! random, with comments and blanks wherever there is room.

use super::{comments, meaning};
use std::collections::{BTreeMap, BTreeSet};
use temblor_lang::random::Random;
use temblor_lang::syntax::{TextKind, TokenClass, classes, format};

/// Programs of each kind.
const ROUNDS: usize = 300;
/// Deeper than this, each rule gives its first, plain form.
const DEPTH_MAX: usize = 5;

/// The forms of each rule; `<rule>` stands for one of its forms.
const RULES: &[(&str, &[&str])] = &[
    ("name", &["a", "b1", "long_name_of_something", "`two words`", "ü"]),
    ("module", &["std::string", "my::tools", "m"]),
    (
        "value",
        &[
            "event.a",
            "1",
            "1.5e3",
            "10s",
            "5MiB",
            "0xff",
            "true",
            "null",
            "x",
            "$meta",
            "$",
            "state.n",
            "args.limit",
            "event[\"k\"]",
            "event.list[0]",
            "event.list[1:2]",
            "m::CONST",
            "<string>",
            "[<expr>, <expr>]",
            "[]",
            "{}",
            "{\"k\": <expr>, \"#{x}\": <expr>,}",
            "(<expr>)",
            "(<expr>).f",
            "f(<expr>)",
            "string::len(<expr>)[0]",
            "present event.a",
            "absent event.a.b",
            "<bytes>",
            "recur(<expr>)",
            "<patch>",
            "merge <expr> of <expr> end",
            "- <value>",
            "not <value>",
            "!<value>",
        ],
    ),
    (
        "string",
        &[
            "\"text\"",
            "\"a #{<expr>} b\"",
            "\"\"\"\n  doc\n    in\n  \"\"\"",
            "r\"raw\\\"",
            "\"\\\"\\u0041\"",
            "\"\"",
        ],
    ),
    ("bytes", &["<<>>", "<< 1:4/little, <value>/binary >>"]),
    (
        "operator",
        &[
            "+", "-", "*", "/", "%", "and", "or", "xor", "==", "!=", ">=", ">", "<=", "<", ">>",
            ">>>", "<<", "&", "^", "??",
        ],
    ),
    (
        "expr",
        &[
            "<value>",
            "<value> <operator> <value>",
            "<value> <operator> <expr>",
            "<match>",
            "<for>",
            "<if>",
        ],
    ),
    (
        "patch",
        &[
            "patch <expr> of erase \"a\" end",
            "patch <expr> of insert \"a\" => <expr>; upsert \"b\" => <expr>; update \"c\" => 1; move \"a\" => \"b\"; copy \"a\" => \"b\"; merge \"m\" => {}; merge => {}; default \"d\" => 1; default => {} end",
        ],
    ),
    ("test", &["re|a(?P<b>\\|c)|", "json||", "glob|*.x|", "grok|%{IP:ip}|"]),
    (
        "pattern",
        &[
            "_",
            "<value>",
            "~ <test>",
            "%{}",
            "%{present a, absent b, c == <value>, d ~= <test>, e ~= %{ present f }}",
            "%[1, _, ~ <test>]",
            "%(1, %{ a > 2 }, ...)",
            "y = %{ b != 1 }",
            "%{ q = a ~= <test> }",
            "\"k\"",
        ],
    ),
    ("guard", &["", " when <expr>"]),
    ("block", &["<expr>", "<statement>; <expr>", "<statement>; <statement>; <expr>"]),
    ("match", &["match <expr> of case <pattern><guard> => <expr> case _ => <expr> end"]),
    (
        "for",
        &[
            "for <expr> of case (i, e)<guard> => <expr> end",
            "for <expr> of case (i, e) => <expr> into <value> use + end",
        ],
    ),
    (
        "if",
        &[
            "if <value> then <expr> else <expr> end",
            "if <value> then <expr> elif <value> then <expr> end",
        ],
    ),
    (
        "statement",
        &[
            "let <name> = <expr>",
            "let event.a = <expr>",
            "let $meta.b = <expr>",
            "drop",
            "emit",
            "emit <expr>",
            "emit <expr> => \"port\"",
            "match <expr> of case <pattern><guard> => <block> case _ => <block> end",
            "for <expr> of case (i, e)<guard> => <block> end",
            "if <value> then <block> else <block> end",
            "<expr>",
        ],
    ),
    ("use", &["use <module>", "use <module> as z", "use std::{string, array as r}"]),
    ("const", &["const A = <expr>", "## Said.\nconst B = 1"]),
    (
        "function",
        &[
            "fn f(a, b) with <block> end",
            "fn g() with <block> end",
            "fn h(a, ...) with <block>; end",
            "## Doc.\n## More.\nfn k(a) of case (<expr>)<guard> => <block> case _ => <block> end",
            "intrinsic fn len(a) as string::len",
        ],
    ),
    ("item", &["<statement>", "<use>", "<const>", "<function>", "<statement>"]),
    ("script", &["<item>;\n<item>", "<item>", "### Module.\n<item>;\n<item>;\n<item>;"]),
    ("body", &["<statement>", "<statement>; <statement>", "<const>; <statement>"]),
    ("list", &["a = <value>", "a = <value>, `b c` = <value>,"]),
    ("with", &["", " with <list> end"]),
    ("args", &["", " args limit", " args limit = <value>, other"]),
    (
        "define",
        &[
            "define operator o from generic::batch<args><with>",
            "define window w from tumbling with <list> end",
            "define window w from sliding with <list> state {} script from tick <body> script <body> end",
            "define script s<args> script <body> end",
            "## S.\ndefine script s<args> state <value> script from side <body> script <body> end",
            "define pipeline p<args> pipeline <query> end",
            "define pipeline p from a, b into c, d pipeline #!config trace = true\n<query> end",
            "define connector c from file<args><with>",
        ],
    ),
    (
        "create",
        &[
            "create stream <name>",
            "create script s",
            "create operator o from m::o<with>",
            "create pipeline p<with>",
        ],
    ),
    ("stream", &["in", "a", "s/err", "`two words`/out"]),
    ("where", &["", " where <expr>"]),
    (
        "by",
        &[
            "",
            " group by <value>",
            " group by set(<value>, each(<value>))",
            " group by each(<value>)",
        ],
    ),
    ("having", &["", " having <expr>"]),
    (
        "select",
        &[
            "select <expr> from <stream><where><by> into <stream><having>",
            "select <expr> from <stream>[w, m::v]<where> into <stream>",
        ],
    ),
    (
        "step",
        &[
            "where <value>",
            "set event.a = <expr>, $b = <expr>",
            "script <body> end",
            "dedup by <value> within 10s else bad",
            "route case <value> => a case <value> => b default => c end",
            "route all case <value> => a end",
            "select <expr> over tumbling 10s, w<where><by><having>",
            "select <expr> over [w]",
            "generic::batch with <list> end",
            "rate_limit 5 per 1s by <value>",
            "parse grok <string>",
            "sample 2",
            "drop",
            "out",
        ],
    ),
    (
        "chain",
        &[
            "in |> <step>",
            "<step>",
            "in |> <step> |> <step> |> out",
            "s/err |> <step> |> <step> |> <step>",
        ],
    ),
    ("queried", &["<use>", "<define>", "<create>", "<select>", "<chain>", "<select>"]),
    ("query", &["<queried>;\n<queried>", "<queried>", "<queried>; <queried>; <queried>;"]),
    (
        "place",
        &[
            "source a from file \"x\"<with>",
            "sink b into file \"x-#{$p}\"<with>",
            "table t from csv \"t.csv\"<with>",
            "source c from stdin",
            "sink d into null",
        ],
    ),
    ("programmed", &["<queried>", "<place>", "<chain>", "<const>", "<function>", "<deploy>"]),
    (
        "program",
        &[
            "<programmed>;\n<programmed>",
            "<programmed>",
            "<programmed>; <programmed>; <programmed>;",
        ],
    ),
    ("deploy", &["deploy flow f", "## D.\ndeploy flow f from m::g<with>"]),
    (
        "flowed",
        &[
            "<use>",
            "<define>",
            "create connector c from m::c<with>",
            "connect /connector/c/out to /pipeline/p/in",
            "connect /pipeline/p to /connector/c",
            "create pipeline p",
        ],
    ),
    (
        "deployed",
        &[
            "<deploy>",
            "<use>",
            "<define>",
            "define flow f<args> flow <flowed>; <flowed>; <flowed>; end",
        ],
    ),
    (
        "flows",
        &[
            "<deployed>;\n<deployed>",
            "### Flows.\n<deployed>; <deployed>;",
            "#!config a = 1\n<deployed>",
        ],
    ),
];

/// Texts, and the forms that were used in them.
struct Generator {
    numbers: Random,
    used: BTreeSet<&'static str>,
    /// How many programs hold each form so far.
    covered: BTreeMap<&'static str, usize>,
}

impl Generator {
    fn text(&mut self, rule: &str, depth: usize) -> String {
        let (_, forms) = RULES.iter().find(|(name, _)| *name == rule).expect("the rule is there");
        let mut rest = if depth > DEPTH_MAX { forms[0] } else { self.form(forms) };
        self.used.insert(rest);
        let mut text = String::new();
        while let Some((before, inner)) = rest.split_once('<') {
            text.push_str(before);
            match inner.split_once('>').filter(|(name, _)| RULES.iter().any(|one| one.0 == *name)) {
                Some((name, behind)) => {
                    text.push_str(&self.text(name, depth + 1));
                    rest = behind;
                }
                None => {
                    text.push('<');
                    rest = inner;
                }
            }
        }
        text + rest
    }

    /// The rarer of two forms, so that none is left out for long.
    fn form(&mut self, forms: &[&'static str]) -> &'static str {
        let pair = [0, 1].map(|_| forms[self.numbers.index(forms.len())]);
        let times = |form: &&str| self.covered.get(form).copied().unwrap_or(0);
        if times(&pair[0]) <= times(&pair[1]) { pair[0] } else { pair[1] }
    }

    /// The text with other blanks between its tokens, and comments of their own numbers.
    fn spaced(&mut self, text: &str) -> String {
        let mut spaced = String::new();
        for (start, end, class) in classes(text) {
            let piece = &text[start..end];
            match (class, self.numbers.index(8)) {
                (TokenClass::Blank, 0) => spaced.push_str("\n\n\n"),
                (TokenClass::Blank, 1) => spaced.push_str("\r\n\t"),
                (TokenClass::Blank, 2) => {
                    spaced.push_str(&format!("  # note {} \n", self.numbers.index(1_000)));
                }
                (TokenClass::Blank, 3) => {
                    spaced.push_str(&format!("\n# one {start}\n\n  #two\n"));
                }
                _ => spaced.push_str(piece),
            }
        }
        spaced
    }
}

#[test]
fn every_construct_keeps_its_meaning() {
    let numbers = Random::seeded(1);
    let mut generator = Generator { numbers, used: BTreeSet::new(), covered: BTreeMap::new() };
    for (rule, kind) in [
        ("script", TextKind::Script),
        ("query", TextKind::Query),
        ("program", TextKind::Program),
        ("flows", TextKind::Deploy),
    ] {
        let mut formatted_count = 0;
        for _ in 0..ROUNDS {
            generator.used.clear();
            let plain = generator.text(rule, 0);
            let text = generator.spaced(&plain);
            // Some forms do not fit where chance put them.
            let Some(before) = meaning(&text, kind) else { continue };
            let formatted = format(&text, kind).expect("the text is good");
            assert_eq!(meaning(&formatted, kind), Some(before), "\n{text}\n---\n{formatted}");
            assert_eq!(comments(&formatted), comments(&text), "\n{text}\n---\n{formatted}");
            let again = format(&formatted, kind).expect("the text is good");
            assert_eq!(again, formatted, "\n{text}");
            formatted_count += 1;
            for form in &generator.used {
                *generator.covered.entry(form).or_default() += 1;
            }
        }
        assert!(formatted_count * 3 > ROUNDS * 2, "{rule}: only {formatted_count} are programs");
    }
    for (rule, forms) in RULES {
        let missing: Vec<_> =
            forms.iter().filter(|one| !generator.covered.contains_key(**one)).collect();
        assert!(missing.is_empty(), "{rule}: {missing:?}");
    }
}
