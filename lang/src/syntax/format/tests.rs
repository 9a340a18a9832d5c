//! Every text that the parser accepts keeps its meaning and its comments, and stays as it is when
//! it is formatted again.

use super::super::scan::scan;
use super::super::tests::accept::{DEPLOYS, PROGRAMS, QUERIES, SCRIPTS};
use super::{Formatter, TextKind, format, meaning};
use crate::span::SourceId;

/// All texts of comments, without their layout.
fn comments(text: &str) -> Vec<String> {
    let scan = scan(text, SourceId::default());
    let mut end = 0;
    let mut found = Vec::new();
    for (start, next) in
        scan.tokens.iter().map(|one| (one.start, one.end)).chain([(text.len(), text.len())])
    {
        found.extend(text[end..start].lines().map(str::trim).map(str::to_string));
        end = next;
    }
    found.retain(|line| !line.is_empty() && line != "\u{feff}");
    found
}

fn check(texts: &[&str], kind: TextKind) {
    for text in texts {
        // Also with a comment at every place where a line ends.
        for text in [(*text).to_string(), text.replace('\n', " # note\n")] {
            let Ok(before) = meaning(&text, kind) else { continue };
            let formatted = Formatter::new(&scan(&text, SourceId::default())).run();
            let after = meaning(&formatted, kind)
                .unwrap_or_else(|errors| panic!("{text}\n---\n{formatted}\n{errors:#?}"));
            assert_eq!(before, after, "{text}\n---\n{formatted}");
            assert_eq!(comments(&text), comments(&formatted), "{text}\n---\n{formatted}");
            let again = Formatter::new(&scan(&formatted, SourceId::default())).run();
            assert_eq!(formatted, again, "{text}");
        }
    }
}

#[test]
fn every_accepted_text_keeps_its_meaning() {
    check(SCRIPTS, TextKind::Script);
    check(QUERIES, TextKind::Query);
    check(DEPLOYS, TextKind::Deploy);
    check(PROGRAMS, TextKind::Program);
}

fn becomes(kind: TextKind, text: &str, expected: &str) {
    assert_eq!(format(text, kind).expect("the text is good"), expected);
}

#[test]
fn scripts_stand_in_by_their_forms() {
    becomes(
        TextKind::Script,
        "# head\n\n\nuse std::string ;let x=match event.a of\ncase 1=>let y= -1;\ny+2 # why\n\n\
         # all others\ncase _=>{\"a\":[1,2],\n\"b\":x[1:2]} end;\n\n\n\nfn f(a,b) with a+b end; f ( 1,2 )",
        "# head\n\nuse std::string;\nlet x = match event.a of\n  case 1 => let y = -1;\n    y + 2 # why\n\n  \
         # all others\n  case _ => {\"a\": [1, 2],\n    \"b\": x[1:2]}\nend;\n\n\
         fn f(a, b) with a + b end;\nf (1, 2)\n",
    );
}

#[test]
fn queries_stand_in_by_their_clauses() {
    becomes(
        TextKind::Query,
        "define script s\nargs\na=1\nscript\nlet b=args.a;\nstate;\nb end;\ncreate script s\nwith a=2 end;\n\
         select event from in\n   where event.x>1\n into s;\nselect event from s into out",
        "define script s\nargs\n  a = 1\nscript\n  let b = args.a;\n  state;\n  b\nend;\ncreate script s\n\
         with a = 2 end;\nselect event from in\nwhere event.x > 1\ninto s;\nselect event from s into out\n",
    );
}

#[test]
fn chains_stand_in_by_their_steps() {
    becomes(
        TextKind::Program,
        "in\n  |> dedup by [event.a,event.b] within 10m else repeated\n|> route\ncase event.a>=5=>out\n\
         default=>bad end;",
        "in\n|> dedup by [event.a, event.b] within 10m else repeated\n|> route\n    case event.a >= 5 => out\n    \
         default => bad\n  end;\n",
    );
}

#[test]
fn texts_with_errors_are_refused() {
    assert!(format("let = 5", TextKind::Script).is_err());
}
