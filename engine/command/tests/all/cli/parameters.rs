//! `--set` and `--args`, for programs and for flows; and long forms that mean what their chains mean.

use super::{scratch, temblor};

#[test]
fn set_goes_before_args_and_args_before_defaults() {
    let file = scratch("parameters").join("args.json");
    std::fs::write(&file, r#"{"limit": 2, "name": "file"}"#).expect("it can be written");
    let args = file.to_str().expect("the path is text");
    let program = "args limit: integer = 1, name = \"default\", wait: duration = 1s; \
                   where event >= args.limit |> select [event, args.name, args.wait]";
    let run = |more: &[&str]| {
        let mut arguments = vec!["run", "-q", "-e", program];
        arguments.extend(more);
        temblor(&arguments, b"1\n2\n3\n")
    };
    let default = "\"default\",1000000000]\n";
    assert_eq!(run(&[]).out, format!("[1,{default}[2,{default}[3,{default}"));
    assert_eq!(run(&["--args", args]).out, "[2,\"file\",1000000000]\n[3,\"file\",1000000000]\n");
    let both = run(&["--args", args, "--set", "limit=3", "--set", "name=5", "--set", "wait=1.5s"]);
    assert_eq!(both.out, "[3,5,1500000000]\n");
    let wrong = run(&["--set", "limit=many"]);
    assert!(
        wrong.err.contains("`limit` must be of kind integer, got many by --set"),
        "{}",
        wrong.err
    );
    assert_eq!(wrong.code, Some(1));
    let unknown = run(&["--set", "limt=1"]);
    assert!(unknown.err.contains("did you mean `limit`?"), "{}", unknown.err);
    assert!(run(&["--set", "limit"]).err.contains("expected NAME=VALUE"));
}

#[test]
fn a_check_is_given_arguments_too() {
    let program = "args limit: integer; where event > args.limit";
    let missing = temblor(&["check", "-e", program], b"");
    assert!(missing.err.contains("missing required argument: limit"), "{}", missing.err);
    assert_eq!(temblor(&["check", "-e", program, "--set", "limit=1"], b"").code, Some(0));
}

#[test]
fn the_long_form_of_branches_does_the_same() {
    let program = "in |> when event.a == 1 do set event.b = 1 else rest \
                   elif event.a == 2 do drop else match event.a of case 3 => pass default => \
                   set event.c = 1 end end |> out; rest |> out";
    let input: &[u8] = b"{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n{\"a\":4}\n";
    let program = program.replace("set event.b = 1 else rest", "where event.x ?? true else rest");
    let short = temblor(&["run", "-q", "-e", &program], input);
    assert_eq!(short.out, "{\"a\":1}\n{\"a\":3}\n{\"a\":4,\"c\":1}\n");
    let long = temblor(&["check", "-e", &program, "--expand"], b"");
    assert_eq!((long.err.as_str(), long.code), ("", Some(0)));
    let again = temblor(&["run", "-q", "-e", &long.out], input);
    assert_eq!((again.out, again.err), (short.out, short.err));
}
