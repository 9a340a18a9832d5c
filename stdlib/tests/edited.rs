//! Events that stay on their tape while scripts set fields are, in everything, the records that they
//! would be when opened first: values, errors, and what is written.

use temblor_lang::builtin::Facts;
use temblor_lang::lower::{Compiler, NoModules};
use temblor_lang::program::Script;
use temblor_lang::random::Random;
use temblor_lang::run::{Context, Outcome};
use temblor_lang::tape::Reader;
use temblor_lang::value::{Arena, JsonStyle, Owned, Value, equal, push_json};

const EVENTS: [&str; 4] = [
    r#"{"a":1,"b":"x, \"y\"","c":{"a":[1,2]}}"#,
    r#" { "b" : 1.50 ,"new":null , "d" : [ ] } "#,
    r#"{"\u0061":1,"b":2,"b":3}"#,
    r#"{}"#,
];

/// The script over the event; `opened`: over a copy whose fields are all in reach.
fn run(script: &Script, event: &str, opened: bool, style: JsonStyle) -> Result<String, String> {
    let (arena, facts, mut state) = (Arena::new(), Facts::default(), Owned::Null);
    let read = Reader::default().read(event.as_bytes(), &arena).expect("events are JSON");
    let value = if opened { read.copy_into(&arena) } else { read };
    let meta = arena.record_builder(0).finish();
    let mut context = Context::new(&arena, &facts, value, meta, &mut state);
    if !opened {
        context.text = event.as_bytes();
    }
    match script.run(&mut context) {
        Ok(Outcome::Emit { value, .. }) => {
            let mut out = Vec::new();
            push_json(&mut out, Value::Array(&[value, context.event]), JsonStyle::Compact);
            let start = out.len();
            push_json(&mut out, value, style);
            let arena = Arena::new();
            let again = Reader::default().read(&out[start..], &arena).expect("JSON is written");
            assert!(equal(value, again), "{:?}", String::from_utf8_lossy(&out));
            out.truncate(start);
            Ok(String::from_utf8(out).expect("JSON is UTF-8"))
        }
        Ok(Outcome::Drop) => Ok("dropped".to_string()),
        Err(error) => Err(format!("{error:?}, event {:?}", Owned::from(context.event))),
    }
}

/// Some operations that set fields, the same field perhaps more than once.
fn operations(random: &mut Random) -> String {
    const NAMES: [&str; 5] = ["a", "b", "new", "c", "\\n"];
    const VALUES: [&str; 5] = ["1", "event.b", "\"t\"", "{\"k\": event.b}", "event"];
    let one = |random: &mut Random| {
        let word = ["insert", "upsert", "update", "upsert"][random.index(4)];
        let (name, value) = (NAMES[random.index(5)], VALUES[random.index(5)]);
        format!("{word} \"{name}\" => {value}")
    };
    let most = if random.chance(100) { 10 } else { 3 };
    let count = 1 + random.index(most);
    (0..count).map(|_| one(random)).collect::<Vec<_>>().join("; ")
}

#[test]
fn patches_in_place_and_of_opened_records_agree() {
    let mut random = Random::seeded(5);
    let mut succeeded = 0;
    for number in 0..1_000 {
        let (first, second) = (operations(&mut random), operations(&mut random));
        let source = match number % 5 {
            0 => format!("patch event of {first} end"),
            1 => format!("let event = patch event of {first} end; event"),
            2 => format!("let event.new = 9; let event = patch event of {first} end; emit event"),
            3 => format!("let x = patch event of {first} end; [x, event]"),
            _ => format!(
                "let event = patch event of {first} end; let event = patch event of {second} end; emit event"
            ),
        };
        let mut compiler = Compiler::new(temblor_stdlib::registry(), &NoModules);
        let id = compiler.sources.add("script", &source);
        let script = compiler.script(id).unwrap_or_else(|| panic!("{source} compiles"));
        for event in EVENTS {
            let edited = run(&script, event, false, JsonStyle::AsRead);
            succeeded += usize::from(edited.is_ok());
            assert_eq!(edited, run(&script, event, true, JsonStyle::AsRead), "{source} on {event}");
        }
    }
    assert!(succeeded > 500, "{succeeded}");
}
