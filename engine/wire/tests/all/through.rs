//! `through`: processes that answer, that die, that are silent and that say too much.

use temblor_testing::{Folder, Ran, temblor};

/// Runs a program over events numbered from 0.
fn run(program: &str, events: u64) -> Ran {
    let folder = Folder::new();
    let path = folder.write("program.tmb", program);
    let input: String = (0..events).map(|n| format!("{{\"n\":{n}}}\n")).collect();
    temblor(["run".as_ref(), "-q".as_ref(), path.as_os_str()])
        .folder(folder.path())
        .input(input)
        .run()
}

/// The numbers in what came out, in order.
fn numbers(out: &str) -> Vec<u64> {
    let number = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).expect("each line is an event");
        value["n"].as_u64().unwrap_or_else(|| panic!("no number in {line}"))
    };
    out.lines().map(number).collect()
}

#[test]
fn answers_keep_the_order_of_events_whichever_process_gave_them() {
    let program = "in |> set $m = event.n |> through \"sed -u 's/}/,\\\"seen\\\":1}/'\" with processes = 3 end\n\
                   |> where event.seen == 1 and $m == event.n |> out";
    let ran = run(program, 20_000);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(numbers(&ran.out), (0..20_000).collect::<Vec<_>>());
}

#[test]
fn what_is_answered_with_nothing_is_left_out() {
    let program = "in |> through \"sed -u -e 's/.*[13579]}$/null/' -e 's/.*4}$//'\" |> out";
    let ran = run(program, 10);
    assert_eq!((numbers(&ran.out), ran.code), (vec![0, 2, 6, 8], Some(0)), "{}", ran.err);
}

#[test]
fn a_process_that_ends_is_asked_again_about_what_it_has_not_answered() {
    // Each process answers three events and ends.
    let program = "sink p into through \"sed -u 3q\" with retry = {\"first\": \"1ms\", \"longest\": \"2ms\"} end;\n\
                   in |> p; p/out |> out; p/err |> set event.n = 1000 |> out";
    let ran = run(program, 20);
    assert_eq!(numbers(&ran.out), (0..20).collect::<Vec<_>>(), "{}", ran.err);
}

#[test]
fn an_event_that_no_process_answers_is_refused_and_the_others_go_on() {
    let script = "while read -r line; do case $line in *5*) exit 7;; esac; echo $line; done";
    let program = format!(
        "in |> through \"{script}\" else bad with retry = {{\"first\": \"1ms\", \"longest\": \"2ms\"}} end |> out; \
         bad |> set event.n = 100, event.told = event.error |> out"
    );
    let ran = run(&program, 9);
    let mut found = numbers(&ran.out);
    found.sort_unstable();
    assert_eq!(found, [0, 1, 2, 3, 4, 6, 7, 8, 100], "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("exit status: 7"), "{}", ran.out);
}

#[test]
fn a_silent_process_is_killed_in_time_and_an_endless_answer_is_none() {
    for script in ["sleep 1000", "head -c 100000 /dev/zero", "yes"] {
        let program = format!(
            "in |> through \"{script}\" else bad with timeout = \"200ms\", attempts = 1, max_answer = \"1KiB\",\n\
             retry = {{\"first\": \"1ms\", \"longest\": \"2ms\"}} end |> out; bad |> set event.n = 1 |> out"
        );
        let ran = run(&program, 2);
        let refused = ran.out.matches("gave no answer").count();
        let wanted = if script == "yes" { 0..=2 } else { 2..=2 };
        assert!(wanted.contains(&refused), "{script}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn a_step_in_an_arm_is_refused_with_what_to_do() {
    let ran = run("in |> when event.n > 1 do through \"cat\" end |> out", 1);
    assert!(ran.err.contains("lead the events of the arm into a stream"), "{}", ran.err);
}
