//! `temblor buffer`: what buffers on disk hold, whether they are whole, and how to get events out of them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::{Args, Subcommand};
use std::io::Write;
use std::path::{Path, PathBuf};
use temblor_buffer::log::OpenError;
use temblor_buffer::seal::Key;
use temblor_buffer::tool::{self, Report, SegmentReport};
use temblor_buffer::{arrival, letters, parcel};
use temblor_declare::Secret;
use temblor_lang::value::push_json_string;
use temblor_runtime::framing::FrameCursor;
use temblor_runtime::outputs::Chunk;

/// Exit code when a buffer is damaged or cannot be used.
const UNUSABLE: u8 = 6;

#[derive(Debug, Args)]
pub(crate) struct BufferArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Say what buffers hold, by the heads of their records
    Inspect(LookArgs),
    /// Read every record, and say which are damaged; exit code 6 when some are
    Verify(LookArgs),
    /// Write damaged segments anew, without what is damaged; no run may use the buffer
    Repair(LookArgs),
    /// Print the events that have not been delivered
    Export(ExportArgs),
}

#[derive(Debug, Args)]
struct LookArgs {
    /// A state directory, or the directory of one buffer
    directory: PathBuf,
    /// As one line of JSON for each buffer
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct ExportArgs {
    /// A state directory, or the directory of one buffer
    directory: PathBuf,
    /// Print those that were delivered and are still there, too
    #[arg(long)]
    all: bool,
    /// Print each event as a line of JSON with its buffer, record, place and bytes
    #[arg(long)]
    json: bool,
    /// The key of a sealed buffer: env:NAME, file:PATH or itself
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

/// Does what is asked; gives the exit code.
pub(crate) fn buffer(args: &BufferArgs) -> u8 {
    let done = match &args.verb {
        Verb::Inspect(args) => look(args, false),
        Verb::Verify(args) => look(args, true),
        Verb::Repair(args) => repair(args),
        Verb::Export(args) => export(args),
    };
    done.unwrap_or_else(|reason| {
        eprintln!("error: {reason}");
        UNUSABLE
    })
}

fn buffers(directory: &Path) -> Result<Vec<PathBuf>, String> {
    tool::buffers(directory).map_err(|error| {
        let help = "give the directory of `run --state`, or one below its `buffers`";
        format!("{}: {error}\n  help: {help}", directory.display())
    })
}

fn look(args: &LookArgs, reads_bodies: bool) -> Result<u8, String> {
    let mut code = 0;
    for directory in buffers(&args.directory)? {
        let report = tool::look(&directory, reads_bodies);
        let report = report.map_err(|error| format!("{}: {error}", directory.display()))?;
        match args.json {
            true => println!("{}", json(&report)),
            false => print!("{}", text(&report)),
        }
        if reads_bodies && report.damaged_bytes() > 0 {
            code = UNUSABLE;
        }
    }
    Ok(code)
}

fn text(report: &Report) -> String {
    let records: u64 = report.segments.iter().map(|one| one.records).sum();
    let mut text = format!(
        "{}\n  {} segments, {} bytes, {records} records, {} events not delivered{}\n",
        report.directory.display(),
        report.segments.len(),
        report.bytes(),
        report.pending_events(),
        if report.is_in_use { ", in use" } else { "" },
    );
    for segment in &report.segments {
        text.push_str(&row(segment));
    }
    for path in &report.set_aside {
        text.push_str(&format!("  {}: set aside, as a part of it could not be read\n", name(path)));
    }
    text
}

fn row(segment: &SegmentReport) -> String {
    let SegmentReport { bytes, records, events, pending_events, damaged_bytes, .. } = segment;
    let sealed = if segment.is_sealed { ", sealed" } else { "" };
    let damaged = match damaged_bytes {
        0 => String::new(),
        bytes => format!(", {bytes} bytes damaged"),
    };
    format!(
        "  {}: {bytes} bytes, {records} records, {events} events, {pending_events} not delivered{sealed}{damaged}\n",
        name(&segment.path)
    )
}

fn name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

fn json(report: &Report) -> String {
    let quoted = |text: &str| {
        let mut out = Vec::new();
        push_json_string(&mut out, text);
        String::from_utf8_lossy(&out).into_owned()
    };
    let segment = |one: &SegmentReport| {
        format!(
            "{{\"file\":{},\"bytes\":{},\"created_ns\":{},\"sealed\":{},\"records\":{},\"events\":{},\
             \"pending_events\":{},\"damaged_bytes\":{}}}",
            quoted(&name(&one.path)),
            one.bytes,
            one.created_ns.map_or("null".to_string(), |time| time.to_string()),
            one.is_sealed,
            one.records,
            one.events,
            one.pending_events,
            one.damaged_bytes
        )
    };
    let segments: Vec<_> = report.segments.iter().map(segment).collect();
    let aside: Vec<_> = report.set_aside.iter().map(|path| quoted(&name(path))).collect();
    format!(
        "{{\"directory\":{},\"in_use\":{},\"bytes\":{},\"pending_events\":{},\"damaged_bytes\":{},\"segments\":[{}],\
         \"set_aside\":[{}]}}",
        quoted(&report.directory.display().to_string()),
        report.is_in_use,
        report.bytes(),
        report.pending_events(),
        report.damaged_bytes(),
        segments.join(","),
        aside.join(",")
    )
}

fn repair(args: &LookArgs) -> Result<u8, String> {
    for directory in buffers(&args.directory)? {
        let place = directory.display();
        let mended = tool::repair(&directory).map_err(|error| match error {
            OpenError::InUse => format!("{place}: is in use\n  help: stop the run that uses it"),
            OpenError::Io(error) => format!("{place}: {error}"),
        })?;
        let (segments, records, bytes) =
            (mended.segments.len(), mended.records, mended.damaged_bytes);
        match args.json {
            true => println!(
                "{{\"segments\":{segments},\"records\":{records},\"damaged_bytes\":{bytes}}}"
            ),
            false if segments == 0 => println!("{place}: nothing is damaged"),
            false => println!(
                "{place}: {segments} segments written anew with {records} records, without {bytes} damaged bytes; \
                 what they were is set aside"
            ),
        }
    }
    Ok(0)
}

fn export(args: &ExportArgs) -> Result<u8, String> {
    let key = match &args.key {
        Some(text) => {
            let secret = Secret::of_setting(text)?;
            Some(
                Key::read(secret.reveal().as_bytes())
                    .map_err(|reason| format!("--key {reason}"))?,
            )
        }
        None => None,
    };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for directory in buffers(&args.directory)? {
        let buffer = directory.display().to_string();
        let written = tool::export(&directory, key.as_ref(), args.all, |record, body| {
            let (record, events) = (record.sequence, record.events);
            match args.json {
                true => print_json(&buffer, record, &body, events, &mut out),
                false => print_body(&body, events, &mut out),
            }
        });
        let written = written.and_then(|()| out.flush());
        match written {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(0),
            written => written.map_err(|error| format!("{}: {error}", directory.display()))?,
        }
    }
    Ok(0)
}

/// Prints the events of a record as lines of JSON: `{"buffer", "record", "place", "event"}`, or `event_base64` for
/// bytes that are no text.
fn print_json(
    buffer: &str,
    record: u64,
    body: &[u8],
    events: u32,
    out: &mut impl Write,
) -> std::io::Result<()> {
    let mut place = String::new();
    let mut all: Vec<Vec<u8>> = Vec::new();
    match body.first() {
        Some(&parcel::KIND) => {
            let Some((goes_to, chunk)) = parcel::read(body, events) else { return Ok(()) };
            place = goes_to;
            let mut start = 0;
            for end in ends(&chunk, events) {
                all.push(chunk.bytes[start..end].trim_ascii_end().to_vec());
                start = end;
            }
        }
        Some(&arrival::KIND) => {
            let Some((arrival, _)) = arrival::read(body) else { return Ok(()) };
            let mut cursor = FrameCursor::new(arrival.framing, arrival.range.clone());
            while let Some(frame) = cursor.next(&arrival.buffer) {
                all.push(arrival.buffer[frame].to_vec());
            }
        }
        Some(&letters::KIND) => all.push(body[1..].trim_ascii_end().to_vec()),
        _ => {}
    }
    let mut line = Vec::new();
    for event in all {
        line.clear();
        line.extend_from_slice(b"{\"buffer\":");
        push_json_string(&mut line, buffer);
        line.extend_from_slice(format!(",\"record\":{record},\"place\":").as_bytes());
        push_json_string(&mut line, &place);
        match std::str::from_utf8(&event) {
            Ok(text) => {
                line.extend_from_slice(b",\"event\":");
                push_json_string(&mut line, text);
            }
            Err(_) => {
                line.extend_from_slice(b",\"event_base64\":");
                push_json_string(&mut line, &STANDARD.encode(&event));
            }
        }
        line.extend_from_slice(b"}\n");
        out.write_all(&line)?;
    }
    Ok(())
}

/// Where the events of a chunk end. A sink of bytes does not tell them apart: then lines are, if there are as many.
fn ends(chunk: &Chunk, events: u32) -> Vec<usize> {
    if !chunk.ends.is_empty() {
        return chunk.ends.clone();
    }
    let lines = chunk.bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let lines: Vec<usize> = lines.map(|(at, _)| at + 1).collect();
    match lines.len() == events as usize && lines.last() == Some(&chunk.bytes.len()) {
        true => lines,
        false => vec![chunk.bytes.len()],
    }
}

/// Prints the events of a record as they are, one a line where they have no ends of their own.
fn print_body(body: &[u8], events: u32, out: &mut impl Write) -> std::io::Result<()> {
    match body.first() {
        Some(&parcel::KIND) => {
            let Some((_, chunk)) = parcel::read(body, events) else { return Ok(()) };
            out.write_all(&chunk.bytes)?;
            if chunk.bytes.last().is_some_and(|last| *last != b'\n') {
                out.write_all(b"\n")?;
            }
            Ok(())
        }
        Some(&arrival::KIND) => {
            let Some((arrival, _)) = arrival::read(body) else { return Ok(()) };
            let mut cursor = FrameCursor::new(arrival.framing, arrival.range.clone());
            while let Some(frame) = cursor.next(&arrival.buffer) {
                out.write_all(&arrival.buffer[frame])?;
                out.write_all(b"\n")?;
            }
            Ok(())
        }
        Some(&letters::KIND) => out.write_all(&body[1..]),
        _ => Ok(()),
    }
}
