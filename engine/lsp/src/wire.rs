//! Messages over standard input and output, each behind a head with its length. What is no message is
//! refused and skipped: only a head that cannot be read ends the conversation, as nobody knows then
//! where the next one begins.

use lsp_server::{Connection, ErrorCode, Message};
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// Messages larger than this are skipped: the largest is a text that is opened.
pub(crate) const MESSAGE_BYTES_MAX: u64 = 64 << 20;
/// Longer lines are no heads.
const HEAD_BYTES_MAX: u64 = 8 << 10;
/// What stands in front of the length of a message, in any case.
const LENGTH: &str = "content-length";

/// A conversation with an editor, and the threads that read and write its messages.
pub(crate) struct Conversation {
    /// Messages from and to the editor.
    pub connection: Connection,
    writer: JoinHandle<io::Result<()>>,
    /// Why nothing more can be read from the editor; empty while all is well.
    broken: Receiver<String>,
}

impl Conversation {
    /// Ends the conversation when everything is written.
    ///
    /// # Errors
    /// A sentence, when the editor's messages could not be read or the answers not be written.
    pub(crate) fn end(self) -> Result<(), String> {
        let Conversation { connection, writer, broken } = self;
        // The writer ends when nobody can send to it any more.
        drop(connection);
        let written = match writer.join() {
            Ok(Err(error)) => Err(error.to_string()),
            _ => Ok(()),
        };
        broken.try_recv().map_or(written, Err)
    }
}

/// Opens the conversation over standard input and output.
pub(crate) fn open() -> Conversation {
    let (server, editor) = Connection::memory();
    let Connection { sender, receiver } = editor;
    let out = Arc::new(Mutex::new(io::stdout()));
    let refusals = out.clone();
    let (breaks, broken) = channel();
    // It ends with the process: nothing else wakes a thread that reads.
    std::thread::spawn(move || {
        let mut input = BufReader::new(io::stdin());
        let refuse = |refusal: Value| {
            // The editor is gone when nobody reads.
            let _ =
                send(&mut *refusals.lock().unwrap_or_else(|broken| broken.into_inner()), &refusal);
        };
        if let Err(reason) = read_all(&mut input, |one| sender.send(one).is_ok(), refuse) {
            // The end of the conversation reports it.
            let _ = breaks.send(reason);
        }
    });
    let writer = std::thread::spawn(move || {
        receiver.iter().try_for_each(|message| {
            message.write(&mut *out.lock().unwrap_or_else(|broken| broken.into_inner()))
        })
    });
    Conversation { connection: server, writer, broken }
}

/// Reads messages until the input ends, or `take` wants no more of them.
fn read_all(
    input: &mut impl BufRead,
    mut take: impl FnMut(Message) -> bool,
    mut refuse: impl FnMut(Value),
) -> Result<(), String> {
    while let Some(length) = read_head(input)? {
        if length > MESSAGE_BYTES_MAX {
            let skipped = io::copy(&mut input.take(length), &mut io::sink());
            skipped.map_err(|error| error.to_string())?;
            let reason =
                format!("a message of {length} bytes; at most {MESSAGE_BYTES_MAX} are read");
            refuse(refusal(Value::Null, ErrorCode::InvalidRequest, &reason));
            continue;
        }
        let mut body = Vec::new();
        let read = input.take(length).read_to_end(&mut body).map_err(|error| error.to_string())?;
        if (read as u64) < length {
            return Err(format!("the input ends in a message: {read} of {length} bytes came"));
        }
        match message(&body) {
            Ok(message) => {
                if !take(message) {
                    return Ok(());
                }
            }
            Err(refusal) => refuse(refusal),
        }
    }
    Ok(())
}

/// The length of the next message; `None` at the end of the input.
fn read_head(input: &mut impl BufRead) -> Result<Option<u64>, String> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        let read = input.take(HEAD_BYTES_MAX).read_until(b'\n', &mut line);
        if read.map_err(|error| error.to_string())? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        if line.is_empty() {
            let missing = || "a message has no `Content-Length` in front of it".to_string();
            return length.map(Some).ok_or_else(missing);
        }
        let wrong = || format!("`{}` is no head of a message", line.escape_debug());
        let (name, value) = line.split_once(':').ok_or_else(wrong)?;
        if name.trim().eq_ignore_ascii_case(LENGTH) {
            length = Some(value.trim().parse().map_err(|_| wrong())?);
        }
    }
}

/// The message of a body, or the answer that refuses it.
fn message(body: &[u8]) -> Result<Message, Value> {
    let value: Value = serde_json::from_slice(body)
        .map_err(|error| refusal(Value::Null, ErrorCode::ParseError, &error.to_string()))?;
    let id = value.get("id").cloned().unwrap_or_default();
    serde_json::from_value(value).map_err(|_| {
        let reason = "neither a request nor a notification nor a response";
        refusal(id, ErrorCode::InvalidRequest, reason)
    })
}

fn refusal(id: Value, code: ErrorCode, reason: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code as i32, "message": reason}})
}

fn send(out: &mut impl Write, value: &Value) -> io::Result<()> {
    let text = value.to_string();
    write!(out, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The methods that were taken, the codes of the refusals, and how it ended.
    fn read(input: &[u8]) -> (Vec<String>, Vec<i64>, Result<(), String>) {
        let (mut taken, mut refused) = (Vec::new(), Vec::new());
        let take = |one: Message| {
            if let Message::Notification(one) = one {
                taken.push(one.method);
            }
            true
        };
        let refuse = |one: Value| refused.push(one["error"]["code"].as_i64().unwrap_or_default());
        let ended = read_all(&mut &*input, take, refuse);
        (taken, refused, ended)
    }

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn what_is_no_message_is_skipped() {
        let good = framed(r#"{"jsonrpc":"2.0","method":"a"}"#);
        for (bad, code) in [("{nope", -32700), ("[]", -32600), (r#"{"id":{}}"#, -32600)] {
            let (taken, refused, ended) = read(format!("{}{good}", framed(bad)).as_bytes());
            assert_eq!(
                (taken, refused, ended),
                (vec!["a".to_string()], vec![code], Ok(())),
                "{bad}"
            );
        }
    }

    #[test]
    fn messages_that_are_too_large_are_skipped() {
        let length = MESSAGE_BYTES_MAX + 1;
        let mut input = format!("content-length:{length}\r\n\r\n").into_bytes();
        input.resize(input.len() + usize::try_from(length).expect("it fits"), b' ');
        input.extend(framed(r#"{"jsonrpc":"2.0","method":"b"}"#).into_bytes());
        assert_eq!(read(&input), (vec!["b".to_string()], vec![-32600], Ok(())));
        // A length that nobody could keep takes no memory.
        let (taken, _, ended) = read(b"Content-Length: 99999999999999\r\n\r\n{}");
        assert_eq!((taken.len(), ended), (0, Ok(())));
    }

    #[test]
    fn heads_that_cannot_be_read_end_it() {
        for (input, reason) in [
            ("hello\r\n\r\n", "`hello` is no head"),
            ("Content-Length: -5\r\n\r\n", "no head"),
            ("Other: 1\r\n\r\n{}", "no `Content-Length`"),
            ("Content-Length: 9\r\n\r\n{}", "2 of 9 bytes"),
        ] {
            let ended = read(input.as_bytes()).2.expect_err("it cannot go on");
            assert!(ended.contains(reason), "{ended}");
        }
    }
}
