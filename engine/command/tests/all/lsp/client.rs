//! An editor as far as a language server sees one: a child process, and messages over its standard
//! input and output.

use lsp_server::{Message, Notification, Request, RequestId};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A server and what it has said.
pub(super) struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    requests: i32,
    versions: HashMap<String, i32>,
    /// The latest diagnostics of each text, with the version that they are about.
    pub diagnostics: HashMap<String, (Option<i64>, Vec<Value>)>,
    /// A folder of its own.
    pub folder: PathBuf,
}

/// The text of a test, in which `^` marks the place that is asked about.
pub(super) fn marked(text: &str) -> (String, usize) {
    let at = text.find('^').expect("the text has a mark");
    (text.replacen('^', "", 1), at)
}

/// The position of a byte of a text.
pub(super) fn position(text: &str, offset: usize) -> Value {
    let before = &text[..offset];
    let line = before.matches('\n').count();
    let column = before.rsplit('\n').next().unwrap_or("").encode_utf16().count();
    json!({"line": line, "character": column})
}

/// The piece of a text that a range covers.
pub(super) fn piece<'t>(text: &'t str, range: &Value) -> &'t str {
    let offset = |place: &Value| {
        let line = place["line"].as_u64().expect("a line") as usize;
        let units = place["character"].as_u64().expect("a column") as usize;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let mut left = units;
        let taken = text[start..].chars().take_while(|one| {
            let goes_on = left > 0;
            left = left.saturating_sub(one.len_utf16());
            goes_on
        });
        start + taken.map(char::len_utf8).sum::<usize>()
    };
    &text[offset(&range["start"])..offset(&range["end"])]
}

impl Client {
    /// Starts a server for an empty folder of this name.
    pub(super) fn start(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lsp").join(name);
        // It is not there at the first run.
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("the directory can be made");
        let mut child = Command::new(env!("CARGO_BIN_EXE_temblor"))
            .arg("lsp")
            .env("XDG_CACHE_HOME", &folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let input = child.stdin.take().expect("it is piped");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let (requests, versions, diagnostics) = (0, HashMap::new(), HashMap::new());
        let mut client = Self { child, input, output, requests, versions, diagnostics, folder };
        let root = client.uri("");
        let params = json!({"processId": null, "rootUri": root, "capabilities": {}});
        let result = client.request("initialize", params).expect("it is answered");
        assert_eq!(result["capabilities"]["positionEncoding"], "utf-16");
        client.notify("initialized", json!({}));
        client
    }

    /// The URI of a file in the folder.
    pub(super) fn uri(&self, file: &str) -> String {
        format!("file://{}", self.folder.join(file).display()).trim_end_matches('/').to_string()
    }

    /// Writes a file to disk.
    pub(super) fn write(&self, file: &str, text: &str) {
        let path = self.folder.join(file);
        std::fs::create_dir_all(path.parent().expect("it is in the folder")).expect("it is made");
        std::fs::write(path, text).expect("the file can be written");
    }

    fn send(&mut self, message: Message) {
        message.write(&mut self.input).expect("the server reads");
    }

    pub(super) fn notify(&mut self, method: &str, params: Value) {
        self.send(Notification::new(method.to_string(), params).into());
    }

    fn read(&mut self) -> Message {
        let message = Message::read(&mut self.output).expect("the server follows the protocol");
        let message = message.expect("the server lives");
        if let Message::Notification(one) = &message
            && one.method == "textDocument/publishDiagnostics"
        {
            let uri = one.params["uri"].as_str().expect("a URI").to_string();
            let found = one.params["diagnostics"].as_array().expect("a list").clone();
            self.diagnostics.insert(uri, (one.params["version"].as_i64(), found));
        }
        message
    }

    /// Asks and waits for the answer: the result, or the message of the error.
    pub(super) fn request(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.requests += 1;
        let id = RequestId::from(self.requests);
        self.send(Request::new(id.clone(), method.to_string(), params).into());
        loop {
            if let Message::Response(response) = self.read()
                && response.id == id
            {
                let error =
                    |error: lsp_server::ResponseError| format!("{}: {}", error.code, error.message);
                return response.response_result.map_err(error);
            }
        }
    }

    /// Opens a text.
    pub(super) fn open(&mut self, file: &str, text: &str) {
        let uri = self.uri(file);
        self.versions.insert(uri.clone(), 1);
        let one = json!({"uri": uri, "languageId": "temblor", "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": one}));
    }

