//! The tools for programs as a user meets them: `temblor test`, `fmt`, `doc`, `completions`, `man`.
//! Every test has a directory of its own.

use std::fs;
use std::path::{Path, PathBuf};
use temblor_testing::Ran;

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tools").join(name);
    // It is not there at the first run.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the directory can be made");
    folder
}

fn temblor(folder: &Path, arguments: &[&str]) -> Ran {
    temblor_testing::temblor(arguments).folder(folder).run()
}

const CASES: &str = "=== script: adds one\nevent.a + 1\n--- in\n{\"a\": 1}\n--- out\n2\n\n\
                     === chain: only the large\nwhere event.a > 1\n--- in\n{\"a\": 1}\n{\"a\": 2}\n--- out\n\
                     {\"a\": 3}\n";

#[test]
fn a_case_that_differs_fails_and_can_be_accepted() {
    let folder = folder("differs");
    fs::write(folder.join("cases.txt"), CASES).expect("the file can be written");
    let output = temblor(&folder, &["test"]);
    assert_eq!(output.code, Some(1));
    let text = output.out;
    assert!(text.contains("failed only the large (./cases.txt:8)"), "{text}");
    assert!(text.contains("- {\"a\": 3}") && text.contains("+ {\"a\":2}"), "{text}");
    assert!(text.contains("1 passed, 1 failed"), "{text}");
    let output = temblor(&folder, &["test", "--update"]);
    assert!(output.out.contains("updated ./cases.txt"), "{output:?}");
    let output = temblor(&folder, &["test"]);
    assert_eq!(output.code, Some(0), "{output:?}");
}

#[test]
fn results_are_told_to_machines() {
    let folder = folder("machines");
    fs::write(folder.join("cases.txt"), CASES).expect("the file can be written");
    let json = temblor(&folder, &["test", "--format", "json"]).out;
    assert!(json.starts_with("{\"passed\":1,\"failed\":1,\"tests\":["), "{json}");
    let xml = temblor(&folder, &["test", "--format", "junit"]).out;
    assert!(xml.contains("<testsuite name=\"./cases.txt\" tests=\"2\" failures=\"1\""), "{xml}");
    assert!(xml.contains("- {&quot;a&quot;: 3}"), "{xml}");
    let one = temblor(&folder, &["test", "--filter", "adds"]);
    assert_eq!(one.code, Some(0), "{one:?}");
    let none = temblor(&folder, &["test", "--filter", "nothing has this name"]);
    assert_eq!(none.code, Some(1), "a run without a test is no success");
}

#[test]
fn suites_have_tags() {
    let folder = folder("suites");
    let suite = "use std::test;\ntest::suite({\"name\": \"s\", \"tags\": [\"quick\"], \"tests\": [\n\
                 test::test({\"name\": \"good\", \"test\": test::assert(\"g\", 2, 1 + 1)}),\n\
                 test::test({\"name\": \"bad\", \"test\": test::assert(\"b\", 3, 1 + 1)})]})\n";
    fs::create_dir(folder.join("unit")).expect("the directory can be made");
    fs::write(folder.join("unit/all.tremor"), suite).expect("the file can be written");
    for tag in ["quick", "unit"] {
        let text = temblor(&folder, &["test", "-i", tag]).out;
        assert!(text.contains("failed s: bad (./unit/all.tremor:4)"), "{text}");
        assert!(text.contains("expected 3"), "{text}");
        assert!(text.contains("1 passed, 1 failed"), "{text}");
    }
    fs::write(folder.join("tags.yaml"), "- nightly\n- 'two words'\n").expect("it can be written");
    let text = temblor(&folder, &["test", "-i", "two words"]).out;
    assert!(text.contains("1 passed, 1 failed"), "tags of a folder hold below it: {text}");
    let output = temblor(&folder, &["test", "-e", "nightly"]);
    assert!(output.err.contains("no test was found"), "{output:?}");
    let output = temblor(&folder, &["test", "-e", "quick"]);
    assert!(output.err.contains("no test was found"), "{output:?}");
}

