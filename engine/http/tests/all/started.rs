//! A program with an `http` source that runs beside its test, and curl as its client.

use std::process::Command;

use temblor_testing::{Folder, Process, free_port, peer, temblor, wait_for_listener};

/// A running program.
pub(crate) struct Started {
    /// The process.
    pub process: Process,
    /// Where its source listens.
    pub address: String,
    /// Where its program is.
    pub folder: Folder,
}

/// Starts a program in which `ADDRESS` stands for a free address and `FOLDER` for its folder, and waits
/// until it listens.
pub(crate) fn start(program: &str) -> Started {
    start_file("program.tmb", program)
}

/// The same, with files beside it.
pub(crate) fn start_in(program: &str, fill: impl FnOnce(&Folder)) -> Started {
    start_with("program.tmb", program, fill)
}

/// The same, with the name of the file.
pub(crate) fn start_file(name: &str, program: &str) -> Started {
    start_with(name, program, |_| {})
}

fn start_with(name: &str, program: &str, fill: impl FnOnce(&Folder)) -> Started {
    let (folder, address) = (Folder::new(), format!("127.0.0.1:{}", free_port()));
    let text = program
        .replace("ADDRESS", &address)
        .replace("FOLDER", &folder.path().display().to_string());
    let path = folder.write(name, text);
    fill(&folder);
    let process = temblor(["run".as_ref(), path.as_os_str()]).start();
    wait_for_listener(&address);
    Started { process, address, folder }
}

/// What curl got.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Got {
    /// The status; 0 when there was no answer.
    pub status: u16,
    /// The headers.
    pub headers: String,
    /// The body.
    pub body: String,
}

/// Calls curl. Nothing, and a skip, where there is none.
#[track_caller]
pub(crate) fn curl(arguments: &[&str]) -> Option<Got> {
    curl_with(arguments, b"")
}

/// Calls curl with something on its standard input.
#[track_caller]
pub(crate) fn curl_with(arguments: &[&str], input: &[u8]) -> Option<Got> {
    use std::io::Write;
    let curl = peer("CURL")?;
    let folder = Folder::new();
    let (headers, body) = (folder.file("headers"), folder.file("body"));
    let mut child = Command::new(curl)
        .args(["--silent", "--max-time", "60", "--write-out", "%{http_code}", "--dump-header"])
        .arg(&headers)
        .arg("--output")
        .arg(&body)
        .args(arguments)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("curl starts");
    child.stdin.take().expect("it is piped").write_all(input).expect("curl reads its input");
    let ran = child.wait_with_output().expect("curl ends");
    let status =
        String::from_utf8_lossy(&ran.stdout).trim().parse().expect("curl writes the status");
    Some(Got { status, headers: folder.read("headers"), body: folder.read("body") })
}
