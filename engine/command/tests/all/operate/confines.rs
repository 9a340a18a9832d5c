//! What a run keeps to itself: files of its owner's alone, outputs inside their directory, and the rights that it
//! gives up.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use temblor_testing::{Folder, free_port, temblor, wait_for_listener, wait_until};

#[test]
fn what_is_saved_is_its_owners_alone() {
    let folder = Folder::new();
    folder.write("in.json", "{\"n\":1}\n{\"n\":2}\n");
    folder.write("p.tmb", "source in from file \"in.json\";\nsink out into file \"out.json\";\nin |> dedup by event.n within 1h |> out\n");
    temblor(["run", "-q", "--state", "state", "p.tmb"]).folder(folder.path()).run().succeeded();
    let mode = |name: &str| {
        std::fs::metadata(folder.file(name)).expect("it is there").permissions().mode() & 0o777
    };
    assert_eq!(mode("state"), 0o700);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder.file("state")).expect("it can be listed") {
        let name = entry.expect("it can be listed").file_name().to_string_lossy().into_owned();
        assert_eq!(mode(&format!("state/{name}")), 0o600, "{name}");
        names.push(name);
    }
    assert!(names.iter().any(|name| name == "checkpoint"), "{names:?}");
    assert!(names.iter().any(|name| name.starts_with("state.")), "{names:?}");
}

#[test]
fn no_event_leads_out_of_the_directory_of_its_sink() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.file("inside")).expect("it can be made");
    std::fs::create_dir_all(folder.file("outside")).expect("it can be made");
    symlink(folder.file("outside"), folder.file("inside/link")).expect("it can be made");
    let places = [
        "../up",
        "a/../../up",
        "/etc/absolute",
        "",
        ".",
        "..",
        "a/",
        "link/through",
        "fine",
        "deep/er",
    ];
    let lines = places.iter().map(|place| format!("{}\n", serde_json::json!({"place": place})));
    folder.write("in.json", lines.collect::<String>());
    folder.write("p.tmb", "source in from file \"in.json\";\nsink out into file \"inside/#{event.place}\";\nin |> out\n");
    let ran = temblor(["run", "-q", "p.tmb"]).folder(folder.path()).run();
    let listed = |name: &str| {
        let entries = std::fs::read_dir(folder.file(name)).expect("it can be listed");
        let mut names: Vec<_> = entries
            .map(|one| one.expect("it can be listed").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    };
    assert_eq!(listed("outside"), [""; 0], "{}", ran.err);
    assert_eq!(listed("inside"), ["deep", "fine", "link"], "{}", ran.err);
    assert!(!folder.file("up").exists());
    assert!(ran.err.contains("is no path of a file in"), "{}", ran.err);
}

#[test]
fn the_rights_of_root_are_given_up_once_sources_are_open() {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let (folder, port) = (Folder::new(), free_port());
    folder.write("p.tmb", format!("source in from tcp \"127.0.0.1:{port}\";\nsink out into file \"out.json\";\nin |> out\n"));
    let said = temblor(["run", "-q", "--user", "no-such-user", "p.tmb"]).folder(folder.path());
    let said = said.run().failed_with(2);
    assert!(said.contains("no user `no-such-user`"), "{said}");
    if !is_root {
        let said = temblor(["run", "-q", "--user", "nobody", "p.tmb"])
            .folder(folder.path())
            .run()
            .failed_with(2);
        assert!(said.contains("only root"), "{said}");
        return;
    }
    // The user has to reach the folder of the test.
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).expect("it is ours");
    let run = temblor(["run", "-q", "--state", "state", "--user", "nobody", "p.tmb"])
        .folder(folder.path())
        .start();
    wait_for_listener(&format!("127.0.0.1:{port}"));
    let status = format!("/proc/{}/status", run.id());
    let line = |name: &str| {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_whitespace().skip(1).map(str::to_string).collect::<Vec<_>>()
    };
    wait_until("another user", || line("Uid:").iter().all(|id| id != "0"));
    assert!(line("Gid:").iter().all(|id| id != "0") && line("Groups:").iter().all(|id| id != "0"));
    let owner = std::fs::metadata(folder.file("state")).expect("it is there").uid();
    assert_eq!(line("Uid:")[0], owner.to_string(), "the state is that user's");
    assert_eq!(run.terminate().code, Some(0));
}

#[test]
fn near_its_bound_of_memory_a_run_reads_on_slowly_and_says_so() {
    let folder = Folder::new();
    let lines: String =
        (0..50_000).map(|n| format!("{{\"n\":{n},\"text\":\"{}\"}}\n", "x".repeat(500))).collect();
    folder.write("in.json", lines);
    // What is remembered of so many keys is near the bound.
    folder.write("p.tmb", "source in from file \"in.json\";\nsink out into file \"out.json\";\nin |> batch 40000 |> out\n");
    let ran = temblor(["run", "--memory", "32MiB", "--stats", "table", "p.tmb"])
        .folder(folder.path())
        .run();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(folder.read("out.json").matches("\"n\":").count(), 50_000);
    assert!(ran.err.contains("--memory"), "{}", ran.err);
    let said =
        temblor(["run", "--memory", "1MiB", "p.tmb"]).folder(folder.path()).run().failed_with(2);
    assert!(said.contains("32MiB or more"), "{said}");
}

#[test]
fn near_its_bound_of_memory_tables_do_not_grow_and_the_summary_says_so() {
    let folder = Folder::new();
    let lines: String = (0..700_000).map(|n| format!("{{\"n\":{n}}}\n")).collect();
    folder.write("in.json", lines);
    let program = |step: &str| {
        format!(
            "source in from file \"in.json\";\nsink out into file \"out.json\";\nin |> {step} |> out\n"
        )
    };
    let run = |step: &str| {
        folder.write("p.tmb", program(step));
        let call = ["run", "--memory", "32MiB", "--stats", "table", "p.tmb"];
        temblor(call).folder(folder.path()).run()
    };
    for step in
        ["dedup by event.n max_keys 100000000", "rate_limit 1 per 1h by event.n max_keys 100000000"]
    {
        let ran = run(step);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(ran.err.contains("keys given up (--memory)"), "{step}: {}", ran.err);
        assert_eq!(folder.read("out.json").lines().count(), 700_000, "each key is new");
        std::fs::remove_file(folder.file("out.json")).expect("it was written");
    }
    // A few keys stay, however short memory is.
    let ran = run("dedup by event.n % 500");
    assert_eq!(folder.read("out.json").lines().count(), 500, "{}", ran.err);
}
