//! `s3` with a server of another project.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rusty_s3::actions::{ListObjectsV2, S3Action};
use rusty_s3::{Bucket, Credentials, UrlStyle};
use temblor_testing::{Folder, free_port, peers, wait_until};

use crate::support::{missing, numbers, run};

/// A bucket of its own.
struct Storage {
    bucket: Bucket,
    credentials: Credentials,
    address: String,
}

impl Storage {
    fn new(name: &str) -> Option<Self> {
        let [address, key, secret] = peers(["S3", "S3_ACCESS_KEY", "S3_SECRET_KEY"])?;
        let url = format!("http://{address}").parse().expect("it is a URL");
        let name = format!("{name}-{}-{}", std::process::id(), free_port());
        let bucket = Bucket::new(url, UrlStyle::Path, name, "us-east-1").expect("it is a name");
        let credentials = Credentials::new(key, secret);
        let storage = Self { bucket, credentials, address };
        let url = storage.bucket.create_bucket(&storage.credentials).sign(Duration::from_secs(60));
        let (head, body) = storage.ask("PUT", url.as_ref(), b"");
        assert!(head.starts_with("HTTP/1.1 200"), "{head}{}", String::from_utf8_lossy(&body));
        Some(storage)
    }

    /// Asks without a library of HTTP: the head and the body of the answer.
    fn ask(&self, method: &str, url: &str, body: &[u8]) -> (String, Vec<u8>) {
        let path = url.split_once(&self.address).expect("it is on this server").1;
        let mut stream = TcpStream::connect(&self.address).expect("the server runs");
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).expect("it reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("it answers");
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("it has a head");
        let body = answer.split_off(end + 4);
        (String::from_utf8_lossy(&answer).into_owned(), body)
    }

    fn put(&self, key: &str, body: &[u8]) {
        let url =
            self.bucket.put_object(Some(&self.credentials), key).sign(Duration::from_secs(60));
        let (head, _) = self.ask("PUT", url.as_ref(), body);
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    }

    fn get(&self, key: &str) -> Vec<u8> {
        let url =
            self.bucket.get_object(Some(&self.credentials), key).sign(Duration::from_secs(60));
        self.ask("GET", url.as_ref(), b"").1
    }

    fn keys(&self) -> Vec<String> {
        let url =
            self.bucket.list_objects_v2(Some(&self.credentials)).sign(Duration::from_secs(60));
        let (_, body) = self.ask("GET", url.as_ref(), b"");
        let text = String::from_utf8_lossy(&body).into_owned();
        // The answer may come in chunks; the list is small enough for one.
        let start = text.find("<?xml").or_else(|| text.find("<List")).expect("it is a list");
        let end = text.rfind('>').expect("it is a list") + 1;
        let list = ListObjectsV2::parse_response(&text[start..end]).expect("it is a list");
        list.contents.into_iter().map(|object| object.key).collect()
    }

    fn settings(&self) -> String {
        let (key, secret) = (self.credentials.key(), self.credentials.secret());
        format!(
            "endpoint = \"http://{}\", access_key = \"{key}\", secret_key = \"{secret}\"",
            self.address
        )
    }

    fn writer(&self, more: &str) -> String {
        format!(
            "source numbers from file \"numbers.ndjson\";\n\
             sink archive into s3 \"{}\" with {}{more} end;\nnumbers |> archive",
            self.bucket.name(),
            self.settings()
        )
    }

    fn reader(&self, more: &str) -> String {
        format!(
            "source archive from s3 \"{}\" with {}{more} end;\n\
             sink kept into file \"kept.ndjson\" with mode = \"truncate\" end;\narchive |> kept",
            self.bucket.name(),
            self.settings()
        )
    }
}

#[test]
fn events_become_objects_by_key_and_come_back() {
    let Some(storage) = Storage::new("by-key") else { return };
    let folder = Folder::new();
    folder.write("numbers.ndjson", numbers(1_000));
    let text = storage.writer(", key = \"part-#{event.n % 3}/\", compression = \"gzip\"");
    run(&folder, "out.tmb", &text).wait().succeeded();
    let keys = storage.keys();
    assert_eq!(keys.len(), 3, "{keys:?}");
    for (index, key) in keys.iter().enumerate() {
        let right = key.starts_with(&format!("part-{index}/")) && key.ends_with(".ndjson.gz");
        assert!(right, "{key}");
    }
    run(&folder, "in.tmb", &storage.reader("")).wait().succeeded();
    let kept: Vec<String> = folder.read("kept.ndjson").lines().map(str::to_string).collect();
    assert_eq!((kept.len(), missing(&kept, 1_000)), (1_000, Vec::new()));
    run(&folder, "in.tmb", &storage.reader(", prefix = \"part-2/\"")).wait().succeeded();
    assert_eq!(folder.read("kept.ndjson").lines().count(), 333);
}

#[test]
fn large_objects_go_in_parts_and_full_ones_are_finished() {
    let Some(storage) = Storage::new("large") else { return };
    let folder = Folder::new();
    let line = format!("{{\"text\":\"{}\"}}\n", "x".repeat(1_000));
    folder.write("numbers.ndjson", line.repeat(20_000));
    run(&folder, "out.tmb", &storage.writer("")).wait().succeeded();
    let keys = storage.keys();
    assert_eq!(keys.len(), 1, "{keys:?}");
    assert!(storage.get(&keys[0]) == line.repeat(20_000).into_bytes());
    run(&folder, "out.tmb", &storage.writer(", max_size = \"5MiB\", key = \"b/\""))
        .wait()
        .succeeded();
    assert_eq!(storage.keys().iter().filter(|key| key.starts_with("b/")).count(), 4);
}

#[test]
fn what_was_read_is_not_read_again() {
    let Some(storage) = Storage::new("log") else { return };
    let folder = Folder::new();
    storage.put("a", b"{\"n\":0}\n{\"n\":1}");
    storage.put("b", b"{\"n\":2}\n");
    let text = storage.reader(", read_log = \"read.log\"");
    run(&folder, "in.tmb", &text).wait().succeeded();
    assert_eq!(folder.read("kept.ndjson"), numbers(3));
    storage.put("c", b"{\"n\":3}\n");
    run(&folder, "in.tmb", &text).wait().succeeded();
    assert_eq!(folder.read("kept.ndjson"), "{\"n\":3}\n");
    let text = text.replace("read_log", "poll = \"50ms\", read_log");
    let program = run(&folder, "in.tmb", &text);
    storage.put("d", b"{\"n\":4}\n");
    wait_until("the new object", || folder.read("kept.ndjson") == "{\"n\":4}\n");
    program.terminate().succeeded();
}

#[test]
fn a_bucket_that_is_not_there_and_a_wrong_key_are_said() {
    let Some(storage) = Storage::new("wrong") else { return };
    let folder = Folder::new();
    folder.write("numbers.ndjson", numbers(3));
    let text = storage.writer("").replace(storage.bucket.name(), "not-there");
    let ran = run(&folder, "out.tmb", &text).wait();
    assert!(ran.err.contains("s3://not-there/") && ran.err.contains("NoSuchBucket"), "{}", ran.err);
    let text = storage.reader("").replace(storage.credentials.secret(), "wrong");
    let ran = run(&folder, "in.tmb", &text).wait();
    assert!(
        ran.code == Some(4) && ran.err.contains("SignatureDoesNotMatch"),
        "{:?} {}",
        ran.code,
        ran.err
    );
    assert!(!ran.err.contains("secret"), "{}", ran.err);
}
