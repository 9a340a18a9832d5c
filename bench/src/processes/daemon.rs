//! A log daemon as a peer: it follows the input until everything is written, then it is told to stop.

use super::Job;
use super::cost::{self, Cost};
use rustix::process::{Pid, Signal, kill_process};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Fills in a command for the configuration and the place to work in.
pub(crate) type Arguments = fn(&mut Command, configuration: &Path, work: &Path);

/// Time between two looks at the outputs.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);
/// Outputs that have not grown for so long are complete, but for what the daemon writes at its end.
const QUIET: Duration = Duration::from_secs(2);
/// A daemon that has written nothing after so long has failed.
const SILENCE_MAX: Duration = Duration::from_secs(20);

/// `rsyslogd` in the foreground, without anything of the system's own configuration.
pub(crate) fn rsyslogd(command: &mut Command, configuration: &Path, work: &Path) {
    command.arg("-n").arg("-f").arg(configuration).arg("-i").arg(work.join("pid"));
}

/// `syslog-ng` in the foreground, with state of its own.
pub(crate) fn syslog_ng(command: &mut Command, configuration: &Path, work: &Path) {
    command.args(["--foreground", "--no-caps", "--cfgfile"]).arg(configuration);
    for (option, file) in
        [("--pidfile", "pid"), ("--control", "control"), ("--persist-file", "persist")]
    {
        command.arg(option).arg(work.join(file));
    }
}

/// Runs the daemon over the job's input into a folder of its own. In its configuration `{input}`,
/// `{output}` and `{work}` stand for the file that it reads and the folders that it may write to.
pub(crate) fn run(job: &Job, name: &str, file: &Path, fill: Arguments) -> Result<Cost, String> {
    let (output, work) = (job.directory.file(name), job.directory.file(&format!("{name}.work")));
    for folder in [&output, &work] {
        // The first run finds nothing to remove.
        let _ = std::fs::remove_dir_all(folder);
        std::fs::create_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let configuration = configure(file, &job.input, &output, &work)?;
    let mut command = Command::new(name);
    fill(&mut command, &configuration, &work);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut grown = Duration::ZERO;
    let cost = cost::of(|| {
        let mut child = command.spawn().map_err(|error| format!("{name}: {error}"))?;
        let watched = watch(&output);
        kill_process(Pid::from_child(&child), Signal::TERM).map_err(|error| error.to_string())?;
        child.wait().map_err(|error| format!("{name}: {error}"))?;
        grown = watched.map_err(|reason| format!("{name}: {reason}"))?;
        Ok(())
    })?;
    Ok(Cost { wall_s: grown.as_secs_f64(), ..cost })
}

/// Writes the configuration with its places filled in.
fn configure(file: &Path, input: &Path, output: &Path, work: &Path) -> Result<PathBuf, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", file.display());
    let mut text = std::fs::read_to_string(file).map_err(failed)?;
    for (place, path) in [("{input}", input), ("{output}", output), ("{work}", work)] {
        text = text.replace(place, &path.display().to_string());
    }
    let written = work.join("configuration");
    std::fs::write(&written, text).map_err(failed)?;
    Ok(written)
}

/// Waits until the files below `output` stop growing; gives the time until they last grew.
fn watch(output: &Path) -> Result<Duration, String> {
    let started = Instant::now();
    let (mut bytes, mut grown) = (0, Duration::ZERO);
    loop {
        std::thread::sleep(LOOK_INTERVAL);
        let (now, elapsed) = (size(output)?, started.elapsed());
        if now > bytes {
            (bytes, grown) = (now, elapsed);
        } else if bytes > 0 && elapsed - grown > QUIET {
            return Ok(grown);
        } else if bytes == 0 && elapsed > SILENCE_MAX {
            return Err(format!("nothing was written in {} s", SILENCE_MAX.as_secs()));
        }
    }
}

/// Bytes of all files in a folder.
fn size(folder: &Path) -> Result<u64, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        bytes += entry.and_then(|entry| entry.metadata()).map_err(failed)?.len();
    }
    Ok(bytes)
}
