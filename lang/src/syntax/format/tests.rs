//! Every text that the parser accepts keeps its meaning and its comments, and stays as it is when
//! it is formatted again.

use super::super::scan::scan;
use super::super::tests::accept::{DEPLOYS, PROGRAMS, QUERIES, SCRIPTS};
use super::wrap::wrapped;
use super::{LINE_CHARS_MAX, TextKind, format, meaning};
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
        // Also with a comment at every place where a line ends, and all in one line; and narrower than
        // anybody writes.
        let variants =
            [(*text).to_string(), text.replace('\n', " # note\n"), text.replace('\n', " ")];
        for (text, width) in
            variants.iter().flat_map(|text| [(text, LINE_CHARS_MAX), (text, 40), (text, 12)])
        {
            let text = text.clone();
            let Ok(before) = meaning(&text, kind) else { continue };
            let formatted = wrapped(&scan(&text, SourceId::default()), width);
            let after = meaning(&formatted, kind)
                .unwrap_or_else(|errors| panic!("{text}\n---\n{formatted}\n{errors:#?}"));
            assert_eq!(before, after, "{text}\n---\n{formatted}");
            assert_eq!(comments(&text), comments(&formatted), "{text}\n---\n{formatted}");
            let again = wrapped(&scan(&formatted, SourceId::default()), width);
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
fn chains_in_steps_stand_in_by_their_arms() {
    becomes(
        TextKind::Program,
        "in |> when event.type == \"sshd\" do parse grok \"%{USER:user}\" else bad |> set event.a = 1 elif event.c do drop else set event.other = \"something\" end |> out",
        "in\n|> when event.type == \"sshd\" do\n    parse grok \"%{USER:user}\" else bad |> set event.a = 1\n  \
         elif event.c do\n    drop\n  else\n    set event.other = \"something\"\n  end\n|> out\n",
    );
    becomes(
        TextKind::Program,
        "in\n|> match event.type of\ncase \"nginx\" =>\nparse json\n|> set event.a=1\ncase ~ cidr|10.0.0.0/8| => drop\n\
         default =>\nwhen event.a do\nset event.b=1,\nevent.c=2\n# why\n|> set event.d=1\nelse\npass\nend\nend\n|> out;",
        "in\n|> match event.type of\n    case \"nginx\" =>\n      parse json\n      |> set event.a = 1\n    \
         case ~ cidr|10.0.0.0/8| => drop\n    default =>\n      when event.a do\n        set event.b = 1,\n          \
         event.c = 2\n        # why\n        |> set event.d = 1\n      else\n        pass\n      end\n  end\n|> out;\n",
    );
}

#[test]
fn texts_with_errors_are_refused() {
    assert!(format("let = 5", TextKind::Script).is_err());
}

#[test]
fn long_lines_are_broken_from_the_outside() {
    becomes(
        TextKind::Program,
        "in |> where event.a >= 500 and event.bbbbbbbbbbbbbbbbbbbbbbbbb == 1 |> dedup by event.request within 10s else repeated |> out",
        "in\n|> where event.a >= 500 and event.bbbbbbbbbbbbbbbbbbbbbbbbb == 1\n\
         |> dedup by event.request within 10s else repeated\n|> out\n",
    );
    becomes(
        TextKind::Script,
        "let x = {\"first\": event.first_field_name, \"second\": event.second_field_name, \"third\": [1, 2, 3], \"d\": 4};\nx",
        "let x = {\n  \"first\": event.first_field_name,\n  \"second\": event.second_field_name,\n  \
         \"third\": [1, 2, 3],\n  \"d\": 4\n};\nx\n",
    );
    becomes(
        TextKind::Script,
        "match event of case %{ present first_field } => event.first_field case %{ present second_field } => 2 case _ => drop end",
        "match event of\n  case %{present first_field} => event.first_field\n  \
         case %{present second_field} => 2\n  case _ => drop\nend\n",
    );
    becomes(
        TextKind::Query,
        "select {\"count\": aggr::stats::count(), \"host\": event.host_name} from in[window_of_ten] where event.a > 5 group by event.host_name into out",
        "select {\"count\": aggr::stats::count(), \"host\": event.host_name}\nfrom in[window_of_ten]\n\
         where event.a > 5\ngroup by event.host_name\ninto out\n",
    );
}

#[test]
fn long_conditions_are_broken_at_their_words_before_their_brackets() {
    becomes(
        TextKind::Program,
        "in |> where not (event.first_of_all == \"something\" or is_null(event.second_of_all) or event.third_of_all > 5) \
         and event.fourth_of_all == \"something else\" |> route case event.first_of_all == \"something\" or \
         strings::contains(event.second_of_all, \"something\") => first default => second end",
        "in\n|> where not (\n    event.first_of_all == \"something\" or is_null(event.second_of_all) or event.third_of_all > 5\n  )\n    \
         and event.fourth_of_all == \"something else\"\n|> route\n    case event.first_of_all == \"something\"\n      \
         or strings::contains(event.second_of_all, \"something\") => first\n    default => second\n  end\n",
    );
}

#[test]
fn definitions_on_one_long_line_are_broken_at_their_sections() {
    becomes(
        TextKind::Query,
        "define script s args a = 1, b = 2 state {} script let x = args.a + event.first_of_all + event.second_of_all; x end; \
         select event from in into out",
        "define script s\nargs\n  a = 1, b = 2\nstate {}\nscript\n  let x = args.a + event.first_of_all + event.second_of_all;\n  x\nend;\n\
         select event from in into out\n",
    );
}

#[test]
fn clauses_of_a_step_stand_behind_its_sign() {
    becomes(
        TextKind::Program,
        "in |> select {\"count\": aggr::stats::count(), \"host\": event.host_name, \"mean\": aggr::stats::mean(event.x)}\n\
         group by event.host_name\nhaving event.count > 10\n|> out",
        "in\n|> select {\n    \"count\": aggr::stats::count(),\n    \"host\": event.host_name,\n    \
         \"mean\": aggr::stats::mean(event.x)\n  }\n    group by event.host_name\n    having event.count > 10\n|> out\n",
    );
}
