//! Drivers of sources: what a driver listens to, and how its messages are read.

use super::tree::{Call, canonical, is_yes};
use crate::notation::{text, texts, with};

/// Drivers of sources.
pub(crate) const DRIVERS: &[&str] = &[
    "system",
    "internal",
    "network",
    "syslog",
    "tcp",
    "udp",
    "tcp6",
    "udp6",
    "unix_stream",
    "unix_dgram",
    "file",
    "wildcard_file",
    "pipe",
    "fifo",
    "program",
    "stdin",
    "mqtt",
    "kafka",
    "systemd_journal",
    "systemd_syslog",
    "nodejs",
    "sun_streams",
    "snmptrap",
    "pacct",
    "osquery",
    "http",
    "opentelemetry",
    "default_network_drivers",
    "mbox",
    "example_msg_generator",
    "linux_audit",
    "python",
    "docker",
    "windows_eventlog",
    "hypr_audit_trail",
    "journald",
];

/// One source of a Temblor program.
#[derive(Debug)]
pub(crate) struct Input {
    /// What tells it from its neighbours: `tcp`, `log`.
    pub(crate) kind: &'static str,
    /// `tcp "0.0.0.0:514" with … end`
    pub(crate) end: String,
    /// The step that reads messages.
    pub(crate) read: String,
    /// Further steps.
    pub(crate) steps: Vec<String>,
    pub(crate) remarks: Vec<String>,
}

/// What all sources of a configuration share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Defaults {
    pub(crate) keep_hostname: bool,
    pub(crate) use_dns: bool,
    pub(crate) zone: Option<String>,
}

/// The sources of a driver, or why there are none.
pub(crate) fn inputs(call: &Call, source: &str, defaults: &Defaults) -> Result<Vec<Input>, String> {
    let kind = canonical(&call.name);
    let one = |input: Input| Ok(vec![input]);
    match kind.as_str() {
        "system" => system(source, defaults),
        "internal" => Err("the program tells about itself by its metrics, its log and `temblor ctl status`".into()),
        "network" | "syslog" | "tcp" | "udp" | "tcp6" | "udp6" => network(call, &kind, source, defaults),
        "default_network_drivers" => {
            let mut found = Vec::new();
            for (kind, transport, port) in [("tcp", "tcp", 514), ("udp", "udp", 514), ("syslog", "tcp", 601)] {
                let plain = Call { name: kind.into(), arguments: Vec::new(), span: call.span };
                found.push(listening(&plain, kind == "syslog", transport, port, source, defaults)?);
            }
            Ok(found)
        }
        "unix_stream" | "unix_dgram" => {
            let path = call.first_text().ok_or("the path of the socket is missing")?;
            let mut settings = vec!["codec = \"string\"".to_string()];
            let is_stream = kind == "unix_stream";
            if !is_stream {
                settings.push("type = \"datagram\"".to_string());
            }
            if let Some(mode) = call.option_text("perm") {
                settings.push(format!("permissions = {}", text(mode)));
            }
            let mut remarks = options(call, &["perm"]);
            remarks.retain(|remark| !remark.contains("so_keepalive"));
            one(Input {
                kind: "unix",
                end: format!("unix {}{}", text(path), with(&settings)),
                read: read(call, source, defaults, &["expect_hostname = false"]),
                steps: Vec::new(),
                remarks,
            })
        }
        "file" | "wildcard_file" => file(call, &kind, source, defaults),
        "pipe" | "fifo" => {
            let path = call.first_text().ok_or("the path of the pipe is missing")?;
            let command = format!("while true; do cat '{}'; done", path.replace('\'', "'\\''"));
            one(Input {
                kind: "pipe",
                end: format!("command {} with codec = \"string\", interval = 1s end", text(&command)),
                read: read(call, source, defaults, &["expect_hostname = false"]),
                steps: Vec::new(),
                remarks: vec!["the pipe is read by `cat`".to_string()],
            })
        }
        "program" => {
            let command = call.first_text().ok_or("the command is missing")?;
            one(Input {
                kind: "program",
                end: format!("command {} with codec = \"string\", interval = 1s end", text(command)),
                read: read(call, source, defaults, &[]),
                steps: Vec::new(),
                remarks: vec!["the command is started again when it has ended, a second later".to_string()],
            })
        }
        "stdin" => one(Input {
            kind: "stdin",
            end: "stdin with codec = \"string\" end".to_string(),
            read: read(call, source, defaults, &[]),
            steps: Vec::new(),
            remarks: Vec::new(),
        }),
        "mqtt" => {
            let address = call.option_text("address").unwrap_or("tcp://localhost:1883");
            let topic = call.option_text("topic").ok_or("`topic()` is missing")?;
            let address = address.replacen("tcp://", "mqtt://", 1).replacen("ssl://", "mqtts://", 1);
            let mut settings = vec!["codec = \"string\"".to_string(), format!("topics = {}", texts(&[topic]))];
            if let Some(qos) = call.option_text("qos") {
                settings.push(format!("qos = {}", qos.parse::<u8>().unwrap_or(0).min(1)));
            }
            for name in ["username", "password", "client_id"] {
                settings.extend(call.option_text(name).map(|given| format!("{name} = {}", text(given))));
            }
            one(Input {
                kind: "mqtt",
                end: format!("mqtt {}{}", text(&address), with(&settings)),
                read: read(call, source, defaults, &[]),
                steps: Vec::new(),
                remarks: Vec::new(),
            })
        }
        "kafka" => {
            let servers = call.option_text("bootstrap_servers").ok_or("`bootstrap-servers()` is missing")?;
            let topics: Vec<&str> = call
                .option("topic")
                .map(|topics| topics.arguments.iter().filter_map(|node| node.call().map(|one| one.name.as_str()).or(node.text())).collect())
                .unwrap_or_default();
            let group = call.option_text("group_id").unwrap_or(source);
            one(Input {
                kind: "kafka",
                end: format!(
                    "kafka {} with codec = \"string\", topics = {}, group = {} end",
                    text(servers),
                    texts(&topics),
                    text(group)
                ),
                read: read(call, source, defaults, &[]),
                steps: Vec::new(),
                remarks: Vec::new(),
            })
        }
        "systemd_journal" | "journald" | "systemd_syslog" => {
            Err("the journal has no connector: let `systemd-journal` forward to `/dev/log`, or read `journalctl -f -o json` with a command".into())
        }
        other => Err(format!("there is no equivalent of the driver `{other}()`")),
    }
}

