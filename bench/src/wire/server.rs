//! A program that is measured while others send to it.

use rustix::process::{Pid, Signal, kill_process};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a program may take to listen, and to have written everything.
const WAIT_MAX: Duration = Duration::from_secs(120);
/// Time between two looks.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// A running program.
pub(super) struct Server {
    child: Child,
    before: f64,
}

impl Server {
    /// Starts a program.
    pub(super) fn start(mut command: Command) -> Result<Self, String> {
        let name = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|error| format!("{name}: {error}"))?;
        Ok(Self { child, before: 0.0 })
    }

    /// Starts a program of Temblor with one worker, and waits until it listens at a port.
    pub(super) fn temblor(folder: &Path, program: &str, port: Option<u16>) -> Result<Self, String> {
        let path = folder.join("program.tmb");
        std::fs::write(&path, program).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut command = Command::new(crate::core::process::command()?);
        command.args(["run", "-q", "--workers", "1"]).arg(&path);
        let mut server = Self::start(command)?;
        if let Some(port) = port {
            server.wait_for_port(port)?;
        }
        Ok(server)
    }

    /// Waits until it listens for TCP, and counts its time from now on.
    pub(super) fn wait_for_port(&mut self, port: u16) -> Result<(), String> {
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            self.check()?;
            if began.elapsed() > WAIT_MAX {
                return Err(format!("nothing listens at port {port}"));
            }
            std::thread::sleep(LOOK_INTERVAL);
        }
        self.before = self.total();
        Ok(())
    }

    /// Waits until something holds.
    pub(super) fn wait_until(
        &mut self,
        what: &str,
        mut holds: impl FnMut() -> bool,
    ) -> Result<(), String> {
        let began = Instant::now();
        while !holds() {
            self.check()?;
            if began.elapsed() > WAIT_MAX {
                return Err(format!("{what}: not within {WAIT_MAX:?}"));
            }
            std::thread::sleep(LOOK_INTERVAL);
        }
        Ok(())
    }

    /// An error when it has failed.
    pub(super) fn check_lives(&mut self) -> Result<(), String> {
        self.check()
    }

    fn check(&mut self) -> Result<(), String> {
        match self.child.try_wait() {
            Ok(Some(status)) if !status.success() => {
                Err(format!("the program has ended: {status}"))
            }
            _ => Ok(()),
        }
    }

    /// Processor time since it listens, in seconds: user and system (proc(5), stat).
    pub(super) fn cpu_seconds(&self) -> f64 {
        self.total() - self.before
    }

    fn total(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()));
        let stat = stat.unwrap_or_default();
        // Fields 14 and 15; the name in front of them may hold anything but ends with `)`.
        let behind = stat.rsplit(')').next().unwrap_or_default();
        let ticks =
            behind.split_whitespace().skip(11).take(2).filter_map(|one| one.parse::<f64>().ok());
        ticks.sum::<f64>() / rustix::param::clock_ticks_per_second() as f64
    }

    /// Memory that it holds, in bytes (proc(5), VmRSS).
    pub(super) fn resident_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok());
        kib.unwrap_or_default() * 1024
    }

    /// Asks it to end, and waits for that.
    pub(super) fn stop(mut self) -> Result<(), String> {
        kill_process(Pid::from_child(&self.child), Signal::TERM)
            .map_err(|error| error.to_string())?;
        self.child.wait().map(drop).map_err(|error| error.to_string())
    }

    /// Waits until it ends by itself; its processor time with its children's, in seconds.
    pub(super) fn finish(mut self) -> Result<f64, String> {
        let mut last = self.total();
        loop {
            match self.child.try_wait().map_err(|error| error.to_string())? {
                Some(status) if status.success() => return Ok(last),
                Some(status) => return Err(format!("the program has ended: {status}")),
                // A process that has ended and was not waited for still says its time.
                None => last = self.total().max(last),
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that nobody listens at.
pub(super) fn free_port() -> Result<u16, String> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    listener.local_addr().map(|address| address.port()).map_err(|error| error.to_string())
}

/// Lines of all files in a folder.
pub(super) fn lines(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let files = entries.flatten().filter_map(|entry| std::fs::read(entry.path()).ok());
    files.map(|bytes| bytes.iter().filter(|byte| **byte == b'\n').count()).sum()
}
