//! Time, medians, and the files that are measured. A cost is of one run over all of an input.

use rustix::time::{ClockId, clock_gettime};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What one run took.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Seconds of all threads on the processors.
    pub cpu_s: f64,
    /// Seconds on the clock on the wall.
    pub wall_s: f64,
}

impl Cost {
    /// The cost of `work`.
    pub fn of<T>(work: impl FnOnce() -> Result<T, String>) -> Result<(T, Self), String> {
        let (cpu, wall) = (processor_time(), Instant::now());
        let result = work()?;
        let cost = Self {
            cpu_s: (processor_time() - cpu).as_secs_f64(),
            wall_s: wall.elapsed().as_secs_f64(),
        };
        Ok((result, cost))
    }
}

/// The time that this process has had on the processors.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// The median; of an even number of values the mean of the middle two.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        length if length % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

/// Lines in a file and in memory.
pub struct Input {
    /// The file.
    pub path: PathBuf,
    /// What it holds.
    pub text: Vec<u8>,
    /// Number of lines.
    pub lines: u64,
}

impl Input {
    /// Writes `lines` to `path`.
    pub fn write(path: &Path, lines: &[String]) -> Result<Self, String> {
        let mut text = Vec::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
        for line in lines {
            text.extend_from_slice(line.as_bytes());
            text.push(b'\n');
        }
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let mut file = BufWriter::new(std::fs::File::create(path).map_err(failed)?);
        file.write_all(&text).and_then(|()| file.flush()).map_err(failed)?;
        Ok(Self { path: path.to_path_buf(), text, lines: lines.len() as u64 })
    }

    /// Size in megabytes.
    pub fn megabytes(&self) -> f64 {
        self.text.len() as f64 / 1e6
    }
}

/// A directory that goes when this does.
pub struct Directory(PathBuf);

impl Directory {
    /// A new one among the system's temporary files.
    pub fn make() -> Result<Self, String> {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("temblor-bench-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // Nothing depends on it; the system clears its temporary files too.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
