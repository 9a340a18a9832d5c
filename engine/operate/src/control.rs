//! The control socket: a socket of the Unix domain that only its owner can open, which takes the requests of the
//! metrics address and those that change something; and the client of `temblor ctl`.
//!
//! Invariant: the socket's file is never open to others, not even for a moment, and goes with the process.

use std::io::{Error as IoError, ErrorKind, Read, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener as StdListener, UnixStream as StdStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use hyper_util::server::graceful::GracefulShutdown;
use temblor_runtime::error::Error;
use tokio::net::UnixListener;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

use crate::answers::{self, Rights};
use crate::operations::Operations;

/// The name of the socket below a state directory.
pub const SOCKET_NAME: &str = "control.sock";
/// How long `temblor ctl` waits for an answer: a reload may wait for sinks that are slow.
const ANSWER_MAX: Duration = Duration::from_secs(120);
/// How long the end of the process waits for answers that are being written, such as that to `drain`.
const LAST_ANSWERS_MAX: Duration = Duration::from_secs(2);
/// Bytes of an answer, at the most.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// The file of a socket, which goes with this value. Who was being answered by then gets the answer.
#[derive(Debug)]
pub struct Socket {
    path: PathBuf,
    /// Tells the thread to end, and the thread.
    answering: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

impl Drop for Socket {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = std::fs::remove_file(&self.path);
        if let Some((end, thread)) = self.answering.take() {
            // A thread that is gone waits for nothing.
            let _ = end.send(());
            let _ = thread.join();
        }
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
    let mut socket = Socket { path: path.to_path_buf(), answering: None };
    let (end, ended) = oneshot::channel();
    let answer = move || {
        runtime.block_on(accept(listener, operations, ended));
        // A reload that still waits for a slow sink holds nothing up.
        runtime.shutdown_background();
    };
    let thread = std::thread::Builder::new().name("control".to_string()).spawn(answer);
    socket.answering = Some((end, thread.map_err(failed)?));
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

/// Answers until the process ends, and then those who have asked by then.
async fn accept(
    listener: StdListener,
    operations: Arc<dyn Operations>,
    mut ended: oneshot::Receiver<()>,
) {
    let Ok(listener) = UnixListener::from_std(listener) else { return };
    let answers = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = &mut ended => break,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let connection = answers::connection(stream, Arc::clone(&operations), Rights::Steer);
        let watched = answers.watch(connection);
        // A peer that breaks off has had its answer, or wants none.
        tokio::spawn(async { drop(watched.await) });
    }
    // Who reads no answer gets none.
    let _ = tokio::time::timeout(LAST_ANSWERS_MAX, answers.shutdown()).await;
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
