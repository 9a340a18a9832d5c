//! Texts that nobody means well with: deep, long and random ones.

use super::{parse_deploy, parse_program, parse_query, parse_script, parsed};
use crate::diagnostic::codes;
use std::time::{Duration, Instant};

/// What a debug build may take for 100 KB; a release build takes some ten milliseconds.
const TIME_MAX: Duration = Duration::from_secs(10);

/// A stack as small as that of a spawned thread.
fn on_small_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(test);
    thread.expect("a thread starts").join().expect("the test passes");
}

fn nested(open: &str, middle: &str, close: &str, levels: usize) -> String {
    format!("{}{middle}{}", open.repeat(levels), close.repeat(levels))
}

const FORMS: &[(&str, &str, &str)] = &[
    ("(", "1", ")"),
    ("[", "1", "]"),
    ("{\"a\": ", "1", "}"),
    ("f(", "1", ")"),
    ("x[", "1", "]"),
    ("if(", "1", ")"),
    ("if a then ", "1", " end"),
    ("match ", "1", " of case _ => 1 end"),
    ("match 1 of case _ => ", "1", " end"),
    ("(match 1 of case _ => ", "1", " end)"),
    ("for 1 of case (a, b) => ", "1", " end"),
    ("merge ", "1", " of 2 end"),
    ("patch event of insert \"a\" => ", "1", " end"),
    ("\"#{", "1", "}\""),
    ("\"#{(match 1 of case _ => ", "1", " end)}\""),
    ("let a = ", "1", ""),
    ("match 1 of case %{ a ~= %[", "1", "]} => 1 end"),
    ("not ", "true", ""),
    ("- ", "1", ""),
    ("1 + ", "1", ""),
    ("(1 + ", "1", ")"),
    ("<< (", "1", ") >>"),
];

#[test]
fn deep_texts_are_read_or_refused() {
    on_small_stack(|| {
        for (open, middle, close) in FORMS {
            for levels in [20, 60, 100, 126, 127, 128, 600, 20_000] {
                let text = nested(open, middle, close, levels);
                let (tree, diagnostics) = parsed(&text, parse_script);
                if levels == 20 || (levels <= 126 && open.len() <= 2) {
                    assert!(diagnostics.is_empty(), "{open} {levels} {diagnostics:?}");
                }
                if levels == 20_000 {
                    assert!(diagnostics.iter().any(|one| one.code == codes::TOO_DEEP), "{open}");
                }
                drop(tree);
                parsed(&text[..text.len() - close.len()], parse_script);
                parsed(&nested(open, "", "", levels), parse_script);
            }
        }
    });
}

#[test]
fn long_texts_take_time_in_proportion() {
    let lines = [
        "let event.a = 1 + 2 * event.b;\n",
        "match event of case %{ a == 1 } => 2 case _ => 3 end;\n",
        "let x = \"a #{event.b} c\";\n",
        "let x = 5 +;\n",
        "match event of case => 2 end;\n",
        "\"\n",
        "a # b\n",
        "((((\n",
        "))))\n",
    ];
    for line in lines {
        let text = line.repeat(100_000 / line.len()) + "event";
        let start = Instant::now();
        parsed(&text, parse_script);
        parsed(&text, parse_program);
        assert!(start.elapsed() < TIME_MAX * 2, "{line} {:?}", start.elapsed());
    }
}

const SOUP: &[&str] = &[
    "match ",
    "of ",
    "case ",
    "=>",
    " end ",
    ";",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "\"\"\"\n",
    "#{",
    "%{",
    "%[",
    "%(",
    "~",
    "~=",
    "|",
    "|>",
    "re|a|",
    "event",
    ".a",
    "$",
    "_",
    "x",
    "1",
    "1.5",
    "10s",
    " let ",
    "=",
    "==",
    " and ",
    " or ",
    " not ",
    "-",
    "+",
    "%",
    "<<",
    ">>",
    ":",
    "::",
    ",",
    "if ",
    " then ",
    " else ",
    "fn ",
    "with ",
    "use ",
    "const ",
    "emit ",
    "drop ",
    "for ",
    "into ",
    "patch ",
    "merge ",
    "insert ",
    "define ",
    "script ",
    "pipeline ",
    "select ",
    "from ",
    "where ",
    "group by ",
    "create ",
    "stream ",
    "connect ",
    "/connector/",
    "flow ",
    "deploy ",
    "route ",
    "set ",
    "# c\n",
    "## d\n",
    "### m\n",
    "#!config ",
    "\\",
    "`",
    "`q`",
    "r\"",
    "r#\"",
    "\n",
    "é",
    "\u{1a}",
    "\0",
    "'",
    "??",
    "...",
    "\u{feff}",
];

/// A small generator of numbers (xorshift64*, Vigna 2016), so that runs repeat.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(high).unwrap_or(0) % limit
    }
}

fn read_as_everything(text: &str) {
    parsed(text, parse_script);
    parsed(text, parse_query);
    parsed(text, parse_deploy);
    let (_, diagnostics) = parsed(text, parse_program);
    for one in diagnostics {
        assert!(text.get(one.span.range()).is_some(), "{one:?} is not in the text {text:?}");
    }
}

#[test]
fn token_soup_never_panics() {
    on_small_stack(|| {
        let mut random = Random(7);
        for _ in 0..1500 {
            let len = random.below(40) + 1;
            let text: String = (0..len).map(|_| SOUP[random.below(SOUP.len())]).collect();
            read_as_everything(&text);
        }
    });
}

#[test]
fn random_characters_never_panic() {
    on_small_stack(|| {
        let mut random = Random(11);
        for _ in 0..500 {
            let len = random.below(60);
            let bytes: Vec<u8> =
                (0..len).map(|_| u8::try_from(random.below(256)).unwrap_or(0)).collect();
            read_as_everything(&String::from_utf8_lossy(&bytes));
        }
    });
}
