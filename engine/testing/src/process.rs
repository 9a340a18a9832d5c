//! A process that runs beside its test.
//!
//! Invariant: the process ends with its value, also when the test fails.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::process::{Pid, Signal, kill_process};

use crate::command::Ran;
use crate::wait::{wait_for, wait_until};

/// A running process, whose output is read all the time, so that it never waits for its reader.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// The program, for messages.
    name: String,
    out: Stream,
    err: Stream,
}

/// What came out of a pipe so far, and the thread that reads it.
#[derive(Debug)]
struct Stream {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts the command. Its input is a pipe.
    pub fn start(mut command: Command) -> Process {
        let name = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{name}: {error}"));
        let out = Stream::read(child.stdout.take().expect("it is piped"));
        let err = Stream::read(child.stderr.take().expect("it is piped"));
        Process { child, name, out, err }
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Writes to its input, which stays open. A process that reads no more is no failure.
    pub fn write(&mut self, input: impl AsRef<[u8]>) {
        let stdin = self.child.stdin.as_mut().expect("its input has not been taken");
        let _ = stdin.write_all(input.as_ref()).and_then(|()| stdin.flush());
    }

    /// Its input, which ends when the value is dropped.
    ///
    /// # Panics
    /// When it has been taken before.
    pub fn take_input(&mut self) -> ChildStdin {
        self.child.stdin.take().expect("its input has not been taken")
    }

    /// Its standard output so far.
    pub fn out(&self) -> String {
        self.out.text()
    }

    /// Its standard error so far.
    pub fn err(&self) -> String {
        self.err.text()
    }

    /// Waits until `text` is in its standard output or error. Fails when it ends without.
    pub fn wait_for_text(&mut self, text: &str) {
        wait_until(&format!("{text:?} from {}", self.name), || {
            // The end is asked for first: what was written before it has then been read or will be.
            let ended = self.status().is_some();
            if ended {
                self.finish_reading();
            }
            let found = self.out().contains(text) || self.err().contains(text);
            let said = || format!("{}{}", self.out(), self.err());
            assert!(found || !ended, "{} ended without {text:?}: {}", self.name, said());
            found
        });
    }

    /// How it ended; nothing while it runs.
    pub fn status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a child can be asked for")
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal)
            .unwrap_or_else(|error| panic!("{}: {error}", self.name));
    }

    /// Asks it to end with SIGTERM and waits until it has.
    pub fn terminate(self) -> Ran {
        self.signal(Signal::TERM);
        self.wait()
    }

    /// Ends it with SIGKILL, as a crash does.
    pub fn kill(self) -> Ran {
        self.signal(Signal::KILL);
        self.wait()
    }

    /// Waits until it ends; its input may stay open.
    pub fn wait(mut self) -> Ran {
        let what = format!("the end of {}", self.name);
        let status = wait_for(&what, || self.status());
        self.finish_reading();
        Ran { out: self.out(), err: self.err(), code: status.code() }
    }

    fn finish_reading(&mut self) {
        self.out.finish();
        self.err.finish();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Stream {
    fn read(mut pipe: impl Read + Send + 'static) -> Stream {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let target = Arc::clone(&bytes);
        let reader = std::thread::spawn(move || {
            let mut block = vec![0; 64 * 1024];
            while let Ok(length @ 1..) = pipe.read(&mut block) {
                target.lock().expect("no reader panics").extend_from_slice(&block[..length]);
            }
        });
        Stream { bytes, reader: Some(reader) }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().expect("no reader panics")).into_owned()
    }

    fn finish(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.join().expect("no reader panics");
        }
    }
}
