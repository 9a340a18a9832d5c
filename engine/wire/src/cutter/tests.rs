//! The cutter, whatever the reads bring.

use super::*;
use temblor_runtime::framing::FrameCursor;

/// Feeds `input` in reads of `read` bytes: the messages, and the bad frames as `! line length reason`.
fn cut(how: &Cut, max: usize, input: &[u8], read: usize, end: &End) -> Vec<String> {
    let mut cutter = Cutter::new(how, max);
    let (mut found, mut line) = (Vec::new(), 1);
    let mut see = |blocks: Vec<Arrival>| {
        for block in blocks {
            for bad in &block.bad {
                assert_eq!(bad.line, line, "{bad:?}");
                line += 1;
                found.push(format!("! {} {}", bad.length, bad.reason));
            }
            let mut cursor = FrameCursor::new(block.framing, block.range.clone());
            let mut frames = 0;
            while let Some(range) = cursor.next(&block.buffer) {
                found.push(String::from_utf8_lossy(&block.buffer[range]).into_owned());
                frames += 1;
            }
            assert_eq!(frames, block.frames, "{found:?}");
            if block.frames > 0 {
                assert_eq!(block.first_line, line, "{found:?}");
            }
            line += frames;
        }
    };
    for part in input.chunks(read) {
        cutter.bytes().extend_from_slice(part);
        see(cutter.added());
    }
    see(cutter.finish(end));
    found
}

fn same_however_reads_fall(how: &Cut, max: usize, input: &[u8], wanted: &[&str]) {
    for read in 1..=input.len() {
        assert_eq!(cut(how, max, input, read, &End::Closed), wanted, "reads of {read}");
    }
}

#[test]
fn lines_are_the_same_however_reads_fall() {
    let lines = Cut::Framed(Framing::Lines);
    same_however_reads_fall(&lines, 99, b"a\r\nbc\n\nlast", &["a", "bc", "", "last"]);
    let pipes = Cut::Framed(Framing::Separated(b'|'));
    same_however_reads_fall(&pipes, 99, b"a\n|b|", &["a\n", "b"]);
    same_however_reads_fall(&Cut::Framed(Framing::Whole), 99, b"a\nb\n", &["a\nb\n"]);
}

#[test]
fn messages_at_the_limit_pass_and_longer_ones_are_skipped() {
    let wanted = ["12345", "! 6 the message is longer than 5 bytes (6 bytes); skipped", "ok"];
    let lines = Cut::Framed(Framing::Lines);
    same_however_reads_fall(&lines, 5, b"12345\n123456\nok\n", &wanted);
    let counted = Cut::Framed(Framing::Counted);
    same_however_reads_fall(&counted, 5, b"5 123456 123456\n2 ok", &wanted);
    same_however_reads_fall(&lines, 5, b"12345\n123456", &wanted[..2]);
    same_however_reads_fall(&Cut::Framed(Framing::Whole), 5, b"123456", &wanted[1..2]);
}

#[test]
fn the_framing_of_syslog_is_seen_from_its_beginning() {
    let detected = Cut::Detected;
    same_however_reads_fall(&detected, 99, b"6 <1>a\nb5 <2>cd", &["<1>a\nb", "<2>cd"]);
    same_however_reads_fall(&detected, 99, b"<1>a\n<2>b\n", &["<1>a", "<2>b"]);
    let years = b"2003 Oct 11 x\n2003-10-11T1 y\n";
    same_however_reads_fall(&detected, 99, years, &["2003 Oct 11 x", "2003-10-11T1 y"]);
    same_however_reads_fall(&detected, 99, b"12", &["12"]);
    // A sender that counts only some of its messages.
    same_however_reads_fall(&detected, 99, b"4 <1>a<2>b\n<3>c\n", &["<1>a", "<2>b", "<3>c"]);
}

#[test]
fn a_count_that_is_none_ends_the_stream() {
    let counted = Cut::Framed(Framing::Counted);
    let found = cut(&counted, 99, b"2 ok<1>no count\n2 ok", 99, &End::Closed);
    assert_eq!(found[0], "ok");
    assert!(found[1].starts_with("! 16 no length stands"), "{found:?}");
    assert_eq!(found.len(), 2);
    let found = cut(&counted, 99, b"2 ok5 abc", 2, &End::Closed);
    assert_eq!(found, ["ok", "! 5 the connection was closed within a message"]);
}

#[test]
fn what_is_left_of_a_broken_connection_is_bad() {
    let broken = End::Broken("reset".to_string());
    let found = cut(&Cut::Framed(Framing::Lines), 99, b"a\nbc", 3, &broken);
    assert_eq!(found, ["a", "! 2 reset"]);
}

#[test]
fn a_message_that_is_given_up_is_skipped_to_its_end() {
    for (how, input, more) in [
        (Cut::Framed(Framing::Lines), &b"ok\nabc"[..], &b"def\nok\n"[..]),
        (Cut::Framed(Framing::Counted), b"2 ok6 abc", b"def2 ok"),
    ] {
        let mut cutter = Cutter::new(&how, 99);
        cutter.bytes().extend_from_slice(input);
        assert_eq!(cutter.added().len(), 1);
        cutter.give_up("no memory");
        cutter.bytes().extend_from_slice(more);
        let blocks = cutter.added();
        assert_eq!((blocks.len(), blocks[0].bad.len(), blocks[0].frames), (1, 1, 1));
        assert!(blocks[0].bad[0].reason.starts_with("no memory"));
    }
}

#[test]
fn chains_of_preprocessors_are_fed_across_reads() {
    let chain = Cut::Chained(vec![
        Preprocessor::LengthPrefixed,
        Preprocessor::Separate { separator: b'\n', length_max: 99, buffered: false },
    ]);
    let mut input = 3_u64.to_be_bytes().to_vec();
    input.extend_from_slice(b"a\nb");
    same_however_reads_fall(&chain, 99, &input, &["a", "b"]);
}
