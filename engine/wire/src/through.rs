//! `through`: a process of the user's own answers each event with another one, a line of JSON for a line.
//!
//! Invariant: answers go back into the program in the order of the events, whichever process gave them; the
//! input of an event counts as done when its answer has got where it should.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong,
};
use temblor_runtime::error::Error;
use temblor_runtime::intake::Messages;
use temblor_runtime::outlet::{Desk, Feedback, Outlet, Parcel, Refusal};
use temblor_runtime::sink::{OpenSink, Sink};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{mpsc, oneshot};

use crate::outbound::{Task, TaskSink};
use crate::retry::{self, RETRY, Retry};

/// Processes at the same time, at the most.
const PROCESSES_MAX: u64 = 256;
/// Parcels that processes work on, or that wait for an answer before them, for each process.
const AHEAD_MAX: usize = 4;
/// How long a process may take to end when there is no more for it.
const GRACE: Duration = Duration::from_secs(5);
/// The longest answer unless the program sets it.
const ANSWER_BYTES_MAX: u64 = 16 << 20;

/// A process between steps.
pub static THROUGH: Connector = Connector {
    kind: "through",
    notation: Notation::Temblor,
    doc: "A process that answers events. Each event is a line of JSON on its standard input, and it writes one line \
          for each, in order, to its standard output: the event that takes its place, or `null` (or nothing) to leave \
          it out. Answers come from `NAME/out` with the metadata of their events, in the order of these. A process that \
          ends or does not answer in time is started again, and asked again about what it has not answered; an event \
          for which that happens `attempts` times goes to `NAME/err`. What a process says on standard error is shown.",
    ends: Ends::Sink,
    address: Some("\"COMMAND\": what the shell runs"),
    source: &[],
    sink: &[
        Setting::new("meta", Takes::Hidden("$"), "Comes back with the answer."),
        Setting::new(
            "processes",
            Takes::Whole { least: 1, most: PROCESSES_MAX },
            "How many processes share the events.",
        )
        .or("1"),
        Setting::new("timeout", Takes::Duration, "How long the answer to an event may take.")
            .or("10s"),
        Setting::new(
            "attempts",
            Takes::Whole { least: 1, most: 1000 },
            "How often a process is asked about an event that it does not answer.",
        )
        .or("2"),
        Setting::new(
            "max_answer",
            Takes::Bytes,
            "A longer answer counts as none. 16MiB when not set.",
        ),
        Setting::new("retry", Takes::Record(RETRY), "The waits before a process is started again."),
    ],
    codec: CodecUse::Default("json"),
    writes_lines: true,
    gives: &["out"],
    meta: &[],
    examples: &[
        r#"sink enrich into through "python3 enrich.py" with processes = 2, timeout = "5s" end;
in |> enrich;
enrich/out |> out"#,
    ],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let through = Through {
        command: settings.text("address").to_string(),
        processes: settings.size("processes"),
        timeout: settings.duration("timeout"),
        attempts: settings.optional_whole("attempts").unwrap_or(1),
        answer_bytes_max: settings.optional_whole("max_answer").unwrap_or(ANSWER_BYTES_MAX),
        retry: Retry::of_settings(settings.record("retry")),
        errors: Feedback::new(),
        answers: Feedback::new(),
    };
    let (errors, answers) = (Arc::clone(&through.errors), Arc::clone(&through.answers));
    let sink = BuiltSink { answers: Some(answers), ..BuiltSink::of_events(through, errors) };
    Ok(Built { sink: Some(sink), ..Built::default() })
}

/// What a plan says of it.
#[derive(Clone, Debug)]
struct Through {
    command: String,
    processes: usize,
    timeout: Duration,
    attempts: u64,
    answer_bytes_max: u64,
    retry: Retry,
    errors: Arc<Feedback>,
    answers: Arc<Feedback>,
}

impl OpenSink for Through {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        let through = self.clone();
        let work = move |outlet, desk| -> Task { Box::pin(share(through, outlet, desk)) };
        Ok(Box::new(TaskSink::new(work)))
    }
}

/// A parcel, and who wants to know the answers to it.
type Asked = (Parcel, oneshot::Sender<Answered>);

/// A parcel with its answers.
struct Answered {
    parcel: Parcel,
    answers: Messages,
    refused: Vec<Refusal>,
}

/// Shares the parcels out among the processes, and gives answers back in their order.
async fn share(through: Through, outlet: Arc<Outlet>, desk: Desk) {
    let through = Arc::new(through);
    let (waiting, mut in_order) =
        mpsc::channel::<oneshot::Receiver<Answered>>(AHEAD_MAX * through.processes);
    let mut workers = Vec::new();
    let mut desks = Vec::new();
    for _ in 0..through.processes {
        let (sender, receiver) = mpsc::channel(AHEAD_MAX);
        let worker = Worker { through: Arc::clone(&through), desk: desk.clone(), process: None };
        workers.push(tokio::spawn(worker.run(receiver)));
        desks.push(sender);
    }
    let giver = Arc::clone(&through);
    let giving = tokio::spawn(async move {
        while let Some(answered) = in_order.recv().await {
            let Ok(Answered { parcel, answers, refused }) = answered.await else { return };
            parcel.answer(answers, &giver.answers, &refused, &giver.errors);
        }
    });
    let mut next = 0;
    while let Some(parcel) = outlet.take().await {
        let (sender, receiver) = oneshot::channel();
        if waiting.send(receiver).await.is_err()
            || desks[next].send((parcel, sender)).await.is_err()
        {
            break;
        }
        next = (next + 1) % desks.len();
    }
    drop((waiting, desks));
    for worker in workers {
        // One that panicked has let go of its parcels unacknowledged.
        let _ = worker.await;
    }
    let _ = giving.await;
}

