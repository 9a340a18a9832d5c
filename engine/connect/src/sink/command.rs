//! The sink that is a command: what is written goes to its standard input.
//!
//! Invariant: events count as delivered when a command that lives has read them, or has ended well; what a
//! command that failed has not read stays unacknowledged. A command that does not read holds up nobody else.

use std::collections::{HashMap, VecDeque};
use std::io::{Error as IoError, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::sink::{Sink, WriteFailure};
use temblor_runtime::ack::Token;
use temblor_runtime::error::Error;
use temblor_runtime::limits::{DRAIN_MAX, OPEN_FILES_MAX};
use temblor_runtime::outlet::{Desk, Outlet, Parcel};
use temblor_runtime::outputs::Chunk;
use temblor_runtime::sink::Delivered;

/// Time between two looks at whether commands have read what they were given.
const LOOK: Duration = Duration::from_millis(10);
/// The first pause before a command that failed is started again; each is twice the one before.
const PAUSE_FIRST: Duration = Duration::from_millis(100);
/// The longest of these pauses.
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// Commands by what they are; the place of a write, if it has one, is the command.
pub(crate) struct CommandSink {
    command: String,
    idle_max: Option<Duration>,
    /// What waits for the commands, once the run has begun.
    outlet: Option<Arc<Outlet>>,
    /// The process groups that are running.
    groups: Groups,
    running: Option<(Desk, JoinHandle<()>)>,
}

/// Process groups that the end of the run may have to end.
type Groups = Arc<Mutex<Vec<Pid>>>;

impl CommandSink {
    /// A sink whose command is started at the first write.
    pub(super) fn new(command: &str, idle_max: Option<Duration>) -> Self {
        let (command, groups) = (command.to_string(), Groups::default());
        Self { command, idle_max, outlet: None, groups, running: None }
    }
}

impl Sink for CommandSink {
    fn start(&mut self, desk: &Desk) -> Result<(), Error> {
        let commands = Commands {
            command: self.command.clone(),
            idle_max: self.idle_max,
            desk: desk.clone(),
            groups: Arc::clone(&self.groups),
            running: HashMap::new(),
            failed: HashMap::new(),
        };
        let (outlet, handle) = (Outlet::new(desk.policy), desk.network.handle()?.clone());
        desk.drain.watch(&outlet);
        self.outlet = Some(Arc::clone(&outlet));
        let thread = std::thread::Builder::new().name("command".to_string());
        let thread = thread.spawn(move || commands.serve(&outlet, &handle));
        let thread = thread.map_err(|error| Error::bug("command", error.to_string()))?;
        self.running = Some((desk.clone(), thread));
        Ok(())
    }

    fn deliver(
        &mut self,
        place: &str,
        chunk: &mut Chunk,
        tokens: &[Token],
    ) -> Result<Delivered, WriteFailure> {
        if let (Some((desk, _)), Some(outlet)) = (&self.running, &self.outlet) {
            // The thread has ended only when the run has: the parcel fails then.
            let _ = outlet.put(Parcel::new(place, chunk, tokens, desk));
        }
        Ok(Delivered::Later)
    }

    fn write(&mut self, place: &str, bytes: &[u8]) -> Result<(), WriteFailure> {
        let mut chunk = Chunk { bytes: bytes.to_vec(), ..Chunk::default() };
        self.deliver(place, &mut chunk, &[]).map(|_| ())
    }

    fn finish(&mut self) {
        let Some(outlet) = self.outlet.take() else { return };
        outlet.close();
        let Some((desk, thread)) = self.running.take() else { return };
        let began = Instant::now();
        while !thread.is_finished() && began.elapsed() < desk.drain.left() {
            std::thread::sleep(LOOK);
        }
        if !thread.is_finished() {
            let reason = format!(
                "has neither read all of its input nor ended within {:?}",
                desk.drain.limit
            );
            let help = "what it has not read stays unacknowledged";
            desk.trouble(Error::output(&*desk.name, reason, help));
            outlet.abandon();
            let groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
            for group in groups.iter() {
                // One that has ended by itself cannot be ended.
                let _ = kill_process_group(*group, Signal::KILL);
            }
        }
        // Nothing holds the thread up any more; a panic there has been told.
        let _ = thread.join();
    }
}

/// The thread that starts commands and writes to them.
struct Commands {
    command: String,
    idle_max: Option<Duration>,
    desk: Desk,
    groups: Groups,
    running: HashMap<String, Running>,
    /// Commands that failed: when they may be started again, and the pause after that.
    failed: HashMap<String, (Instant, Duration)>,
}

struct Running {
    child: Child,
    /// What it was given and has not been seen to read.
    unread: VecDeque<Parcel>,
    /// When it was written to last.
    last: Instant,
}

impl Commands {
    fn serve(mut self, outlet: &Outlet, handle: &Handle) {
        loop {
            let patience =
                if self.is_waiting() { LOOK } else { self.idle_max.unwrap_or(DRAIN_MAX) };
            match handle.block_on(async { timeout(patience, outlet.take()).await }) {
                Ok(Some(parcel)) => self.write(parcel),
                Ok(None) => break,
                Err(_) => {}
            }
            self.look();
        }
        let running: Vec<_> = self.running.drain().collect();
        running.into_iter().for_each(|(command, running)| self.end(&command, running));
    }

    /// Whether a command has something that it has not read.
    fn is_waiting(&self) -> bool {
        self.running.values().any(|running| !running.unread.is_empty())
    }

    /// Confirms what commands have read, and ends those that have had nothing for too long.
    fn look(&mut self) {
        let idle_max = self.idle_max;
        let mut over = Vec::new();
        for (command, running) in &mut self.running {
            match running.child.try_wait() {
                Ok(None) if running.has_read_all() => {
                    running.unread.drain(..).for_each(Parcel::confirm);
                }
                Ok(None) => {}
                _ => over.push(command.clone()),
            }
            if idle_max.is_some_and(|most| running.last.elapsed() > most) {
                over.push(command.clone());
            }
        }
        for command in over {
            if let Some(running) = self.running.remove(&command) {
                self.end(&command, running);
            }
        }
    }

    fn write(&mut self, parcel: Parcel) {
        let place = parcel.place();
        let command = if place.is_empty() { self.command.clone() } else { place.to_string() };
        let now = Instant::now();
        if let Some((again, _)) = self.failed.get(&command).filter(|(again, _)| *again > now) {
            // The input is held up, not thrown away, until the command may be started again.
            std::thread::sleep(again.duration_since(now));
        }
        if !self.running.contains_key(&command)
            && let Err(error) = self.begin(&command)
        {
            return parcel.fail(cannot(&command, &format!("cannot be started: {error}")));
        }
        let Some(running) = self.running.get_mut(&command) else { return };
        running.last = now;
        let stdin = running.child.stdin.as_mut();
        let written = stdin.map_or(Ok(()), |stdin| stdin.write_all(parcel.bytes()));
        running.unread.push_back(parcel);
        if written.is_err()
            && let Some(running) = self.running.remove(&command)
        {
            self.end(&command, running);
        }
    }

    fn begin(&mut self, command: &str) -> Result<(), IoError> {
        if self.running.len() >= OPEN_FILES_MAX {
            let running: Vec<_> = self.running.drain().collect();
            running.into_iter().for_each(|(command, running)| self.end(&command, running));
        }
        let mut shell = Command::new("sh");
        let child = shell.arg("-c").arg(command).stdin(Stdio::piped()).process_group(0).spawn()?;
        self.lock_groups().extend(group_of(&child));
        let running = Running { child, unread: VecDeque::new(), last: Instant::now() };
        self.running.insert(command.to_string(), running);
        Ok(())
    }

    /// Closes the input of a command, waits for it, and settles what it was given.
    fn end(&mut self, command: &str, mut running: Running) {
        drop(running.child.stdin.take());
        let group = group_of(&running.child);
        let status = running.child.wait();
        self.lock_groups().retain(|one| Some(*one) != group);
        let reason = match status {
            Ok(status) if status.success() => {
                self.failed.remove(command);
                return running.unread.into_iter().for_each(Parcel::confirm);
            }
            Ok(status) => ended(status),
            Err(error) => format!("cannot be waited for: {error}"),
        };
        let pause = self.failed.get(command).map_or(PAUSE_FIRST, |(_, pause)| *pause * 2);
        let pause = pause.min(PAUSE_MAX);
        self.failed.insert(command.to_string(), (Instant::now() + pause, pause));
        let mut unread = running.unread.into_iter();
        match unread.next() {
            Some(first) => first.fail(cannot(command, &reason)),
            None => self.desk.trouble(cannot(command, &reason)),
        }
        // One message is enough.
        unread.for_each(Parcel::fail_silently);
    }

    fn lock_groups(&self) -> std::sync::MutexGuard<'_, Vec<Pid>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Running {
    /// Whether nothing of what was written is left in the pipe.
    fn has_read_all(&self) -> bool {
        let stdin = self.child.stdin.as_ref();
        stdin.is_none_or(|stdin| matches!(rustix::io::ioctl_fionread(stdin), Ok(0)))
    }
}

fn group_of(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// How a command ended that did not end well.
fn ended(status: ExitStatus) -> String {
    const NOT_FOUND: i32 = 127;
    match (status.code(), status.signal()) {
        (Some(NOT_FOUND), _) => {
            format!("ended with exit status {NOT_FOUND}: the shell does not find it")
        }
        (Some(code), _) => format!("ended with exit status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "did not end well".to_string(),
    }
}

#[cold]
fn cannot(command: &str, reason: &str) -> Error {
    let help =
        "what it has not read is not delivered; a command must read its input and end with 0";
    Error::output(command, reason, help)
}
