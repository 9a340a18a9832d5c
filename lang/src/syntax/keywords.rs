//! The words of the language, each with a sentence on what it does: for editors and their grammars.
//! Every reserved word is in the table, and every word that means something at certain places only.

/// Words and what they do, sorted by word.
pub const KEYWORDS: &[(&str, &str)] = &[
    ("absent", "`absent event.a` is true when there is no such field; in a pattern, `absent a`."),
    ("and", "`a and b`: true when both are. The right side is only evaluated when it matters."),
    ("args", "The arguments of the definition around; in front of a body, their declarations."),
    ("as", "`use a::b as c` gives a module another name in this text."),
    ("by", "`group by event.a` keeps events with different keys apart; `dedup by event.a`."),
    ("case", "`case pattern when guard => …`: an arm of `match`, `for`, `fn` or `route`."),
    (
        "connect",
        "`connect /connector/a/out to /pipeline/b/in` lets events go from one to the other.",
    ),
    ("connector", "`define connector` and `create connector`: a source or sink of a flow."),
    ("const", "`const LIMIT = 5;` names a value that is computed once, before the first event."),
    ("copy", "`copy \"a\" => \"b\"` in a `patch`: the field `b` gets the value of `a`."),
    ("create", "`create script s from d with … end` makes an instance of a definition."),
    (
        "default",
        "`default \"a\" => 1` in a `patch` sets what is missing; in `route`, the last arm.",
    ),
    ("define", "`define script | operator | window | pipeline | connector | flow name …`"),
    ("deploy", "`deploy flow f from d with … end` starts a flow."),
    ("do", "`when condition do … end` in a chain: steps for the events that fulfil it."),
    ("drop", "Leaves the event out: nothing behind it runs. Also a step of a chain."),
    ("each", "`group by each(event.list)`: a group for each element."),
    ("elif", "`if a then … elif b then … else … end`: another condition."),
    ("else", "The other side of an `if`; in a chain, where events go that a step sorts out."),
    ("emit", "`emit value => \"port\"` ends the script; the value leaves on the port."),
    ("end", "Ends what `match`, `for`, `fn`, `patch`, `merge`, `if`, `define`, `with` … began."),
    ("erase", "`erase \"a\"` in a `patch` removes the field."),
    ("event", "The event that is looked at. `event.a.b` is a field of it."),
    ("false", "The value false."),
    ("flow", "`define flow f flow … end`: connectors and pipelines that belong together."),
    ("fn", "`fn f(a, b) with … end` or `fn f(a) of case (p) => … case _ => … end`."),
    ("for", "`for event.list of case (index, value) => … end` gives a list of what the arms give."),
    ("from", "Where events come from; of what a definition is made."),
    ("group", "The key of the group in a windowed `select`, as a list; `group by …`."),
    ("having", "`having condition` filters what a `select` gives."),
    ("if", "`if condition then … else … end`; without `else` its value is null."),
    ("insert", "`insert \"a\" => 1` in a `patch`: fails when the field is there."),
    ("into", "Where events or results go."),
    ("intrinsic", "`intrinsic fn f(a) as string::len;` gives a built-in function a name."),
    ("let", "`let x = …`, `let event.a = …`, `let $m = …`, `let state.n = …` assign."),
    (
        "match",
        "`match value of case pattern => … case _ => … end`: the first arm that matches. In a \
         chain the arms are steps, and `default => …` takes the rest.",
    ),
    ("merge", "`merge a of b end`: `a` with the fields of `b`; null removes a field."),
    ("mod", "Reserved."),
    ("move", "`move \"a\" => \"b\"` in a `patch` renames a field."),
    ("not", "`not a`: true when `a` is false."),
    ("null", "The value null."),
    ("of", "Stands between what is looked at and the arms."),
    ("operator", "`define operator o from generic::batch with … end`."),
    ("or", "`a or b`: true when one is. The right side is only evaluated when it matters."),
    (
        "over",
        "`select … over window` in a chain: the window that aggregates work on; behind it, `on event.time late 10s`.",
    ),
    ("patch", "`patch event of insert \"a\" => 1; erase \"b\" end`: a changed copy of a record."),
    ("pipeline", "`define pipeline p from in into out pipeline … end`."),
    ("present", "`present event.a` is true when there is such a field; in a pattern, `present a`."),
    ("recur", "`recur(a, b)` at the end of a function: runs it again with other arguments."),
    ("route", "`route case condition => port … default => port end`: one way for each event."),
    ("script", "`script … end` in a chain; `define script s script … end`."),
    ("select", "`select value from stream where … group by … into stream having …`."),
    ("set", "`set event.a = 1` in a chain; `group by set(a, b)`: a key of several parts."),
    ("sink", "`sink name into file \"x\"`: where the events of an output port go."),
    ("sliding", "`define window w from sliding with … end`: windows that overlap."),
    ("source", "`source name from file \"x\"`: where the events of a stream come from."),
    ("state", "What a script remembers from event to event; in front of a body, its start."),
    ("stream", "`create stream s;` makes a name that selects write into and read from."),
    ("table", "`table name from file \"x.csv\"`: what `lookup::get` and its like look into."),
    ("then", "Stands between a condition and what it leads to."),
    ("to", "Stands between the two ends of `connect`."),
    ("true", "The value true."),
    ("tumbling", "`define window w from tumbling with … end`: windows one after the other."),
    ("update", "`update \"a\" => 1` in a `patch`: fails when the field is not there."),
    ("upsert", "`upsert \"a\" => 1` in a `patch` sets the field, whether it is there or not."),
    ("use", "`use std::string;` makes the functions of a module known as `string::…`."),
    (
        "when",
        "`case pattern when condition => …`: the arm takes only what fulfils it. In a chain, `when \
         condition do … else … end`: other steps for some events.",
    ),
    ("where", "`where condition` lets through the events that fulfil it."),
    ("window", "`define window w from tumbling with … end`; in its `select`, facts about it."),
    ("with", "`with a = 1, b = 2 end` gives settings or arguments; `fn f() with … end`."),
    ("xor", "`a xor b`: true when exactly one is."),
];

#[cfg(test)]
mod tests {
    use super::super::RESERVED;
    use super::KEYWORDS;

    #[test]
    fn every_reserved_word_is_explained_once() {
        let words: Vec<_> = KEYWORDS.iter().map(|(word, _)| *word).collect();
        assert!(words.is_sorted(), "sort the table");
        let mut unique = words.clone();
        unique.dedup();
        assert_eq!(words, unique);
        let missing: Vec<_> = RESERVED.iter().filter(|word| !words.contains(word)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
