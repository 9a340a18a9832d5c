//! Whether a blank stands between two tokens of one line. Where the grammar alone could tell what a
//! sign means, the blanks of the writer decide.

use super::super::RESERVED;
use super::super::scan::{Kind, Scan};

/// Words that are values, though they are reserved.
const VALUES: [&str; 10] =
    ["event", "state", "args", "group", "window", "true", "false", "null", "end", "drop"];
/// Words that open a list in round brackets without a blank.
const CALLED: [&str; 4] = ["fn", "recur", "set", "each"];
/// Signs that stand between two operands.
const BETWEEN: [&str; 20] = [
    "=", "==", "!=", "<", ">", "<=", ">=", "+", "*", "^", "&", "%", ">>>", "=>", "|>", "??", "~=",
    "->", "<-", "~",
];

/// Whether a blank stands in front of the token `index`, which is not the first; `had` says whether
/// one stood there.
pub(crate) fn is_spaced(scan: &Scan<'_>, index: usize, had: bool) -> bool {
    let (left, right) = (scan.tokens[index - 1], scan.tokens[index]);
    let (before, after) = (scan.text(&left), scan.text(&right));
    let sign = |kind: Kind, text: &str, any: &[&str]| kind == Kind::Sign && any.contains(&text);
    if right.kind == Kind::Test || before.ends_with(' ') {
        return false;
    }
    if sign(right.kind, after, &[",", ";", ")", "]", "}", "::", "."])
        || sign(left.kind, before, &["(", "[", "{", "%{", "%[", "%(", "::", "."])
    {
        return false;
    }
    if sign(left.kind, before, &[",", ";"]) {
        return true;
    }
    if sign(right.kind, after, &["/", "<<", ">>"]) || sign(left.kind, before, &["/", "<<", ">>"]) {
        return had;
    }
    if sign(right.kind, after, &[":"]) {
        return false;
    }
    if sign(left.kind, before, &[":"]) {
        return is_field(scan, index - 1);
    }
    if sign(left.kind, before, &["-", "+", "!"]) && is_prefix(scan, index - 1) {
        return false;
    }
    if sign(left.kind, before, &["$"]) {
        return had;
    }
    if sign(right.kind, after, &["(", "["]) {
        return opens_apart(left.kind, before, after, had);
    }
    let both = sign(left.kind, before, &BETWEEN) || sign(right.kind, after, &BETWEEN);
    both || had || !(left.kind == Kind::Sign && right.kind == Kind::Sign)
}

/// Whether a blank stands in front of a bracket that opens.
fn opens_apart(kind: Kind, before: &str, bracket: &str, had: bool) -> bool {
    match kind {
        Kind::Word if CALLED.contains(&before) && bracket == "(" => false,
        Kind::Word if VALUES.contains(&before) => had && before == "end",
        Kind::Word if RESERVED.contains(&before) => true,
        // `over [w]` has a word of chains in front, `in[w]` a name.
        Kind::Word | Kind::Text | Kind::Number => had,
        Kind::Sign => !matches!(before, ")" | "]" | "}" | "!"),
        Kind::Test | Kind::Doc => true,
    }
}

/// Whether a colon stands behind the name of a field of a record.
fn is_field(scan: &Scan<'_>, colon: usize) -> bool {
    let token = scan.tokens[colon];
    let opener = scan.frames[token.frame].opener.map(|at| scan.text(&scan.tokens[at]));
    let name = colon.checked_sub(1).map(|at| scan.tokens[at]);
    opener == Some("{") && name.is_some_and(|name| scan.text(&name).ends_with('"'))
}

/// Whether a sign stands in front of its only operand.
fn is_prefix(scan: &Scan<'_>, index: usize) -> bool {
    let Some(before) = index.checked_sub(1).map(|at| scan.tokens[at]) else { return true };
    let text = scan.text(&before);
    match before.kind {
        Kind::Word => RESERVED.contains(&text) && !VALUES.contains(&text),
        Kind::Sign => !matches!(text, ")" | "]" | "}" | ">>"),
        Kind::Number | Kind::Text | Kind::Test => false,
        Kind::Doc => true,
    }
}
