//! Inputs: what is listened to, and how its messages are read.

use super::tree::Object;
use crate::notation::{text, with};

/// One source of a Temblor program.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) end: String,
    pub(crate) steps: Vec<String>,
    pub(crate) read: String,
    pub(crate) remarks: Vec<String>,
}

/// Types of inputs.
pub(crate) const TYPES: &[&str] = &[
    "imudp",
    "imtcp",
    "imptcp",
    "imuxsock",
    "imfile",
    "imrelp",
    "imjournal",
    "imklog",
    "imkafka",
    "immark",
    "impstats",
    "imgssapi",
    "imdocker",
    "imhttp",
    "imkmsg",
    "improg",
    "imhiredis",
    "imczmq",
];

/// What all inputs share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Defaults {
    /// The driver of TLS, if connections have it.
    pub(crate) tls: Option<String>,
    pub(crate) zone: Option<String>,
}

fn read(input: &str, more: Vec<String>, defaults: &Defaults) -> String {
    let mut settings = vec![format!("input = {}", text(input))];
    settings.extend(more);
    settings.extend(defaults.zone.as_ref().map(|zone| format!("zone = {}", text(zone))));
    format!("rsyslog::read{}", with(&settings))
}

/// The sources of an input, or why there are none.
pub(crate) fn inputs(object: &Object, defaults: &Defaults) -> Result<Vec<Input>, String> {
    let kind = object.text("type").unwrap_or("").to_ascii_lowercase();
    let name = object.text("name").unwrap_or(&kind).to_string();
    let address = |port: &str| {
        let host = object.text("address").unwrap_or("0.0.0.0");
        let host = if host == "*" { "0.0.0.0" } else { host };
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
    };
    let mut remarks = Vec::new();
    if object.text("ratelimit.interval").is_some_and(|interval| interval != "0") {
        remarks.push("`rateLimit`: write a `rate_limit` step".to_string());
    }
    match kind.as_str() {
        "imudp" => {
            let ports = object.texts("port");
            let ports = if ports.is_empty() { vec!["514".to_string()] } else { ports.to_vec() };
            let mut found = Vec::new();
            for port in ports {
                let mut settings = vec!["codec = \"string\"".to_string()];
                if let Some(size) = object.text("rcvbufsize").and_then(bytes_of) {
                    settings.push(format!("receive_buffer = \"{size}B\""));
                }
                found.push(Input {
                    end: format!("udp {}{}", text(&address(&port)), with(&settings)),
                    steps: Vec::new(),
                    read: read(&name, Vec::new(), defaults),
                    remarks: remarks.clone(),
                });
            }
            Ok(found)
        }
        "imtcp" | "imptcp" => {
            if let Some(path) = object.text("path") {
                return Ok(vec![Input {
                    end: format!("unix {} with codec = \"string\" end", text(path)),
                    steps: Vec::new(),
                    read: read(&name, Vec::new(), defaults),
                    remarks,
                }]);
            }
            let port = object.text("port").unwrap_or("514");
            let mut settings = Vec::new();
            if let Some(most) = object.text("maxsessions").and_then(|most| most.parse::<u32>().ok()) {
                settings.push(format!("max_connections = {}", most.max(1)));
            }
            settings.extend(defaults.tls.clone().filter(|_| kind == "imtcp"));
            // This source sees for each connection whether messages are counted or lines, as `imtcp` does.
            settings.insert(0, "codec = \"string\"".to_string());
            Ok(vec![Input {
                end: format!("syslog {}{}", text(&format!("tcp://{}", address(port))), with(&settings)),
                steps: Vec::new(),
                read: read(&name, Vec::new(), defaults),
                remarks,
            }])
        }
        "imuxsock" => {
            let path = object.text("socket").unwrap_or("/dev/log");
            Ok(vec![Input {
                end: format!("unix {} with type = \"datagram\", codec = \"string\", permissions = \"0666\" end", text(path)),
                steps: Vec::new(),
                read: read(&name, vec!["parse = \"local\"".to_string()], defaults),
                remarks,
            }])
        }
        "imfile" => file(object, &name, defaults, remarks),
        "imrelp" => {
            let port = object.text("port").ok_or("its port is missing")?;
            let mut settings = vec!["codec = \"string\"".to_string()];
            if object.flag("tls") == Some(true) {
                settings.push(tls_of_input(object)?);
            }
            Ok(vec![Input {
                end: format!("relp {}{}", text(&address(port)), with(&settings)),
                steps: Vec::new(),
                read: read(&name, Vec::new(), defaults),
                remarks,
            }])
        }
        "imkafka" => {
            let broker = object.text("broker").unwrap_or("localhost:9092");
            let topic = object.text("topic").ok_or("its topic is missing")?;
            let group = object.text("consumergroup").unwrap_or("rsyslog");
            Ok(vec![Input {
                end: format!(
                    "kafka {} with codec = \"string\", topics = [{}], group = {} end",
                    text(broker),
                    text(topic),
                    text(group)
                ),
                steps: Vec::new(),
                read: read(&name, vec!["parse = \"none\"".to_string()], defaults),
                remarks,
            }])
        }
        "imklog" | "imkmsg" => {
            Err("the ring of the kernel is not read: read `dmesg --follow` with a command, or the journal's `/dev/log`".into())
        }
        "imjournal" => Err("the journal has no connector: let it forward to `/dev/log`, or read `journalctl -f -o json` with a command".into()),
        "immark" => Err("no marks are written: `metronome` is a source of them".into()),
        "impstats" => Err("the program tells about itself by its metrics and `temblor ctl status`".into()),
        "" => Err("it has no type".into()),
        other => Err(format!("there is no equivalent of `{other}`")),
    }
}

