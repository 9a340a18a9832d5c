//! What the two passes accept, simd-json accepts and reads alike; and they accept all usual texts.

use super::*;
use crate::random::Random;

/// The tape of the two passes as text.
fn plain(text: &[u8]) -> Option<String> {
    let arena = Arena::new();
    Reader::default().plain(text, &arena).map(|nodes| format!("{nodes:?}"))
}

fn by_simd_json(text: &[u8]) -> Option<String> {
    simd_json::to_tape(&mut text.to_vec()).ok().map(|tape| format!("{:?}", tape.0))
}

/// Whether the two passes read `text`, which must then be right.
fn check(text: &[u8]) -> bool {
    let Some(tape) = plain(text) else { return false };
    assert_eq!(Some(tape), by_simd_json(text), "{}", String::from_utf8_lossy(text));
    true
}

fn has_vectors() -> bool {
    let mut strings = Strings::default();
    strings.find(b"\"\"")
}

const USUAL: [&str; 18] = [
    r#"{}"#,
    r#"[]"#,
    r#" [ ] "#,
    r#"{"a":1}"#,
    r#"{"a":{"b":{"c":[[],{},[1,[2]],{"d":null}]}},"e":true,"f":false}"#,
    " {\t\"a\" :\r\n1 , \"b\" : [ 1 , \"x\" ] }\n",
    r#"[0,-0,1,-1,10,999999999999999999,1234567890123456789,18446744073709551615]"#,
    r#"[-999999999999999999,-9223372036854775807,-9223372036854775808]"#,
    r#"[0.0,-0.0,0.5,1.25,-7880.55,3.14159265358979,0.1234567890123456789,123456789012345.6]"#,
    r#"[1e5,1E+5,2.5e-3,-1e0,1e-400,0e0,4.9e-324,1.7976931348623157e308,0.30000000000000004]"#,
    r#"["","a","äöü€","\"","\\","\\\\","a\/b","\b\f\n\r\t","\u0041\u00e4\u20ac","\ud83d\ude00x"]"#,
    r#"{"a":"x\"y","b":"\\","c":"{\"d\":[1,2]}","e":"\\\""}"#,
    r#"{"":"","a":1,"a":2}"#,
    r#"[true,false,null]"#,
    r#"{"text":"a very long text that goes on behind the block of sixty-four bytes, and on, \" and on"}"#,
    r#""a string""#,
    "12",
    "null",
];

#[test]
fn usual_texts_are_read_as_simd_json_reads_them() {
    for text in USUAL {
        assert!(check(text.as_bytes()) || !has_vectors(), "{text}");
    }
}

#[test]
fn whatever_is_no_json_is_left_to_simd_json() {
    for text in [
        "",
        " ",
        "{",
        "}",
        "[",
        "]",
        "[1",
        "[1,",
        "[,1]",
        "[1,]",
        "[1 2]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{\"a\":1]",
        "[1}",
        "[[]",
        "[]]",
        "{}{}",
        "[01]",
        "[1.]",
        "[.5]",
        "[1e]",
        "[+1]",
        "[-]",
        "[--1]",
        "[tru]",
        "[trueX]",
        "[nul",
        "[\"a]",
        "[\"a\" \"b\"]",
        "[\"\\x\"]",
        "[\"\\u12\"]",
        "[\"\\ud800\"]",
        "[\"\\udc00\"]",
        "[\"\\ud800\\u0041\"]",
        "[\"a\nb\"]",
        "[\"a\u{1}b\"]",
        "\u{feff}[]",
        "[1]\0",
        "[\u{b}1]",
        "[1e999]",
        "{\\\"a\":1}",
        "[\"a\"x]",
        "[NaN]",
        "[Infinity]",
        "['a']",
        "[1/*x*/]",
        "{\"a\" 1}",
        "{\"a\"::1}",
    ] {
        assert!(!check(text.as_bytes()), "{text}");
    }
    for bytes in [b"[\"\xff\"]".as_slice(), b"[\"\xc0\x80\"]", b"[\"\xed\xa0\x80\"]", b"\xff"] {
        assert!(!check(bytes));
    }
}

/// Usual texts with bytes changed, put in, taken out and repeated.
#[test]
fn changed_texts_are_never_read_in_another_way() {
    const BYTES: &[u8] = b"\"\"\\\\{}[]:,,0123456789.-+eEtrufalsn \t\n\x01\x7f\xc3\xa4\xf0u/bd";
    let mut random = Random::seeded(3);
    let mut read = 0;
    for number in 0..60_000 {
        let mut text = USUAL[number % USUAL.len()].as_bytes().to_vec();
        for _ in 0..=random.index(3) {
            let (at, byte) = (random.index(text.len()), BYTES[random.index(BYTES.len())]);
            match random.index(4) {
                0 => text.insert(at, byte),
                1 if at < text.len() => _ = text.remove(at),
                2 if at < text.len() => text[at] = byte,
                _ => {
                    let piece = text[at..(at + random.index(9)).min(text.len())].to_vec();
                    text.splice(at..at, piece);
                }
            }
        }
        read += usize::from(check(&text));
    }
    assert!(read > 5_000 || !has_vectors(), "{read}");
}

#[test]
fn numbers_are_those_that_simd_json_reads() {
    let mut random = Random::seeded(11);
    for _ in 0..100_000 {
        let digits = |random: &mut Random, most| {
            let count = 1 + random.index(most);
            (0..count).map(|_| char::from(b'0' + random.below(10) as u8)).collect::<String>()
        };
        let mut text = digits(&mut random, 21).trim_start_matches('0').to_string();
        if text.is_empty() || random.chance(300) {
            text = "0".to_string();
        }
        if random.chance(500) {
            text.insert(0, '-');
        }
        if random.chance(600) {
            text = format!("{text}.{}", digits(&mut random, 24));
        }
        if random.chance(300) {
            let sign = ["", "+", "-"][random.index(3)];
            text = format!("{text}e{sign}{}", digits(&mut random, 3));
        }
        check(format!("[{text}]").as_bytes());
    }
}

#[test]
fn names_stand_in_the_text() {
    let (arena, text) = (Arena::new(), br#"{"a":1,"b":{"c":"\n"}}"#);
    let mut reader = Reader::default();
    let Ok(Value::Lazy(record)) = reader.read(text, &arena) else { panic!("no record") };
    if has_vectors() {
        let range = text.as_ptr_range();
        assert!(record.raw_fields().all(|(name, _)| range.contains(&name.as_ptr())));
        assert!(reader.plain(br#"{"\u0061":1}"#, &arena).is_none());
    }
}

#[test]
fn texts_of_more_nodes_than_usual_are_read() {
    for (item, count) in [("1", 5_000), ("{}", 300), ("[[1],[]]", 300), ("{\"\":1}", 300)] {
        let text = format!("[{}]", vec![item; count].join(","));
        assert!(check(text.as_bytes()) || !has_vectors(), "{item}");
        check(format!("{text}]").as_bytes());
    }
}

#[test]
fn deep_texts_are_read_or_refused() {
    for depth in [1, 10, 255, 256, 257, 300, 1_000, 1_024, 1_025, 5_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let text = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let arena = Arena::new();
            let read = Reader::default().read(text.as_bytes(), &arena).is_ok();
            assert_eq!(read, by_simd_json(text.as_bytes()).is_some(), "{depth}");
            check(text.as_bytes());
        }
    }
}