/// A running process.
struct Process {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Process {
    fn start(command: &str) -> std::io::Result<Self> {
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let stdin = child.stdin.take().expect("it is piped");
        let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        Ok(Self { child, stdin, stdout })
    }

    /// Ends it and all that it has started; gives what is said of its end.
    async fn kill(mut self) -> String {
        if let Some(pid) = self.child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
            // It may have ended by itself.
            let ended = self.child.try_wait().ok().flatten();
            let _ = kill_process_group(pid, Signal::KILL);
            if let Some(status) = ended {
                return status.to_string();
            }
        }
        match self.child.wait().await {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        }
    }

    /// Lets it end, since there is no more for it.
    async fn finish(self) {
        let Self { mut child, stdin, stdout } = self;
        drop(stdin);
        if tokio::time::timeout(GRACE, child.wait()).await.is_err()
            && let Some(pid) = child.id().and_then(|id| Pid::from_raw(id.cast_signed()))
        {
            let _ = kill_process_group(pid, Signal::KILL);
        }
        drop(stdout);
    }
}

/// Asks one process, which it starts and starts again.
struct Worker {
    through: Arc<Through>,
    desk: Desk,
    process: Option<Process>,
}

impl Worker {
    async fn run(mut self, mut parcels: mpsc::Receiver<Asked>) {
        let mut retry = self.through.retry.clone();
        while let Some((parcel, sender)) = parcels.recv().await {
            let answered = self.ask(parcel, &mut retry).await;
            // Nobody waits any more when the run was ended at once.
            let _ = sender.send(answered);
        }
        if let Some(process) = self.process.take() {
            process.finish().await;
        }
    }

    /// The answers to all events of a parcel.
    async fn ask(&mut self, parcel: Parcel, retry: &mut Retry) -> Answered {
        let count = parcel.events().len();
        let (mut answers, mut refused) = (Messages::default(), Vec::new());
        let (mut done, mut failures) = (0, 0);
        while done < count {
            let before = done;
            let Err(reason) = self.talk(&parcel, &mut done, &mut answers).await else { break };
            let said = match self.process.take() {
                Some(process) => format!("{reason} ({})", process.kill().await),
                None => reason,
            };
            failures = if done > before { 1 } else { failures + 1 };
            if done < count && failures >= self.through.attempts {
                let reason = format!("the process gave no answer: {said}");
                refused.push(Refusal { event: done, reason, details: String::new() });
                (done, failures) = (done + 1, 0);
            }
            let help = "it is started again; try the command by itself";
            self.desk.trouble(Error::output(&*self.through.command, said, help));
            match retry.fail(retry::chance()) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => {
                    let given_up = "the process was started too often".to_string();
                    for event in done..count {
                        let reason = given_up.clone();
                        refused.push(Refusal { event, reason, details: String::new() });
                    }
                    break;
                }
            }
        }
        if refused.is_empty() {
            retry.succeed();
        }
        Answered { parcel, answers, refused }
    }

    /// Sends the events from `done` on and reads their answers; `done` counts them.
    async fn talk(
        &mut self,
        parcel: &Parcel,
        done: &mut usize,
        answers: &mut Messages,
    ) -> Result<(), String> {
        if self.process.is_none() {
            let started = Process::start(&self.through.command);
            self.process = Some(started.map_err(|error| error.to_string())?);
        }
        let Some(Process { stdin, stdout, .. }) = &mut self.process else { return Ok(()) };
        if !stdout.buffer().is_empty() {
            return Err("it wrote a line that no event asked for".to_string());
        }
        let mut lines = Vec::new();
        for event in parcel.events().skip(*done) {
            lines.extend_from_slice(event.trim_ascii_end());
            lines.push(b'\n');
        }
        let write = async {
            // What goes wrong here shows where answers are read.
            let _ = stdin.write_all(&lines).await;
            let _ = stdin.flush().await;
            std::future::pending::<()>().await;
        };
        let through = &self.through;
        let read = async {
            let mut line = Vec::new();
            while *done < parcel.events().len() {
                line.clear();
                let mut bounded = (&mut *stdout).take(through.answer_bytes_max);
                let reading = bounded.read_until(b'\n', &mut line);
                match tokio::time::timeout(through.timeout, reading).await {
                    Err(_) => {
                        return Err(format!("it has not answered within {:?}", through.timeout));
                    }
                    Ok(Err(error)) => return Err(error.to_string()),
                    Ok(Ok(_)) if !line.ends_with(b"\n") => {
                        return Err(match line.len() as u64 == through.answer_bytes_max {
                            true => format!("its answer is longer than {} bytes", line.len()),
                            false => "it has ended".to_string(),
                        });
                    }
                    Ok(Ok(_)) => {}
                }
                let answer = line.trim_ascii();
                if !answer.is_empty() && answer != b"null" {
                    let meta = parcel.attribute(*done, 0).filter(|meta| *meta != "{}");
                    answers.push(meta.unwrap_or_default(), answer);
                }
                *done += 1;
            }
            Ok(())
        };
        tokio::select! {
            read = read => read,
            () = write => Ok(()),
        }
    }
}
