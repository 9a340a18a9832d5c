//! Generated and injected load as a user meets it: `temblor generate`, generator sources, `temblor bench`.

fn temblor(arguments: &[&str]) -> (String, String, Option<i32>) {
    let ran = temblor_testing::temblor(arguments).folder(env!("CARGO_TARGET_TMPDIR")).run();
    (ran.out, ran.err, ran.code)
}

fn file(name: &str, text: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("the target directory can be written");
    path.display().to_string()
}

#[test]
fn generated_events_are_the_same_every_time() {
    let arguments = ["generate", "weblog", "-n", "500", "--seed", "9", "--set", "start=0"];
    let (first, _, code) = temblor(&arguments);
    assert_eq!((first.lines().count(), code), (500, Some(0)));
    assert_eq!(first, temblor(&arguments).0);
}

#[test]
fn templates_use_rows_draws_and_the_language() {
    let users = file("load-users.csv", "name,city\nada,London\ngrace,New York\n");
    let (out, err, code) = temblor(&[
        "generate",
        "--template",
        r##"{"n":#{event.index},"who":"#{event.user.name}@#{event.user.city}","d":#{event.die}}"##,
        "-n",
        "200",
        "--set",
        &format!(r#"files={{"user":"{users}"}}"#),
        "--set",
        r#"draws={"die":{"uniform":[1,6]}}"#,
    ]);
    assert_eq!(code, Some(0), "{err}");
    for (number, line) in out.lines().enumerate() {
        let is_row = line.contains("ada@London") || line.contains("grace@New York");
        assert!(is_row && line.starts_with(&format!("{{\"n\":{number},")), "{line}");
    }
    assert_eq!(out.lines().count(), 200);
}

#[test]
fn wrong_settings_are_refused_with_what_is_known() {
    let (_, err, code) = temblor(&["generate", "weblgo"]);
    assert!(err.contains("weblog") && code != Some(0), "{err}");
    let (_, err, _) = temblor(&["generate", "weblog", "--set", "los=1"]);
    assert!(err.contains("loss"), "{err}");
    let program = file(
        "load-wrong.tmb",
        "source a from generator \"syslog\" with loss = 7 end;\na |> out;\n",
    );
    let (_, err, code) = temblor(&["check", &program]);
    assert!(err.contains("`loss` must be a number from 0 to 1") && code != Some(0), "{err}");
}

#[test]
fn a_bench_accounts_for_every_event() {
    let program = file(
        "load-bench.tmb",
        "source a from generator \"json-app\" with count = 100 end;\n\
         a |> where event.level == \"info\" |> out;\n",
    );
    let json = file("load-bench.json", "");
    let arguments = ["--rate", "2k", "--for", "100ms", "--warmup", "50ms", "--json", &json];
    let (out, err, code) = temblor(&[&["bench", &program][..], &arguments[..]].concat());
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.contains("300 injected, 300 settled") && out.contains("every event accounted for"));
    let figures = std::fs::read_to_string(&json).expect("it was written");
    assert!(figures.contains("\"injected\":300") && figures.contains("\"one_to_one\":true"));
}