    /// Changes an open text.
    pub(super) fn change(&mut self, file: &str, changes: Value) {
        let uri = self.uri(file);
        let version = self.versions.entry(uri.clone()).or_default();
        *version += 1;
        let one = json!({"uri": uri, "version": version});
        let params = json!({"textDocument": one, "contentChanges": changes});
        self.notify("textDocument/didChange", params);
    }

    /// What is wrong with the latest state of a text.
    pub(super) fn problems(&mut self, file: &str) -> Vec<Value> {
        let uri = self.uri(file);
        let wanted = self.versions.get(&uri).copied().map(i64::from);
        loop {
            match self.diagnostics.get(&uri) {
                Some((version, found)) if *version == wanted => return found.clone(),
                _ => drop(self.read()),
            }
        }
    }

    /// Forgets what was wrong with a text: it is to be told again.
    pub(super) fn forget(&mut self, file: &str) {
        let uri = self.uri(file);
        self.diagnostics.remove(&uri);
    }

    /// Asks about a byte of an open text.
    pub(super) fn ask(&mut self, method: &str, file: &str, (text, at): (&str, usize)) -> Value {
        self.try_ask(method, file, (text, at), json!({})).expect("it is answered")
    }

    /// As [`Client::ask`], with more parameters.
    pub(super) fn try_ask(
        &mut self,
        method: &str,
        file: &str,
        (text, at): (&str, usize),
        more: Value,
    ) -> Result<Value, String> {
        let mut params = json!({
            "textDocument": {"uri": self.uri(file)},
            "position": position(text, at),
        });
        for (name, value) in more.as_object().expect("a record") {
            params[name] = value.clone();
        }
        self.request(&format!("textDocument/{method}"), params)
    }

    /// Asks about a whole open text.
    pub(super) fn ask_all(&mut self, method: &str, file: &str) -> Result<Value, String> {
        let params = json!({"textDocument": {"uri": self.uri(file)}, "options": {}});
        self.request(&format!("textDocument/{method}"), params)
    }

    /// Opens a text with a mark and asks about it there.
    pub(super) fn open_and_ask(&mut self, method: &str, file: &str, text: &str) -> Value {
        let (text, at) = marked(text);
        self.open(file, &text);
        self.ask(method, file, (&text, at))
    }

    /// The labels of what can be written at the mark of a text.
    pub(super) fn labels(&mut self, file: &str, text: &str) -> Vec<String> {
        let items = self.open_and_ask("completion", file, text);
        let items = items.as_array().expect("a list");
        items.iter().map(|item| item["label"].as_str().expect("a label").to_string()).collect()
    }

    /// Sends a body that is no message; the code of the refusal.
    pub(super) fn refused(&mut self, body: &[u8]) -> i64 {
        let head = format!("Content-Length: {}\r\n\r\n", body.len());
        let sent = self.input.write_all(head.as_bytes()).and_then(|()| self.input.write_all(body));
        sent.and_then(|()| self.input.flush()).expect("the server reads");
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).expect("the server lives");
            let length = line.trim().rsplit(' ').next().and_then(|length| length.parse().ok());
            let mut answer = vec![0; 2 + length.unwrap_or(0)];
            self.output.read_exact(&mut answer).expect("the server lives");
            let answer: Value = serde_json::from_slice(&answer).expect("it is JSON");
            if let Some(code) = answer["error"]["code"].as_i64() {
                assert_eq!(answer["id"], Value::Null);
                return code;
            }
        }
    }

    /// Says goodbye as the protocol asks.
    pub(super) fn stop(mut self) {
        self.request("shutdown", Value::Null).expect("it is answered");
        self.leave();
    }

    /// Leaves a server that was told to shut down.
    pub(super) fn leave(mut self) {
        self.notify("exit", Value::Null);
        let status = self.child.wait().expect("it ends");
        assert_eq!(status.code(), Some(0));
    }
}
