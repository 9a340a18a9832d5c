//! What the process uses of the machine, and what machine it is.
//!
//! Invariant: what the system does not tell is absent, never guessed.

use rustix::time::{ClockId, clock_gettime};

/// What the process has used since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time on all cores, in nanoseconds.
    pub cpu_ns: u64,
}

impl Usage {
    /// The usage now.
    pub fn now() -> Self {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        Usage { cpu_ns: seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0) }
    }
}

/// The most memory that the process has held at once, in bytes, where the system tells (Linux).
pub(crate) fn peak_memory() -> Option<u64> {
    field("/proc/self/status", "VmHWM:")?.strip_suffix(" kB")?.parse::<u64>().ok().map(|k| k * 1024)
}

/// The name of the processor, where the system tells (Linux).
pub fn processor() -> Option<String> {
    field("/proc/cpuinfo", "model name")
}

/// Runnable tasks on average over the last minute, where the system tells (Linux).
pub fn load_average() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

/// Number of cores that the process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What stands behind a name in a file of names and values.
fn field(file: &str, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line[name.len()..].trim_start_matches([' ', '\t', ':']).trim().to_string())
}