fn system(source: &str, defaults: &Defaults) -> Result<Vec<Input>, String> {
    let mut settings = vec!["expect_hostname = false".to_string()];
    settings.extend(zone(None, defaults));
    settings.insert(0, format!("source = {}", text(source)));
    Ok(vec![Input {
        kind: "log",
        end: "unix \"/dev/log\" with type = \"datagram\", codec = \"string\", permissions = \"0666\" end".to_string(),
        read: format!("syslog_ng::read{}", with(&settings)),
        steps: Vec::new(),
        remarks: vec![
            "of `system()` the socket `/dev/log` is read; messages of the kernel (`/proc/kmsg`) and the journal are not"
                .to_string(),
        ],
    }])
}

/// The setting of the zone of times.
fn zone(call: Option<&Call>, defaults: &Defaults) -> Option<String> {
    let own = call.and_then(|call| call.option_text("time_zone"));
    let zone = own.map(str::to_string).or_else(|| defaults.zone.clone())?;
    zone.parse::<chrono_tz::Tz>().ok().map(|_| format!("zone = {}", text(&zone)))
}

/// The step that reads the messages of a driver.
fn read(call: &Call, source: &str, defaults: &Defaults, more: &[&str]) -> String {
    let flags = call.flags();
    let has = |flag: &str| flags.iter().any(|one| one == flag);
    let mut settings = vec![format!("source = {}", text(source))];
    if has("no_parse") {
        settings.push("parse = \"none\"".to_string());
    } else if has("syslog_protocol") {
        settings.push("parse = \"protocol\"".to_string());
    }
    settings.extend(more.iter().map(|one| (*one).to_string()));
    if has("no_hostname") {
        settings.push("expect_hostname = false".to_string());
    }
    let keep = call.option_text("keep_hostname").map_or(defaults.keep_hostname, is_yes);
    if keep {
        settings.push("keep_hostname = true".to_string());
    }
    if has("store_raw_message") {
        settings.push("store_raw = true".to_string());
    }
    for (option, setting) in [
        ("default_facility", "facility"),
        ("default_level", "level"),
        ("default_priority", "level"),
        ("default_severity", "level"),
        ("program_override", "program"),
        ("host_override", "host"),
    ] {
        if let Some(given) = call.option_text(option) {
            let given = match given {
                "warn" => "warning",
                "error" => "err",
                other => other,
            };
            settings.push(format!("{setting} = {}", text(given)));
        }
    }
    if let Some(tags) = call.option("tags") {
        settings.push(format!("tags = {}", texts(&tags.texts())));
    }
    settings.extend(zone(Some(call), defaults));
    format!("syslog_ng::read{}", with(&settings))
}

