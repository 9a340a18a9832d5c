//! Pipelines on the bench: outcomes, steps, clock, memory, kinds, comparisons, coverage.

use super::{Session, session, shows};

#[test]
fn chains_run_over_all_samples() {
    let mut session = session(&[r#"{"a": 1}"#, r#"{"a": 2}"#, r#"{"a": 3}"#]);
    shows(
        &mut session,
        &[":goto 2", "where event.a > 1 |> set event.b = event.a * 2"],
        "out: {\"a\":2,\"b\":4}\n3 samples\n2  out  (2, 3)\n1  dropped by 1. where event.a > 1  (1)\n",
    );
    shows(
        &mut session,
        &[":steps"],
        "1. where event.a > 1\nnothing changed\n2. set event.b = event.a * 2\n+ event.b: 4\n",
    );
}

#[test]
fn the_clock_is_moved_by_hand() {
    let mut session = session(&[r#"{"a": 1}"#]);
    shows(
        &mut session,
        &["dedup by event.a within \"10s\"", ":send"],
        "dropped by 1. dedup by event.a within \"10s\"\n",
    );
    shows(&mut session, &[":advance 11s", ":send"], "out: {\"a\":1}\n");
}

#[test]
fn steps_are_switched() {
    let mut session = session(&[r#"{"a": 1}"#]);
    let chain = "set event.b = 1 |> where event.a > 1 |> set event.c = 2";
    shows(
        &mut session,
        &[chain, ":off 2"],
        "out: {\"a\":1,\"b\":1,\"c\":2}\n1 sample\n1  out  (1)\n",
    );
    shows(
        &mut session,
        &[":off 1", ":steps"],
        "3. set event.c = 2\n+ event.c: 2\n"
            .replace("3.", "1. set event.b = 1 (off)\n2. where event.a > 1 (off)\n3.")
            .as_str(),
    );
    assert!(session.enter(":off 3").failed, "one step stays on");
    assert!(session.enter(":off 4").text.contains("there is no step 4"));
    shows(
        &mut session,
        &[":on 2"],
        "dropped by 2. where event.a > 1\n1 sample\n1  dropped by 2. where event.a > 1  (1)\n",
    );
    let mut session = self::session(&[r#"{"a": 1}"#]);
    shows(&mut session, &["let event.b = 1", "let event.c = 2", ":off 1"], "+ event.c: 2\n");
}

#[test]
fn steps_that_are_off_are_listed() {
    let mut session = session(&[r#"{"a": 1}"#]);
    shows(
        &mut session,
        &["in |> where event.a > 1 |> set event.b = 1 |> out", ":off 1", ":off 2", ":steps"],
        "1. where event.a > 1 (off)\n2. set event.b = 1 (off)\n",
    );
}

#[test]
fn outcomes_are_grouped() {
    let samples = [r#"{"a": 1}"#, r#"{"a": "x"}"#, "{broken", r#"{"a": 9}"#, r#"{"a": 10}"#];
    let mut session = session(&samples);
    let reply = session.enter("where event.a - 1 > 3");
    assert!(reply.text.contains("5 samples\n2  out  (4, 5)\n"), "{}", reply.text);
    assert!(reply.text.contains("1  dropped by 1. where event.a - 1 > 3  (1)\n"), "{}", reply.text);
    assert!(
        reply.text.contains("failed in 1. where event.a - 1 > 3: the operation `-`"),
        "{}",
        reply.text
    );
}

#[test]
fn definitions_serve_pipelines() {
    let mut session = session(&[r#"{"a": 7}"#]);
    shows(
        &mut session,
        &[
            "fn big(x) with x > 5 end",
            "const NAME = \"n\";",
            "where big(event.a) |> set event.n = NAME",
        ],
        "out: {\"a\":7,\"n\":\"n\"}\n1 sample\n1  out  (1)\n",
    );
}

#[test]
fn states_are_shown_and_changed() {
    let mut session = session(&[r#"{"a": 1}"#]);
    let program = "define script count script let state = (state ?? 0) + 1; let event.n = state; event end; \
                   create script count; select event from in into count; select event from count into out";
    shows(&mut session, &[program, ":state count = 40"], "count  create script count\n  40\n");
    shows(&mut session, &[":send"], "out: {\"a\":1,\"n\":41}\n");
    assert!(
        session
            .enter(":state nobody = 1")
            .text
            .contains("no step that remembers is named `nobody`")
    );
    shows(&mut session, &[":state clear", ":send"], "out: {\"a\":1,\"n\":1}\n");
}

#[test]
fn tables_are_shown_by_their_keys() {
    let mut session = session(&[r#"{"a": 1, "b": "x"}"#, r#"{"a": 2, "b": "y"}"#]);
    session.enter("set event.c = 1 |> dedup by [event.a, event.b] within \"10s\"");
    shows(
        &mut session,
        &[":state"],
        "dedup_2  2. dedup by [event.a, event.b] within \"10s\"\n  2 entries, 640 bytes, 0 given up\n  \
         [1,\"x\"] seen_ns=1\n  [2,\"y\"] seen_ns=2\n",
    );
    shows(&mut session, &[":send"], "dropped by 2. dedup by [event.a, event.b] within \"10s\"\n");
    let reply = session.enter(":state 2 forget [1, \"x\"]");
    assert!(reply.text.ends_with("given up\n  [2,\"y\"] seen_ns=2\n"), "{}", reply.text);
    shows(&mut session, &[":send"], "out: {\"a\":1,\"b\":\"x\",\"c\":1}\n");
    assert!(session.enter(":state 2 forget 7").text.contains("dedup_2 does not know 7"));
    session.enter("rate_limit 1 per \"1s\" by event.b");
    assert!(session.enter(":state").text.contains("\"x\" arrival_ns="));
    session.enter("suppress 1 per \"10s\" by event.b");
    let reply = session.enter(":state");
    assert!(
        reply.text.contains("\"x\" at_ns=1 since_ns=1 passed=1 suppressed=0"),
        "{}",
        reply.text
    );
}

#[test]
fn rows_of_tables_are_changed() {
    let mut session = session(&[r#"{"a": "x"}"#, r#"{"a": "y"}"#, r#"{"a": "x"}"#]);
    let told = |session: &mut Session, chain: &str, entries: &[&str], row: &str| {
        let reply = session.enter(chain);
        assert!(!reply.failed, "{chain}: {}", reply.text);
        let texts: Vec<_> = entries.iter().map(|entry| session.enter(entry).text).collect();
        let last = texts.last().expect("there is an entry");
        assert!(last.contains(row), "{chain}: {texts:?}");
    };
    let held = "dedup by event.a mode count within \"10s\"";
    let seen = ":state 1 set \"x\" = {\"count\": 7}";
    told(&mut session, held, &[seen], "\"x\" at_ns=1 count=7 first_ns=1 last_ns=3");
    told(&mut session, held, &[seen, ":advance 11s"], "{\"event\":{\"a\":\"x\"},\"count\":7,");
    let across = "dedup by event.a across event.b ?? 0 within \"10s\"";
    let forgotten = ":state 1 set \"y\" = {\"young\": null}";
    told(&mut session, across, &[":state"], "\"x\" young={\"emitted\":2,\"streams\":[2]} old=null");
    told(&mut session, across, &[forgotten], "  1 entries");
    let adjacent = "dedup by event.a mode adjacent";
    told(&mut session, adjacent, &[":state 1 forget \"x\"", ":state"], "  0 entries");
    let count = "sample 2 by event.a mode count";
    told(
        &mut session,
        count,
        &[":state 1 set \"x\" = {\"owed\": 5}"],
        "\"x\" at_ns=3 weight=2 owed=5",
    );
    let around = "around when event.a == \"z\" before 2 by event.a";
    told(&mut session, around, &[":state"], "\"x\" at_ns=3 left=0 waiting=[{");
    let join = "join \"^z\" from event.a by event.b ?? 0";
    told(
        &mut session,
        join,
        &[":state 1 set 0 = {\"text\": \"q\", \"count\": 2}", ":advance 10s"],
        "out: {\"a\":\"q\"}",
    );
    let bucket = "set $class = \"k\", $rate = 5, $dimensions = event.a |> bucket";
    let row = "[\"k\",\"x\"] rate=5 window_ns=10000000 windows=100 counts=[[0,2]]";
    told(&mut session, bucket, &[":state"], row);
    let set = ":state 2 set [\"k\", \"y\"] = {\"rate\": 9}";
    told(&mut session, bucket, &[set], "[\"k\",\"y\"] rate=9 window_ns=10000000");
    let one = "  1 entries";
    told(&mut session, bucket, &[":state 2 forget [\"k\", \"x\"]"], one);
}

#[test]
fn wrong_rows_are_refused() {
    let mut session = session(&[r#"{"a": "x"}"#]);
    session.enter("suppress 1 per \"10s\" by event.a");
    for (entry, reason) in [
        (
            ":state 1 set \"x\" = {\"pased\": 1}",
            "there is no column `pased`: at_ns, since_ns, passed",
        ),
        (":state 1 set \"x\" = {\"passed\": -1}", "`passed` has to be a whole number from 0"),
        (":state 1 set \"x\" = 7", "a row is a record of columns"),
        (":state 1 set \"q\" = {\"passed\": 1}", "a new row needs all columns"),
        (":state 1 set \"x\"", "write `:state`"),
        (":state 1 forget #zz", "no hash of a key"),
        (":state 9 forget 1", "no step that remembers is named `9`"),
        (":state 1 what", "write `:state`"),
    ] {
        let reply = session.enter(entry);
        assert!(reply.failed && reply.text.contains(reason), "{entry}: {}", reply.text);
    }
}

#[test]
fn open_windows_are_shown_and_changed() {
    let samples = [r#"{"h": "a", "n": 1}"#, r#"{"h": "b", "n": 2}"#, r#"{"h": "a", "n": 3}"#];
    let mut session = session(&samples);
    session.enter(
        "define window w from tumbling with size = 3 end; \
         select {\"h\": group[0], \"c\": aggr::stats::count(), \"m\": aggr::stats::max(event.n)} \
         from in[w] group by event.h into out",
    );
    let state = session.enter(":state").text;
    let row = "\"a\" w.closing=2 w.filled=true w.count=2 w.max=";
    assert!(state.starts_with("select 1  select {") && state.contains(row), "{state}");
    let reply = session.enter(":state select 1 set \"a\" = {\"w.count\": 40}");
    assert!(reply.text.contains("w.count=40 w.max="), "{}", reply.text);
    shows(&mut session, &[":send"], "out: {\"h\":\"a\",\"c\":41,\"m\":3.0}\n");
    let reply = session.enter(":state select 1 set \"b\" = {\"w.closing\": \"soon\"}");
    assert!(reply.text.contains("`w.closing` has to be a weight"), "{}", reply.text);
    let reply = session.enter(":state select 1 set \"z\" = {\"w.count\": 1}");
    assert!(reply.text.contains("only groups that are open can be changed"), "{}", reply.text);
    let reply = session.enter(":state select 1 forget \"b\"");
    assert!(reply.text.contains("  0 entries"), "{}", reply.text);
}

#[test]
fn kinds_are_told_for_each_step() {
    let mut session = session(&[r#"{"a": 1}"#, r#"{"a": "x", "b": [1]}"#]);
    shows(
        &mut session,
        &["set event.c = 1.5", ":type"],
        "samples\n  event.a: integer or string\n  event.b: array, missing in 1 of 2\n\
         1. set event.c = 1.5\n  event.a: integer or string\n  event.b: array, missing in 1 of 2\n  \
         event.c: float\n",
    );
}

#[test]
fn programs_are_compared() {
    let mut session = session(&[r#"{"a": 1}"#, r#"{"a": 5}"#, r#"{"a": 9}"#]);
    session.enter("where event.a > 1 |> set event.b = 1");
    session.enter("where event.a > 5 |> set event.b = 2");
    let dropped = "dropped by 1. where event.a > 5";
    shows(
        &mut session,
        &[":compare"],
        &format!(
            "3 samples: 1 the same, 2 not\nsample 2\n- out: {{\"a\":5,\"b\":1}}\n+ {dropped}\n\
             sample 3\n~ event.b: 1 -> 2\n"
        ),
    );
    assert!(session.enter(":compare a b c").failed);
    assert!(session.enter(":compare none.tmb .").text.contains("none.tmb"));
}

#[test]
fn what_no_sample_reached_is_told() {
    let mut session = session(&[r#"{"a": 1, "t": "1"}"#]);
    session.enter("match event.a of case 1 => \"one\" case 2 => \"two\" case _ => \"many\" end");
    shows(
        &mut session,
        &[":coverage"],
        "1 of 3 branches reached\nnot reached: 1:34: arm case 2 => \"two\"\n\
         not reached: 1:50: arm case _ => \"many\"\n",
    );
    session.enter(
        "parse regex [\"^(?P<n>[0-9])$\", \"^(?P<w>[a-z])$\"] from event.t |> where event.a > 1 |> set event.b = 1",
    );
    let reply = session.enter(":coverage").text;
    assert!(reply.contains("not reached: step 3. set event.b = 1"), "{reply}");
    assert!(reply.contains("not reached: pattern ^(?P<w>[a-z])$"), "{reply}");
    assert!(reply.contains("not reached: port out"), "{reply}");
}

#[test]
fn loops_without_an_end_are_stopped() {
    let mut session = session(&["[1,2,3,4,5,6,7,8,9,10]"]);
    let loops = "for event of case (k, v) => ".repeat(9) + "1" + &" end".repeat(9);
    let reply = session.enter(&loops);
    let is_stopped = ["E0440", "E0442"].iter().any(|code| reply.text.contains(code));
    assert!(reply.failed && is_stopped, "{}", reply.text);
    shows(&mut session, &["1 + 1"], "2\n");
}
