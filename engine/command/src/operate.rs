//! Arguments about watching and steering a run, and what they start.

use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use temblor_operate::control::{self, SOCKET_NAME, Socket};
use temblor_operate::log::{Log, LogFormat};
use temblor_operate::operations::Operations;
use temblor_operate::{api, privileges};
use temblor_runtime::error::Error;
use temblor_runtime::overseer::{Overseer, View};
use temblor_runtime::stats::Health;

#[derive(Clone, Debug, Args)]
pub(crate) struct OperateArgs {
    /// Serve /metrics, /health and /ready at this address, such as 127.0.0.1:9600
    #[arg(long, value_name = "ADDRESS")]
    api: Option<String>,
    /// Take the requests of `temblor ctl` at this socket [default: control.sock in the directory of --state]
    #[arg(long, value_name = "PATH")]
    control: Option<PathBuf>,
    /// How long the run may take to stop; what is left then stays unacknowledged
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = super::parse_step)]
    drain_timeout: Duration,
    /// Hold sources up while the process takes nearly so much memory, such as 512MiB
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    memory: Option<u64>,
    /// Become this user (NAME or NAME:GROUP) once all sources are open, and give up the rights of root for good
    #[arg(long, value_name = "USER")]
    user: Option<String>,
    /// Read the program again when its files have changed
    #[arg(long)]
    watch: bool,
    /// Write messages to a log with times and levels: off, error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL")]
    log: Option<String>,
    /// How lines of the log look [default: text, when there is --log]
    #[arg(long, value_enum, value_name = "FORMAT")]
    log_format: Option<LogFormatArg>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LogFormatArg {
    /// Time, level and text
    Text,
    /// One JSON object a line
    Json,
}

impl From<LogFormatArg> for LogFormat {
    fn from(format: LogFormatArg) -> Self {
        match format {
            LogFormatArg::Text => LogFormat::Text,
            LogFormatArg::Json => LogFormat::Json,
        }
    }
}

/// The least memory that can be asked for, in MiB: below that the program itself may not fit.
const MEMORY_MIB_MIN: u64 = 32;

fn parse_memory(text: &str) -> Result<u64, String> {
    let bytes = temblor_lang::units::parse_size(text).filter(|bytes| bytes >> 20 >= MEMORY_MIB_MIN);
    bytes.ok_or_else(|| {
        format!("`{text}` is no size of {MEMORY_MIB_MIN}MiB or more: write it like 512MiB")
    })
}

/// Time between two looks at whether all sources are open.
const LOOK: Duration = Duration::from_millis(2);

/// Whether no source is still to be opened.
fn is_open(view: &View) -> bool {
    view.stats.sources.iter().all(|(_, source)| source.condition.get() != Health::Opening)
}

/// The level of a log for which only the format is given.
const LEVEL: &str = "info";

impl OperateArgs {
    /// How long the run may take to stop.
    pub(crate) fn drain_max(&self) -> Duration {
        self.drain_timeout
    }

    /// Memory above which sources are held up, in bytes.
    pub(crate) fn memory_max(&self) -> Option<u64> {
        self.memory
    }

    /// Gives what the run keeps on disk to the user that the process will become.
    pub(crate) fn give_away(&self, state: Option<&Path>) -> Result<(), Error> {
        match (&self.user, state) {
            (Some(user), Some(directory)) => privileges::give(directory, user),
            _ => Ok(()),
        }
    }

    /// Becomes the user that was asked for as soon as all sources are open. A process that cannot ends: it must
    /// not go on with rights that it was to give up.
    pub(crate) fn become_user(&self, overseer: &Arc<Overseer>) {
        let (Some(user), overseer) = (self.user.clone(), Arc::clone(overseer)) else { return };
        std::thread::spawn(move || {
            while !overseer.view().is_some_and(is_open) {
                std::thread::sleep(LOOK);
            }
            if let Err(error) = privileges::become_user(&user) {
                eprintln!("error: {error}");
                std::process::exit(i32::from(error.exit_code()));
            }
        });
    }

    /// Whether the program is read again when its files change.
    pub(crate) fn watches(&self) -> bool {
        self.watch
    }

    /// The log, if there is to be one.
    pub(crate) fn log(&self) -> Result<Option<Arc<Log>>, String> {
        if self.log.is_none() && self.log_format.is_none() {
            return Ok(None);
        }
        let level = self.log.as_deref().unwrap_or(LEVEL);
        let format = self.log_format.map(LogFormat::from).unwrap_or_default();
        let log = Log::begin(format, level).map_err(|reason| format!("--log: {reason}"))?;
        Ok(Some(Arc::new(log)))
    }

    /// Opens the address and the socket that were asked for. The socket goes with what is given back.
    pub(crate) fn open(
        &self,
        state: Option<&Path>,
        operations: &Arc<dyn Operations>,
    ) -> Result<Option<Socket>, Error> {
        if let Some(address) = &self.api {
            let place = api::serve(address, Arc::clone(operations))?;
            if address.ends_with(":0") {
                eprintln!("note: metrics and health at http://{place}");
            }
        }
        if let Some(path) = &self.control {
            return control::serve(path, Arc::clone(operations)).map(Some);
        }
        let Some(directory) = state else { return Ok(None) };
        // Nobody asked for this one: the run does without it where it cannot be had.
        let opened = control::serve(&directory.join(SOCKET_NAME), Arc::clone(operations));
        Ok(opened.inspect_err(|error| eprintln!("note: {error}")).ok())
    }
}