/// Options that are known to have no equivalent, each with what becomes of it.
const WITHOUT: &[(&str, &str)] = &[
    ("owner", "the file belongs to the user that runs the program"),
    ("group", "the file belongs to the group that runs the program"),
    ("perm", "files are made with the rights that the process has by its umask"),
    ("dir_owner", "folders belong to the user that runs the program"),
    ("dir_group", "folders belong to the group that runs the program"),
    ("dir_perm", "folders are made with the rights that the process has by its umask"),
    ("encoding", "texts are read as UTF-8"),
    ("hook_commands", "no commands run at start and end"),
    ("persist_name", "marks have the names of sources"),
    ("multi_line_mode", "lines are events of their own: write a `join` step"),
    ("spoof_source", "datagrams have the address of this host"),
    ("ip_protocol", "the address tells the protocol"),
    ("monitor_method", "files are looked at once a second"),
    ("pad_size", "messages are not padded"),
    ("time_reap", "files are closed when others need the room"),
    ("failover", "there is one address"),
];

/// What becomes of options without an equivalent; those of `known` are converted.
pub(crate) fn options(call: &Call, known: &[&str]) -> Vec<String> {
    let given = call.arguments.iter().filter_map(super::tree::Node::call);
    given
        .filter_map(|option| {
            let name = canonical(&option.name);
            let (_, why) = WITHOUT.iter().find(|(one, _)| *one == name && !known.contains(one))?;
            Some(format!("`{}()`: {why}", option.name))
        })
        .collect()
}

fn network(
    call: &Call,
    kind: &str,
    source: &str,
    defaults: &Defaults,
) -> Result<Vec<Input>, String> {
    let transport = match kind {
        "tcp" | "tcp6" => "tcp".to_string(),
        "udp" | "udp6" => "udp".to_string(),
        _ => call.option_text("transport").unwrap_or("tcp").to_ascii_lowercase(),
    };
    let is_protocol = kind == "syslog";
    let port = match (kind, transport.as_str()) {
        ("syslog", "udp") => 514,
        ("syslog", "tls") => 6514,
        ("syslog" | "network", "tcp") => 601,
        ("network", "tls") => 6514,
        _ => 514,
    };
    listening(call, is_protocol, &transport, port, source, defaults).map(|input| vec![input])
}

fn listening(
    call: &Call,
    is_protocol: bool,
    transport: &str,
    port: u16,
    source: &str,
    defaults: &Defaults,
) -> Result<Input, String> {
    let address = call.option_text("ip").or_else(|| call.option_text("localip"));
    let address =
        address.or_else(|| call.first_text().filter(|one| one.parse::<std::net::IpAddr>().is_ok()));
    let is_six = call.name.ends_with('6') || call.option_text("ip_protocol") == Some("6");
    let address = address.unwrap_or(if is_six { "::" } else { "0.0.0.0" });
    let given = call.option_text("port").or_else(|| call.option_text("localport"));
    let port = given.map_or(Ok(port), port_number)?;
    let place = if address.contains(':') {
        format!("[{address}]:{port}")
    } else {
        format!("{address}:{port}")
    };
    let mut settings = vec!["codec = \"string\"".to_string()];
    let mut remarks = options(call, &["ip_protocol"]);
    let kind = match transport {
        "udp" => "udp",
        "tcp" | "tls" => "tcp",
        other => return Err(format!("the transport `{other}` is not spoken")),
    };
    if kind == "tcp" {
        if is_protocol {
            settings.push("framing = \"octet\"".to_string());
        }
        if let Some(most) =
            call.option_text("max_connections").and_then(|most| most.parse::<u32>().ok())
        {
            settings.push(format!("max_connections = {most}"));
        }
        if transport == "tls" {
            settings.push(tls(call, true, &mut remarks)?);
        }
    } else if let Some(bytes) =
        call.option_text("so_rcvbuf").and_then(|bytes| bytes.parse::<u64>().ok())
    {
        settings.push(format!("receive_buffer = \"{bytes}B\""));
    }
    let is_kept = call.option_text("keep_hostname").map_or(defaults.keep_hostname, is_yes);
    let asks = call.option_text("use_dns").map_or(defaults.use_dns, is_yes);
    if !is_kept && asks {
        remarks.push("`HOST` is the address of the sender: names are not looked up".to_string());
    }
    let protocol: &[&str] = if is_protocol { &["parse = \"protocol\""] } else { &[] };
    Ok(Input {
        kind,
        end: format!("{kind} {}{}", text(&place), with(&settings)),
        read: read(call, source, defaults, protocol),
        steps: Vec::new(),
        remarks,
    })
}