fn tls_of_input(object: &Object) -> Result<String, String> {
    let cert = object.text("tls.mycert").ok_or("TLS needs `tls.myCert` and `tls.myPrivKey`")?;
    let key = object.text("tls.myprivkey").ok_or("TLS needs `tls.myCert` and `tls.myPrivKey`")?;
    let ca =
        object.text("tls.cacert").map(|ca| format!(", \"ca\": {}", text(ca))).unwrap_or_default();
    Ok(format!("tls = {{\"cert\": {}, \"key\": {}{ca}}}", text(cert), text(key)))
}

fn file(
    object: &Object,
    name: &str,
    defaults: &Defaults,
    mut remarks: Vec<String>,
) -> Result<Vec<Input>, String> {
    let path = object.text("file").ok_or("its file is missing")?;
    let mut settings =
        vec!["codec = \"string\"".to_string(), "follow = true, start = \"beginning\"".to_string()];
    if object.flag("freshstarttail") == Some(true) {
        settings[1] = "follow = true".to_string();
    }
    let mut steps = Vec::new();
    if let Some(pattern) = object.text("startmsg.regex") {
        crate::rsyslog::compiles(pattern)?;
        steps.push(format!("join {} mode start", text(pattern)));
    } else if let Some(mode) = object.text("readmode").filter(|mode| *mode != "0") {
        match mode {
            "2" => steps.push("join r\"^\\s\"".to_string()),
            other => return Err(format!("the mode {other} of lines is not converted")),
        }
    }
    let mut more = vec!["parse = \"none\"".to_string()];
    more.extend(object.text("tag").map(|tag| format!("tag = {}", text(tag))));
    for name in ["facility", "severity"] {
        if let Some(given) = object.text(name) {
            let number = given.parse::<usize>().ok();
            let names: &[&str] = if name == "facility" {
                &super::reader::FACILITIES
            } else {
                &super::reader::SEVERITIES
            };
            let given = match given {
                "warn" => "warning",
                "error" => "err",
                other => other,
            };
            let given = number.and_then(|number| names.get(number)).copied().unwrap_or(given);
            more.push(format!("{name} = {}", text(given)));
        }
    }
    if object.flag("addmetadata") == Some(true) {
        remarks.push("`addMetadata`: `$!metadata!filename` is not there".to_string());
    }
    Ok(vec![Input {
        end: format!("file {}{}", text(path), with(&settings)),
        steps,
        read: read(name, more, defaults),
        remarks,
    }])
}

/// `8m`, `64k`, `1048576`
pub(crate) fn bytes_of(written: &str) -> Option<u64> {
    let end = written.find(|one: char| !one.is_ascii_digit()).unwrap_or(written.len());
    let number: u64 = written[..end].parse().ok()?;
    let unit = match &written[end..] {
        "" => 1,
        "k" => 1 << 10,
        "K" => 1_000,
        "m" => 1 << 20,
        "M" => 1_000_000,
        "g" => 1 << 30,
        "G" => 1_000_000_000,
        _ => return None,
    };
    number.checked_mul(unit)
}
