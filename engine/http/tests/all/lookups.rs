//! `http_lookup` and `http_poll`, and sinks whose answers and refusals go back into the program.

use crate::stand_in::StandIn;
use temblor_testing::{Folder, Ran, temblor};

fn run(program: &str, server: &StandIn, input: &str) -> Ran {
    let folder = Folder::new();
    let path = folder.write("program.tmb", program.replace("ADDRESS", &server.address));
    temblor(["run".as_ref(), path.as_os_str()]).input(input).run()
}

fn people() -> StandIn {
    StandIn::start(|number, request| match request.line.split(' ').nth(1).unwrap_or_default() {
        "/ann" => Some((200, "{\"name\":\"Ann\"}")),
        "/slow" => {
            std::thread::sleep(std::time::Duration::from_millis(300));
            Some((200, "{\"name\":\"Slow\"}"))
        }
        "/nobody" => Some((404, "none")),
        "/bad" => Some((400, "no such thing")),
        "/sometimes" if number.is_multiple_of(2) => Some((503, "later")),
        "/sometimes" => Some((200, "7")),
        _ => None,
    })
}

#[test]
fn events_wait_for_answers_and_keep_their_order_and_metadata() {
    let server = people();
    let ran = run(
        r##"sink users into http_lookup "http://ADDRESS" with url = event.url, attempts = 3 end;
sink unknown into file "/dev/stderr" with mode = "append" end;
in |> script let $n = event.n; event end |> lookup users into event.who else unknown |> set event.n = $n * 10 |> out"##,
        &server,
        "{\"n\":1,\"url\":\"/slow\"}\n{\"n\":2,\"url\":\"/ann\"}\n{\"n\":3,\"url\":\"/nobody\"}\n{\"n\":4,\"url\":null}\n\
         {\"n\":5,\"url\":\"/bad\"}\n{\"n\":6,\"url\":\"/ann\"}\n{\"n\":7,\"url\":\"/broken\"}\n",
    );
    assert_eq!(
        ran.out,
        "{\"n\":10,\"url\":\"/slow\",\"who\":{\"name\":\"Slow\"}}\n{\"n\":20,\"url\":\"/ann\",\"who\":{\"name\":\"Ann\"}}\n\
         {\"n\":30,\"url\":\"/nobody\",\"who\":null}\n{\"n\":40,\"url\":null,\"who\":null}\n\
         {\"n\":60,\"url\":\"/ann\",\"who\":{\"name\":\"Ann\"}}\n",
        "{}",
        ran.err
    );
    assert!(ran.err.contains("no such thing"), "{}", ran.err);
    assert!(ran.err.contains("\"question\":\"/broken\""), "{}", ran.err);
    let asked = |path: &str| {
        let line = format!("GET {path} HTTP/1.1");
        server.requests().iter().filter(|request| request.line == line).count()
    };
    assert_eq!((asked("/ann"), asked("/bad"), asked("/broken")), (1, 1, 3));
}

#[test]
fn a_server_that_is_busy_is_asked_again() {
    let server = people();
    let ran = run(
        r#"sink users into http_lookup "http://ADDRESS" with url = "/sometimes" end; in |> lookup users into event.v |> out"#,
        &server,
        "{\"a\":1}\n",
    );
    assert_eq!(ran.out, "{\"a\":1,\"v\":7}\n", "{}", ran.err);
}

#[test]
fn pages_are_asked_for_in_rounds() {
    let server = StandIn::start(|_, request| match request.line.contains("/lost") {
        true => None,
        false => Some((200, "[{\"n\":1},{\"n\":2}]")),
    });
    let ran = run(
        r#"source pages from http_poll "http://ADDRESS/page" with
  every = "50ms", times = 2, urls = {"more": {"url": "http://ADDRESS/more", "query": {"q": "a b"}, "headers": {"x-a": "1"}}}
end;
pages |> set event.page = $http_poll.name, event.status = $http_poll.response.status |> out"#,
        &server,
        "",
    );
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines.len(), 8, "{} {}", ran.out, ran.err);
    assert!(lines.contains(&"{\"n\":2,\"page\":\"more\",\"status\":200}"), "{}", ran.out);
    let requests = server.requests();
    let more = requests.iter().find(|one| one.line.contains("/more")).expect("it was asked for");
    assert_eq!(more.line, "GET /more?q=a%20b HTTP/1.1");
    assert!(more.headers.contains("x-a: 1"), "{}", more.headers);
    let lost = run(
        r#"source pages from http_poll "http://ADDRESS/lost" with times = 1 end; pages |> out"#,
        &server,
        "",
    );
    assert!(lost.err.contains("it is asked again in the next round"), "{}", lost.err);
}

#[test]
fn a_flood_of_refusals_holds_nothing_up() {
    let server = StandIn::start(|_, _| Some((400, "no")));
    let folder = Folder::new();
    let line = format!("{{\"text\":\"{}\"}}\n", "x".repeat(500));
    let input = folder.write("in.ndjson", line.repeat(100_000));
    let program = format!(
        r#"source in from file "{}"; sink away into http "http://{}/" with concurrency = 2 end;
sink back into file "{}" with mode = "truncate" end;
in |> away; away/err |> back"#,
        input.display(),
        server.address,
        folder.file("back").display()
    );
    let path = folder.write("program.tmb", program);
    // Far more than all queues hold together: whoever waits for somebody who waits for him would wait for ever.
    let ran = temblor(["run".as_ref(), path.as_os_str()]).run();
    assert_eq!(folder.read("back").lines().count(), 100_000, "{}", ran.err);
}