/// A port by number, or by the names that services of logs have.
pub(crate) fn port_number(port: &str) -> Result<u16, String> {
    match port {
        "syslog" => Ok(514),
        "syslog-tls" => Ok(6514),
        "syslog-conn" => Ok(601),
        _ => port.parse().map_err(|_| format!("`{port}` is no port")),
    }
}

/// `tls(key-file("…") cert-file("…") ca-dir("…") peer-verify(required-trusted))`
pub(crate) fn tls(
    call: &Call,
    is_server: bool,
    remarks: &mut Vec<String>,
) -> Result<String, String> {
    let Some(given) = call.option("tls") else {
        if is_server {
            return Err("TLS needs `tls()` with a certificate and its key".to_string());
        }
        return Ok("tls = {}".to_string());
    };
    let mut fields = Vec::new();
    if let Some(file) = given.option_text("cert_file") {
        fields.push(format!("\"cert\": {}", text(file)));
    }
    if let Some(file) = given.option_text("key_file") {
        fields.push(format!("\"key\": {}", text(file)));
    }
    let verify = canonical(given.option_text("peer_verify").unwrap_or("required_trusted"));
    let is_checked = matches!(verify.as_str(), "required_trusted" | "required_untrusted" | "yes");
    match (given.option_text("ca_file"), given.option_text("ca_dir")) {
        (Some(file), _) if is_checked || !is_server => {
            fields.push(format!("\"ca\": {}", text(file)))
        }
        (None, Some(folder)) if is_checked || !is_server => {
            remarks.push(format!("`ca-dir()`: put the certificates of `{folder}` into one file"));
            let file = format!("{}/ca.pem", folder.trim_end_matches('/'));
            fields.push(format!("\"ca\": {}", text(&file)));
        }
        _ => {}
    }
    if !is_server && !is_checked {
        fields.push("\"verify\": false".to_string());
    }
    for name in
        ["cipher_suite", "ssl_options", "dhparam_file", "trusted_keys", "trusted_dn", "crl_dir"]
    {
        if given.option(name).is_some() {
            remarks.push(format!("`{name}()` of `tls()` is left to rustls"));
        }
    }
    Ok(format!("tls = {{{}}}", fields.join(", ")))
}

fn file(call: &Call, kind: &str, source: &str, defaults: &Defaults) -> Result<Vec<Input>, String> {
    let path = if kind == "wildcard_file" {
        let folder = call.option_text("base_dir").ok_or("`base-dir()` is missing")?;
        let pattern =
            call.option_text("filename_pattern").ok_or("`filename-pattern()` is missing")?;
        let deep = if call.option_flag("recursive") == Some(true) { "/**" } else { "" };
        format!("{}{deep}/{pattern}", folder.trim_end_matches('/'))
    } else {
        call.first_text().ok_or("the path of the file is missing")?.to_string()
    };
    let mut remarks = options(call, &["perm", "owner", "group", "multi_line_mode"]);
    if path == "/proc/kmsg" || path == "/dev/kmsg" {
        return Err("the ring of the kernel is no file that can be followed: read `dmesg --follow` with a command".into());
    }
    let mut settings = vec!["codec = \"string\"".to_string()];
    let follows = call.option_text("follow_freq") != Some("0");
    if follows {
        settings.push("follow = true, start = \"beginning\"".to_string());
        if let Some(every) =
            call.option_text("follow_freq").and_then(|every| every.parse::<f64>().ok())
            && every > 0.0
            && (every - 1.0).abs() > f64::EPSILON
        {
            settings.push(format!("every = {}ms", (every * 1000.0).round()));
        }
    }
    let mut steps = Vec::new();
    if let Some(mode) = call.option_text("multi_line_mode") {
        let prefix = call.option_text("multi_line_prefix");
        match (canonical(mode).as_str(), prefix) {
            ("indented", _) => steps.push("join r\"^\\s\"".to_string()),
            ("regexp" | "prefix_garbage" | "prefix_suffix", Some(prefix)) => {
                super::filter::compiles(prefix)?;
                steps.push(format!("join {} mode start", text(prefix)));
            }
            (other, _) => return Err(format!("the mode `{other}` of lines is not converted")),
        }
        if kind == "wildcard_file" {
            remarks.push(
                "lines of several files are joined in the order in which they are read".to_string(),
            );
        }
    }
    let own = format!("file = {}", text(&path));
    let more: &[&str] = if kind == "file" && !path.contains('*') { &[&own] } else { &[] };
    Ok(vec![Input {
        kind: "file",
        end: format!("file {}{}", text(&path), with(&settings)),
        read: read(call, source, defaults, more),
        steps,
        remarks,
    }])
}