#[test]
fn a_thousand_cases_are_run() {
    const CASES_COUNT: usize = 1_000;
    let folder = folder("thousand");
    let case = |n: usize| {
        format!("=== script: case {n}\nevent.a + {n}\n--- in\n{{\"a\": 1}}\n--- out\n{}\n\n", n + 1)
    };
    let text: String = (0..CASES_COUNT).map(case).collect();
    fs::write(folder.join("cases.txt"), text).expect("the file can be written");
    let text = temblor(&folder, &["test"]).out;
    assert!(text.starts_with("1000 passed"), "{text}");
}

#[test]
fn programs_are_formatted_once() {
    let folder = folder("format");
    let file = folder.join("p.tremor");
    fs::write(&file, "# why\nlet x=1 ;event # here\n").expect("the file can be written");
    let check = temblor(&folder, &["fmt", "--check", "p.tremor"]);
    assert_eq!((check.code, check.out.as_str()), (Some(1), "p.tremor\n"));
    assert_eq!(temblor(&folder, &["fmt", "p.tremor"]).code, Some(0));
    let text = fs::read_to_string(&file).expect("the file is there");
    assert_eq!(text, "# why\nlet x = 1;\nevent # here\n");
    assert_eq!(temblor(&folder, &["fmt", "--check", "p.tremor"]).code, Some(0));
    fs::write(&file, "let = 1").expect("the file can be written");
    let wrong = temblor(&folder, &["fmt", "p.tremor"]);
    assert_eq!(wrong.code, Some(1));
    assert!(wrong.err.contains("p.tremor:1:5"), "{wrong:?}");
}

#[test]
fn the_programs_of_the_repository_are_formatted_to_something_stable() {
    let folder = folder("stable");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for part in ["examples", "stdlib/src/modules", "bench/scenarios"] {
        copy(&root.join(part), &folder, &mut files);
    }
    assert!(files.len() > 20, "only {} programs were found", files.len());
    let mut arguments = vec!["fmt"];
    arguments.extend(files.iter().map(String::as_str));
    let output = temblor(&folder, &arguments);
    assert_eq!(output.code, Some(0), "{output:?}");
    arguments.insert(1, "--check");
    let output = temblor(&folder, &arguments);
    assert_eq!(output.code, Some(0), "{output:?}");
}

/// Copies the programs below `from` into `to`, all side by side.
fn copy(from: &Path, to: &Path, files: &mut Vec<String>) {
    for entry in fs::read_dir(from).expect("the directory is in the repository") {
        let path = entry.expect("the directory can be read").path();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
        if path.is_dir() {
            copy(&path, to, files);
        } else if ["tremor", "trickle", "troy", "tmb"].contains(&ending) {
            let name = format!("{}.{ending}", files.len());
            fs::copy(&path, to.join(&name)).expect("the file can be copied");
            files.push(name);
        }
    }
}

