//! The control socket: a socket of the Unix domain that only its owner can open, which takes the requests of the
//! metrics address and those that change something; and the client of `temblor ctl`.
//!
//! Invariant: the socket's file is never open to others, not even for a moment, and goes with the process.

use std::io::{Error as IoError, ErrorKind, Read, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener as StdListener, UnixStream as StdStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use temblor_runtime::error::Error;
use tokio::net::UnixListener;
use tokio::runtime::Builder;

use crate::answers::{self, Rights};
use crate::operations::Operations;

/// The name of the socket below a state directory.
pub const SOCKET_NAME: &str = "control.sock";
/// How long `temblor ctl` waits for an answer: a reload may wait for sinks that are slow.
const ANSWER_MAX: Duration = Duration::from_secs(120);
/// Bytes of an answer, at the most.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// The file of a socket, which goes with this value.
#[derive(Debug)]
pub struct Socket(PathBuf);

impl Drop for Socket {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Listens on a path and answers in a thread of its own.
///
/// # Errors
/// The path cannot be had, or another process listens there.
pub fn serve(path: &Path, operations: Arc<dyn Operations>) -> Result<Socket, Error> {
    let failed = |error: IoError| {
        let place = format!("control socket {}", path.display());
        let help = "give a path in a directory that can be written, with --control PATH";
        Error::config(place, format!("cannot be listened on: {error}; {help}"))
    };
    let listener = listen(path).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let socket = Socket(path.to_path_buf());
    std::thread::Builder::new()
        .name("control".to_string())
        .spawn(move || runtime.block_on(accept(listener, operations)))
        .map_err(failed)?;
    Ok(socket)
}

/// Binds below another name in a directory of its own that only the owner enters, and moves the socket into its
/// place once its mode is right.
fn listen(path: &Path) -> Result<StdListener, IoError> {
    remove_stale(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let folder = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let mut private = std::fs::DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut private, 0o700);
    private.create(&folder)?;
    let hidden = folder.join("socket");
    let bound = StdListener::bind(&hidden).and_then(|listener| {
        std::fs::set_permissions(&hidden, PermissionsExt::from_mode(0o600))?;
        std::fs::rename(&hidden, path)?;
        Ok(listener)
    });
    // What is left of a failure goes, too.
    let _ = std::fs::remove_file(&hidden);
    let _ = std::fs::remove_dir(&folder);
    bound
}

/// Removes the socket of a process that is gone; anything else stays.
fn remove_stale(path: &Path) -> Result<(), IoError> {
    let found = match std::fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !found.file_type().is_socket() {
        return Err(IoError::other("there is a file of this name that is no socket"));
    }
    if StdStream::connect(path).is_ok() {
        return Err(IoError::new(ErrorKind::AddrInUse, "another process listens there"));
    }
    std::fs::remove_file(path)
}

async fn accept(listener: StdListener, operations: Arc<dyn Operations>) {
    let Ok(listener) = UnixListener::from_std(listener) else { return };
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        tokio::spawn(answers::serve(stream, Arc::clone(&operations), Rights::Steer));
    }
}

/// Asks the process behind a socket. Gives the status and the body of its answer.
///
/// # Errors
/// Nobody listens there, or the answer does not come.
pub fn ask(path: &Path, method: &str, target: &str) -> Result<(u16, String), IoError> {
    let mut stream = StdStream::connect(path)?;
    stream.set_read_timeout(Some(ANSWER_MAX))?;
    let request = format!(
        "{method} {target} HTTP/1.1\r\nHost: temblor\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer);
    let broken = || IoError::new(ErrorKind::InvalidData, "the answer is no answer of temblor");
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(broken)?;
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or_else(broken)?;
    Ok((status, body.to_string()))
}
