//! Syslog over TCP, parsed, to one file for each severity, beside rsyslog and syslog-ng; and over UDP.

use super::load;
use super::server::{Server, free_port, lines};
use super::{Options, Row, per_cpu_second};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Connections at the same time.
const CONNECTIONS: usize = 10;
/// Datagrams per second.
const RATES: [usize; 3] = [50_000, 100_000, 200_000];
/// Severities, as files are called.
const SEVERITIES: [&str; 8] =
    ["emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"];

/// A program for each file, which parses.
fn program(address: &str, output: &Path) -> String {
    let mut text = format!("source in from syslog \"{address}\";\n");
    let mut arms = String::new();
    for name in SEVERITIES {
        let path = output.join(name);
        text.push_str(&format!(
            "sink s_{name} into file \"{}\" with mode = \"truncate\" end;\n",
            path.display()
        ));
        arms.push_str(&format!("  case event.severity == \"{name}\" => s_{name}\n"));
    }
    format!("{text}in |> route\n{arms}end;\n")
}

fn rsyslog(port: u16, output: &Path, udp: bool) -> String {
    let module = if udp { "imudp" } else { "imtcp" };
    format!(
        "module(load=\"{module}\")\ninput(type=\"{module}\" address=\"127.0.0.1\" port=\"{port}\")\n\
         template(name=\"each\" type=\"string\" string=\"{}/%syslogseverity-text%\")\n\
         template(name=\"line\" type=\"string\" string=\"%timestamp:::date-rfc3339% %hostname% %syslogtag%%msg%\\n\")\n\
         main_queue(queue.size=\"1000000\" queue.type=\"linkedlist\")\n\
         action(type=\"omfile\" dynaFile=\"each\" template=\"line\" asyncWriting=\"off\")\n",
        output.display()
    )
}

fn syslog_ng(port: u16, output: &Path, udp: bool) -> String {
    let transport = if udp { "udp" } else { "tcp" };
    format!(
        "@version: 3.38\noptions {{ stats-freq(0); keep-hostname(yes); }};\n\
         source s {{ network(ip(127.0.0.1) port({port}) transport({transport}) max-connections(50) log-iw-size(50000)); }};\n\
         destination d {{ file(\"{}/$LEVEL\" create-dirs(yes)); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n",
        output.display()
    )
}

/// The programs that are measured, and how each is started.
fn start(
    name: &str,
    port: u16,
    folder: &Path,
    output: &Path,
    udp: bool,
) -> Option<Result<Server, String>> {
    if name == "temblor" {
        let scheme = if udp { "udp" } else { "tcp" };
        let program = program(&format!("{scheme}://127.0.0.1:{port}"), output);
        return Some(Server::temblor(folder, &program, None));
    }
    let configuration = folder.join("configuration");
    let mut command;
    if name == "rsyslogd" {
        std::fs::write(&configuration, rsyslog(port, output, udp)).ok()?;
        command = Command::new(std::env::var("TEMBLOR_PEER_RSYSLOGD").unwrap_or(name.to_string()));
        command.arg("-n").arg("-f").arg(&configuration).arg("-i").arg(folder.join("pid"));
    } else {
        std::fs::write(&configuration, syslog_ng(port, output, udp)).ok()?;
        command = Command::new(std::env::var("TEMBLOR_PEER_SYSLOG_NG").unwrap_or(name.to_string()));
        command.args(["--foreground", "--no-caps", "--cfgfile"]).arg(&configuration);
        for (option, file) in
            [("--pidfile", "pid"), ("--control", "control"), ("--persist-file", "persist")]
        {
            command.arg(option).arg(folder.join(file));
        }
    }
    // A program that is not installed is left out.
    Server::start(command).ok().map(Ok)
}

fn output(folder: &Path, name: &str) -> Result<std::path::PathBuf, String> {
    let output = folder.join(format!("{name}.out"));
    let _ = std::fs::remove_dir_all(&output);
    std::fs::create_dir(&output).map_err(|error| format!("{}: {error}", output.display()))?;
    Ok(output)
}

/// Messages over TCP connections.
pub(super) fn streams(options: &Options, folder: &Path, row: Row<'_>) -> Result<(), String> {
    let messages = load::messages(options.messages, 1);
    let case = format!("syslog over {CONNECTIONS} TCP connections, a file for each severity");
    for name in ["temblor", "rsyslogd", "syslog-ng"] {
        let (port, output) = (free_port()?, output(folder, name)?);
        let Some(server) = start(name, port, folder, &output, false) else {
            row(&case, name, "not installed".to_string());
            continue;
        };
        let mut server = server?;
        server.wait_for_port(port)?;
        load::over_tcp(port, CONNECTIONS, &messages)?;
        server.wait_until("all messages are written", || lines(&output) >= messages.len())?;
        let figure = per_cpu_second(messages.len(), &server);
        server.stop()?;
        match lines(&output) {
            count if count == messages.len() => row(&case, name, figure),
            count => return Err(format!("{name}: {count} of {} messages", messages.len())),
        }
    }
    Ok(())
}

/// Datagrams at several rates, and what is lost.
pub(super) fn datagrams(options: &Options, folder: &Path, row: Row<'_>) -> Result<(), String> {
    for rate in RATES {
        let case = format!("syslog over UDP, {rate} a second");
        for name in ["temblor", "rsyslogd", "syslog-ng"] {
            let (port, output) = (free_port()?, output(folder, name)?);
            let Some(server) = start(name, port, folder, &output, true) else { continue };
            let mut server = server?;
            std::thread::sleep(Duration::from_secs(2));
            let sent = load::over_udp(port, rate, Duration::from_secs(options.seconds))?;
            std::thread::sleep(Duration::from_secs(2));
            let seconds = server.cpu_seconds().max(0.01);
            server.check_lives()?;
            server.stop()?;
            let taken = lines(&output);
            let lost = 100.0 * (1.0 - taken as f64 / sent.max(1) as f64);
            let speed = taken as f64 / seconds / 1e6;
            let text = format!("{speed:.2} M messages per CPU second, {lost:.2} % of {sent} lost");
            row(&case, name, text);
        }
    }
    Ok(())
}