#[test]
fn modules_are_documented() {
    let folder = folder("doc");
    fs::create_dir_all(folder.join("lib/my")).expect("the directory can be made");
    fs::write(folder.join("lib/my/m.tremor"), "### All.\n## Five.\nconst FIVE = 5;\n")
        .expect("the file can be written");
    let output = temblor(&folder, &["doc", "lib", "out"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let page = fs::read_to_string(folder.join("out/my/m.md")).expect("the page is there");
    assert_eq!(page, "# my::m\n\nAll.\n\n## `const FIVE`\n\nFive.\n");
    assert_eq!(temblor(&folder, &["doc", "out"]).code, Some(1), "no modules");
}

#[test]
fn completions_and_manual_name_every_command() {
    let folder = folder("shell");
    let page = temblor(&folder, &["man"]).out;
    for shell in ["bash", "zsh", "fish"] {
        let text = temblor(&folder, &["completions", shell]).out;
        for verb in ["run", "check", "test", "fmt"] {
            assert!(text.contains(verb), "{shell}: {verb}");
            assert!(page.contains(verb), "{verb}");
        }
    }
}

#[test]
fn coverage_names_what_no_case_reached() {
    let folder = folder("coverage");
    let program = "fn size(x) of\n  case (0) => \"none\"\n  case _ => \"some\"\nend;\n\
                   match event of\n  case %{ a == 1 } => size(event.b)\n  case %{ a == 2 } => drop\n  \
                   case _ => if event.b > 5 then \"high\" else \"low\" end\nend\n";
    fs::write(folder.join("p.tremor"), program).expect("the file can be written");
    let cases = "=== file: one\np.tremor\n--- in\n{\"a\": 1, \"b\": 3}\n--- out\n\"some\"\n\n\
                 === file: two\np.tremor\n--- in\n{\"a\": 3, \"b\": 3}\n--- out\n\"low\"\n\n\
                 === chain: three\nroute\n  case event.a == 1 => one\n  case event.a == 2 => two\nend\n\
                 --- in\n{\"a\": 2}\n--- out\ntwo: {\"a\":2}\n";
    fs::write(folder.join("cases.txt"), cases).expect("the file can be written");
    let plain = temblor(&folder, &["test"]).out;
    assert!(plain.starts_with("3 passed") && !plain.contains("branch"), "{plain}");
    let text = temblor(&folder, &["test", "--coverage"]).out;
    let missed: Vec<_> = text.lines().skip(1).collect();
    let expected = [
        "./cases.txt:17:8: arm not taken: event.a == 1 => one",
        "./p.tremor:2:3: case of fn not taken: case (0) => \"none\"",
        "./p.tremor:7:3: arm not taken: case %{ a == 2 } => drop",
        "./p.tremor:8:16: then not taken: event.b > 5",
        "./cases.txt:16:1: port not reached: one",
        "5 of 9 branches were taken",
        "2 of 3 output ports were reached",
    ];
    assert_eq!(missed, expected, "{text}");
    let json = temblor(&folder, &["test", "--coverage", "--format", "json"]).out;
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    let branches = json["branches"].as_array().expect("there are branches");
    assert_eq!(branches.iter().filter(|one| one["taken"] == 0).count(), 4, "{json}");
}

#[test]
fn documentation_has_pages_and_true_examples() {
    let folder = folder("doc_html");
    fs::create_dir_all(folder.join("lib/my")).expect("the directory can be made");
    let module = "### All <b>.\n## Doubles `x`.\n## ```\n## m::double(2) == 4\n## ```\nfn double(x) with x * 2 end;\n";
    fs::write(folder.join("lib/my/m.tremor"), module).expect("the file can be written");
    fs::write(folder.join("lib/n.tremor"), "## One.\nconst ONE = 1;\n").expect("it can be written");
    let output = temblor(&folder, &["doc", "lib", "out", "--format", "html"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let page = fs::read_to_string(folder.join("out/my/m.html")).expect("the page is there");
    assert!(page.contains("All &lt;b&gt;.") && page.contains("<code>double(x)</code>"), "{page}");
    let index = fs::read_to_string(folder.join("out/index.html")).expect("the list is there");
    assert!(index.contains("<a href=\"my/m.html\">") && index.contains("n.html"), "{index}");
    let good = temblor(&folder, &["doc", "lib", "--check"]);
    assert_eq!((good.code, good.out.as_str()), (Some(0), "1 examples are true, 0 are not\n"));
    fs::write(folder.join("lib/my/m.tremor"), module.replace("== 4", "== 5"))
        .expect("it can be written");
    let wrong = temblor(&folder, &["doc", "lib", "--check"]);
    assert_eq!(wrong.code, Some(1));
    assert!(
        wrong.out.contains("my::m: example of `double(x)`: expected true, got false"),
        "{wrong:?}"
    );
}

#[test]
fn documentation_is_of_whole_modules_and_loses_none() {
    let folder = folder("doc_whole");
    fs::create_dir_all(folder.join("lib")).expect("the directory can be made");
    let write = |file: &str, text: &str| {
        fs::write(folder.join("lib").join(file), text).expect("the file can be written");
    };
    write("index.tremor", "## One.\nconst ONE = 1;\n");
    write("my mod.tremor", "## Two.\nconst TWO = 2;\n");
    let output = temblor(&folder, &["doc", "lib", "out", "--format", "html"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let read = |file: &str| fs::read_to_string(folder.join("out").join(file)).expect("it is there");
    assert!(read("index.html").contains("const ONE"), "the module keeps its page");
    assert!(read("all-modules.html").contains("<a href=\"my%20mod.html\">"));
    write("broken.tremor", "## Three.\nconst THREE = ;\nconst FOUR = 4;\n");
    let output = temblor(&folder, &["doc", "lib", "out"]);
    let told = output.err;
    assert!(told.contains("broken.tremor:2:15"), "{told}");
    assert_eq!(output.code, Some(1));
}

#[test]
fn formatting_takes_folders_and_names_for_standard_input() {
    let folder = folder("format_more");
    fs::create_dir_all(folder.join("a/b")).expect("the directory can be made");
    fs::write(folder.join("a/b/x.tremor"), "let x=1;x").expect("the file can be written");
    fs::write(folder.join("a/y.tmb"), "in|>out").expect("the file can be written");
    let check = temblor(&folder, &["fmt", "--check", "a"]);
    assert_eq!(check.out, "a/b/x.tremor\na/y.tmb\n");
    assert_eq!(temblor(&folder, &["fmt", "a"]).code, Some(0));
    assert_eq!(temblor(&folder, &["fmt", "--check", "a"]).code, Some(0));
    let arguments = ["fmt", "--stdin-name", "x.tremor", "-"];
    let ran = temblor_testing::temblor(arguments).input("let x=1;x").run();
    assert_eq!(ran.out, "let x = 1;\nx\n");
}

#[test]
fn watching_runs_again_when_a_program_changes() {
    let folder = folder("watch");
    fs::write(folder.join("p.tmb"), "in |> set event.b = 1 |> out").expect("it can be written");
    let case = "=== file: p\np.tmb\n--- in\n{\"a\": 1}\n--- out\n{\"a\": 1, \"b\": 2}\n";
    fs::write(folder.join("c.txt"), case).expect("it can be written");
    let mut watch = temblor_testing::temblor(["test", "--watch"]).folder(&folder).start();
    watch.wait_for_text("0 passed, 1 failed");
    // The program itself holds no test.
    fs::write(folder.join("p.tmb"), "in |> set event.b = 2 |> out # mended")
        .expect("it is written");
    watch.wait_for_text("1 passed");
}

#[test]
fn completions_and_manual_are_packaged() {
    let folder = folder("package");
    assert_eq!(temblor(&folder, &["completions", "--directory", "c"]).code, Some(0));
    for file in ["temblor.bash", "_temblor", "temblor.fish", "_temblor.ps1", "temblor.elv"] {
        let text = fs::read_to_string(folder.join("c").join(file)).expect(file);
        for word in ["lsp", "repl", "coverage", "stdin-name"] {
            assert!(text.contains(word), "{file}: {word}");
        }
    }
    assert_eq!(temblor(&folder, &["man", "m"]).code, Some(0));
    let pages = fs::read_dir(folder.join("m")).expect("the pages are there").count();
    let help = temblor(&folder, &["--help"]).out;
    let verbs = help.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let verbs = verbs.filter(|line| !line.trim_start().starts_with('-')).count();
    assert!(pages >= verbs, "{pages} pages for {verbs} commands");
    let page = fs::read_to_string(folder.join("m/temblor-lsp.1")).expect("the page is there");
    assert!(page.contains("stdio"), "{page}");
}
