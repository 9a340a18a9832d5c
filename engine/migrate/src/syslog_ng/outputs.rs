//! Drivers of destinations: where messages go, and as which text.

use super::inputs::{options, port_number, tls};
use super::names::Value;
use super::template::{Piece, Scene, argument, expression, joined, pieces};
use super::tree::{Call, canonical};
use crate::notation::{escaped, text, with};

/// Drivers of destinations.
pub(crate) const DRIVERS: &[&str] = &[
    "file",
    "network",
    "syslog",
    "tcp",
    "udp",
    "tcp6",
    "udp6",
    "unix_stream",
    "unix_dgram",
    "pipe",
    "program",
    "usertty",
    "getvirtconsole",
    "kafka",
    "kafka_c",
    "http",
    "elasticsearch_http",
    "elasticsearch2",
    "opensearch",
    "mongodb",
    "sql",
    "redis",
    "mqtt",
    "amqp",
    "smtp",
    "riemann",
    "graphite",
    "loggly",
    "logmatic",
    "splunk_hec_event",
    "splunk_hec_raw",
    "loki",
    "telegram",
    "slack",
    "pseudofile",
    "stomp",
    "snmp",
    "hdfs",
    "osquery",
    "discord",
    "sumologic_http",
    "python",
    "java",
    "syslog_ng",
    "graylog2",
    "stdout",
];

/// One sink of a Temblor program.
#[derive(Debug)]
pub(crate) struct Output {
    /// What tells it from its neighbours.
    pub(crate) kind: &'static str,
    /// Steps in front of it.
    pub(crate) steps: Vec<String>,
    /// `file "…" with … end`
    pub(crate) end: String,
    pub(crate) uses: Vec<&'static str>,
    pub(crate) remarks: Vec<String>,
}

/// How a template is found that a driver names, or writes itself.
pub(crate) trait Templates {
    /// The text of a named template, or the text itself.
    fn text_of(&self, written: &str) -> String;
    /// The function that stands for a named template, when it does.
    fn function_of(&self, written: &str) -> Option<String>;
}

/// What lines look like when nothing else is said.
pub(crate) const LINE: &str = "$DATE $HOST $MSGHDR$MSG\n";
/// The same with a priority, for the network.
pub(crate) const FORWARDED: &str = "<$PRI>$DATE $HOST $MSGHDR$MSG\n";
/// RFC 5424.
pub(crate) const PROTOCOL: &str =
    "<$PRI>1 $ISODATE $HOST ${PROGRAM:--} ${PID:--} ${MSGID:--} ${SDATA:--} $MSG";

/// The sink of a driver, or why there is none.
pub(crate) fn output(
    call: &Call,
    templates: &dyn Templates,
    scene: Scene<'_>,
    line: &str,
) -> Result<Output, String> {
    let kind = canonical(&call.name);
    let mut driver = Driver {
        call,
        templates,
        scene,
        uses: Vec::new(),
        steps: Vec::new(),
        remarks: options(call, &[]),
    };
    driver.remarks.extend(zones(call));
    let (kind, end) = match kind.as_str() {
        "file" => ("file", driver.file(line)?),
        "network" | "tcp" | "udp" | "tcp6" | "udp6" | "syslog" => driver.network(&kind)?,
        "unix_stream" | "unix_dgram" => {
            let path = call.first_text().ok_or("the path of the socket is missing")?;
            driver.line(FORWARDED, false)?;
            let mut settings = vec!["codec = \"string\"".to_string()];
            if kind == "unix_dgram" {
                settings.push("type = \"datagram\"".to_string());
            }
            settings.extend(driver.queue());
            ("unix", format!("unix {}{}", text(path), with(&settings)))
        }
        "pipe" => {
            let path = call.first_text().ok_or("the path of the pipe is missing")?;
            driver.line(line, false)?;
            let settings = driver.codec();
            ("pipe", format!("file {}{}", text(path), with(&settings)))
        }
        "program" => {
            let command = call.first_text().ok_or("the command is missing")?;
            driver.line(line, false)?;
            let settings = driver.codec();
            ("program", format!("command {}{}", text(command), with(&settings)))
        }
        "stdout" => {
            driver.line(line, false)?;
            ("stdout", "stdout with codec = \"string\" end".to_string())
        }
        "kafka" | "kafka_c" => ("kafka", driver.kafka()?),
        "http" => ("http", driver.http()?),
        "elasticsearch_http" | "opensearch" => ("search", driver.search()?),
        "redis" => ("redis", driver.redis()?),
        "mqtt" => ("mqtt", driver.mqtt()?),
        "amqp" => ("rabbitmq", driver.amqp()?),
        "usertty" => return Err("messages are not written to the terminals of users".to_string()),
        "getvirtconsole" => {
            return Err("messages are not written to the console of the machine".to_string());
        }
        "mongodb" => return Err("there is no sink for MongoDB".to_string()),
        "sql" => {
            return Err("there is no sink for SQL: write to Kafka or a file, and load from there"
                .to_string());
        }
        "smtp" => {
            return Err("there is no sink for mail: a `command` may call `sendmail`".to_string());
        }
        other => return Err(format!("there is no equivalent of the driver `{other}()`")),
    };
    Ok(Output { kind, steps: driver.steps, end, uses: driver.uses, remarks: driver.remarks })
}

fn zones(call: &Call) -> Vec<String> {
    let has = |name: &str| call.option(name).is_some();
    let mut remarks = Vec::new();
    if has("time_zone") || has("send_time_zone") {
        remarks.push("`time-zone()`: times keep the zone that they were written with".to_string());
    }
    if has("frac_digits") {
        remarks.push("`frac-digits()`: times are written without a fraction".to_string());
    }
    if has("suppress") {
        remarks.push("`suppress()`: write a `dedup mode adjacent` step".to_string());
    }
    if has("template_escape") && call.option_flag("template_escape") == Some(true) {
        remarks.push("`template-escape()`: quotes in values are not escaped".to_string());
    }
    remarks
}

struct Driver<'c> {
    call: &'c Call,
    templates: &'c dyn Templates,
    scene: Scene<'c>,
    uses: Vec<&'static str>,
    steps: Vec<String>,
    remarks: Vec<String>,
}

impl Driver<'_> {
    fn take(&mut self, value: Value) -> String {
        self.uses.extend(value.uses);
        value.code
    }

    /// The step that makes the text of an event; whether a newline ends it.
    fn line(&mut self, otherwise: &str, keeps_end: bool) -> Result<bool, String> {
        let given = self.call.option_text("template");
        if let Some(function) = given.and_then(|name| self.templates.function_of(name)) {
            let text = self.templates.text_of(given.unwrap_or_default());
            self.steps.push(format!("select {function}(event)"));
            return Ok(text.ends_with('\n'));
        }
        let template = given.map_or(otherwise.to_string(), |given| self.templates.text_of(given));
        let ends = template.ends_with('\n');
        if given.is_none() && otherwise == LINE {
            self.uses.push("line_of");
            self.steps.push("select line_of(event)".to_string());
            return Ok(true);
        }
        let template = if keeps_end {
            template.as_str()
        } else {
            template.strip_suffix('\n').unwrap_or(&template)
        };
        let value = expression(template, self.scene, 0)?;
        let code = self.take(value);
        self.steps.push(format!("select {code}"));
        Ok(ends)
    }

    /// Settings of the queue in front of a sink.
    fn queue(&mut self) -> Vec<String> {
        let mut settings = Vec::new();
        if let Some(events) =
            self.call.option_text("log_fifo_size").and_then(|events| events.parse::<u64>().ok())
        {
            settings.push(format!("queue_events = {}", events.max(1)));
        }
        if let Some(disk) = self.call.option("disk_buffer") {
            settings.push("buffer = \"disk\"".to_string());
            let bytes =
                disk.option_text("disk_buf_size").or_else(|| disk.option_text("capacity_bytes"));
            if let Some(bytes) = bytes.and_then(bytes_of) {
                settings.push(format!("buffer_bytes = \"{}B\"", bytes.max(65_536)));
            }
            if disk.option_flag("reliable") == Some(true) {
                settings.push("durability = \"fsync\"".to_string());
            }
            self.remarks.push(
                "`disk-buffer()`: run with `--state DIR`, below which it is kept".to_string(),
            );
        }
        settings
    }

    fn codec(&mut self) -> Vec<String> {
        let mut settings = vec!["codec = \"string\"".to_string()];
        settings.extend(self.queue());
        settings
    }

    fn file(&mut self, line: &str) -> Result<String, String> {
        let written = self.call.first_text().ok_or("the path of the file is missing")?;
        let pieces = pieces(written, self.scene, 0)?;
        let path = match pieces.as_slice() {
            [] => return Err("the path of the file is empty".to_string()),
            [Piece::Text(path)] => text(path),
            pieces => {
                // What an event chooses stands below the folder that the path begins with.
                let Some(Piece::Text(before)) = pieces.first() else {
                    return Err(
                        "its path must begin with a folder, so that no message can choose another"
                            .to_string(),
                    );
                };
                let (folder, rest) = before.rsplit_once('/').unwrap_or(("", before));
                let mut chosen = pieces.to_vec();
                chosen[0] = Piece::Text(rest.to_string());
                chosen.retain(|piece| *piece != Piece::Text(String::new()));
                let value = joined(&chosen);
                let code = self.take(value);
                self.steps.push(format!("set $file = {code}"));
                format!("\"{}/#{{$file}}\"", escaped(folder))
            }
        };
        let ends = self.line(line, false)?;
        let mut settings = self.codec();
        if !ends {
            settings[0] = "codec = \"raw\"".to_string();
        }
        if self.call.option_flag("overwrite_if_older").is_some()
            || self.call.option("overwrite_if_older").is_some()
        {
            self.remarks.push("`overwrite-if-older()`: files are appended to".to_string());
        }
        if self.call.option_flag("fsync") == Some(true) {
            settings.push("durability = \"fsync\"".to_string());
        }
        Ok(format!("file {path}{}", with(&settings)))
    }

    fn network(&mut self, kind: &str) -> Result<(&'static str, String), String> {
        let call = self.call;
        let transport = match kind {
            "tcp" | "tcp6" => "tcp".to_string(),
            "udp" | "udp6" => "udp".to_string(),
            _ => call.option_text("transport").unwrap_or("tcp").to_ascii_lowercase(),
        };
        let is_protocol =
            kind == "syslog" || call.flags().iter().any(|flag| flag == "syslog_protocol");
        let host = call.first_text().ok_or("the host is missing")?;
        let port = match call.option_text("port").or_else(|| call.option_text("destport")) {
            Some(port) => port_number(port)?,
            None => match (kind, transport.as_str()) {
                ("network" | "syslog", "tcp") => 601,
                (_, "tls") => 6514,
                _ => 514,
            },
        };
        let host = if host.contains(':') && !host.starts_with('[') {
            format!("[{host}]")
        } else {
            host.to_string()
        };
        let address = format!("{host}:{port}");
        self.line(if is_protocol { PROTOCOL } else { FORWARDED }, false)?;
        let mut settings = vec!["codec = \"string\"".to_string()];
        let sink = match transport.as_str() {
            "udp" => "udp",
            "tcp" | "tls" => {
                if kind == "syslog" {
                    settings.push("framing = \"octet\"".to_string());
                }
                if transport == "tls" {
                    settings.push(tls(call, false, &mut self.remarks)?);
                }
                if let Some(others) =
                    call.option("failover").and_then(|failover| failover.option("servers"))
                {
                    let others: Vec<String> =
                        others.texts().iter().map(|other| format!("{other}:{port}")).collect();
                    settings.push(format!("addresses = {}", crate::notation::texts(&others)));
                    self.remarks.retain(|remark| !remark.starts_with("`failover()`"));
                }
                "tcp"
            }
            other => return Err(format!("the transport `{other}` is not spoken")),
        };
        settings.extend(self.queue());
        Ok((sink, format!("{sink} {}{}", text(&address), with(&settings))))
    }

    /// Keeps a value of the event in the metadata, where settings of the sink find it.
    fn kept(&mut self, name: &str, template: &str) -> Result<String, String> {
        let value = argument(template, self.scene, 0)?;
        if value.code.starts_with('"') && !value.code.contains("#{") {
            return Ok(value.code);
        }
        let code = self.take(value);
        self.steps.push(format!("set ${name} = {code}"));
        Ok(format!("${name}"))
    }

    fn kafka(&mut self) -> Result<String, String> {
        let call = self.call;
        let servers = call
            .option_text("bootstrap_servers")
            .or_else(|| call.option_text("kafka_bootstrap_servers"));
        let servers = servers.ok_or("`bootstrap-servers()` is missing")?;
        let topic = call.option_text("topic").ok_or("`topic()` is missing")?;
        let topic = self.kept("topic", topic)?;
        let key = call.option_text("key").map(|key| self.kept("key", key)).transpose()?;
        let message = call.option_text("message");
        self.body(message, "$ISODATE $HOST $MSGHDR$MSG")?;
        let mut settings = vec!["codec = \"string\"".to_string(), format!("topic = {topic}")];
        settings.extend(key.map(|key| format!("key = {key}")));
        let mut options = Vec::new();
        let mut pairs: Vec<(String, String)> = Vec::new();
        for given in
            call.arguments.iter().filter_map(super::tree::Node::call).filter(|one| one.is("config"))
        {
            for node in &given.arguments {
                if let Some(pair) = node.call()
                    && let Some(value) = pair.first_text()
                {
                    pairs.push((pair.name.clone(), value.to_string()));
                }
            }
            // `"name" => "value"`
            let texts: Vec<&str> = given.texts().into_iter().filter(|one| *one != "=>").collect();
            pairs.extend(
                texts.chunks_exact(2).map(|pair| (pair[0].to_string(), pair[1].to_string())),
            );
        }
        for (name, value) in pairs {
            match name.as_str() {
                "compression.codec" | "compression.type" => {
                    settings.push(format!("compression = {}", text(&value)))
                }
                "acks" | "request.required.acks" => {
                    let acks = if value == "-1" { "all" } else { &value };
                    settings.push(format!("acks = {}", text(acks)));
                }
                _ => options.push(format!("{}: {}", text(&name), text(&value))),
            }
        }
        if !options.is_empty() {
            settings.push(format!("options = {{{}}}", options.join(", ")));
        }
        if call.option_flag("sync_send") == Some(true) {
            self.remarks.push(
                "`sync-send()`: every event waits for its confirmation anyhow; none is lost"
                    .to_string(),
            );
        }
        settings.extend(self.queue());
        Ok(format!("kafka {}{}", text(servers), with(&settings)))
    }

    /// The text of a message, of an option that may name a template.
    fn body(&mut self, given: Option<&str>, otherwise: &str) -> Result<(), String> {
        let template = given.map_or(otherwise.to_string(), |given| self.templates.text_of(given));
        let value = expression(template.strip_suffix('\n').unwrap_or(&template), self.scene, 0)?;
        let code = self.take(value);
        self.steps.push(format!("select {code}"));
        Ok(())
    }

    fn http(&mut self) -> Result<String, String> {
        let call = self.call;
        let url = call.option("url").ok_or("`url()` is missing")?;
        let urls = url.texts();
        let url = urls.first().copied().ok_or("`url()` is empty")?;
        if urls.len() > 1 {
            self.remarks.push("of several addresses the first is used".to_string());
        }
        let mut settings = vec!["codec = \"string\"".to_string()];
        let method = call.option_text("method").unwrap_or("POST").to_ascii_uppercase();
        if method != "POST" {
            settings.push(format!("method = {}", text(&method)));
        }
        let mut headers = Vec::new();
        if let Some(given) = call.option("headers") {
            for header in given.texts() {
                let (name, value) = header.split_once(':').unwrap_or((header, ""));
                if name.eq_ignore_ascii_case("content-type") {
                    settings.push(format!("content_type = {}", text(value.trim())));
                } else {
                    headers.push(format!("{}: {}", text(name.trim()), text(value.trim())));
                }
            }
        }
        if !headers.is_empty() {
            settings.push(format!("headers = {{{}}}", headers.join(", ")));
        }
        let lines = call.option_text("batch_lines").and_then(|lines| lines.parse::<u64>().ok());
        match lines {
            Some(lines) if lines > 1 => {
                let delimiter = call.option_text("delimiter").unwrap_or("\n");
                let prefix = call.option_text("body_prefix").unwrap_or("");
                let kind =
                    match (prefix, delimiter) {
                        ("", "\n") => "ndjson",
                        ("[", ",") => "json_array",
                        _ => return Err(
                            "batches that are joined in another way than by lines or as an array"
                                .to_string(),
                        ),
                    };
                settings.push(format!("batch = \"{kind}\", batch_events = {lines}"));
            }
            _ => settings.push("batch = \"single\"".to_string()),
        }
        let pair = (call.option_text("user"), call.option_text("password"));
        if let (Some(user), Some(password)) = pair {
            settings.push(format!(
                "auth = {{\"basic\": {{\"user\": {}, \"password\": {}}}}}",
                text(user),
                text(password)
            ));
        }
        if let Some(seconds) =
            call.option_text("timeout").and_then(|seconds| seconds.parse::<u64>().ok())
            && seconds > 0
        {
            settings.push(format!("timeout = {seconds}s"));
        }
        if call.option("tls").is_some() {
            settings.push(tls(call, false, &mut self.remarks)?);
        }
        if call
            .option_text("workers")
            .and_then(|workers| workers.parse::<u32>().ok())
            .is_none_or(|workers| workers <= 1)
        {
            settings.push("concurrency = 1".to_string());
        }
        let address = if url.contains('$') {
            let url = self.kept("url", url)?;
            settings.push(format!("url = {url}"));
            String::new()
        } else {
            format!(" {}", text(url))
        };
        self.body(call.option_text("body"), "$ISODATE $HOST $MSGHDR$MSG")?;
        settings.extend(self.queue());
        Ok(format!("http{address}{}", with(&settings)))
    }

    fn search(&mut self) -> Result<String, String> {
        let call = self.call;
        let url = call.option("url").and_then(Call::first_text).ok_or("`url()` is missing")?;
        let url = url.trim_end_matches("/_bulk");
        let index = call.option_text("index").ok_or("`index()` is missing")?;
        let index = self.kept("index", index)?;
        let id = call.option_text("custom_id").filter(|id| !id.is_empty());
        let id = id.map(|id| self.kept("id", id)).transpose()?;
        let template = call.option_text("template").map_or_else(
            || "$(format-json --scope rfc5424 --scope nv-pairs --exclude DATE @timestamp=${ISODATE})".to_string(),
            |given| self.templates.text_of(given),
        );
        let value = expression(template.trim_end(), self.scene, 0)?;
        let code = self.take(value);
        self.uses.push("json");
        self.steps.push(format!("select json::decode({code})"));
        let mut settings = vec![format!("index = {index}")];
        settings.extend(id.map(|id| format!("id = {id}")));
        if let (Some(user), Some(password)) =
            (call.option_text("user"), call.option_text("password"))
        {
            settings.push(format!(
                "auth = {{\"basic\": {{\"user\": {}, \"password\": {}}}}}",
                text(user),
                text(password)
            ));
        }
        if call.option("tls").is_some() {
            settings.push(tls(call, false, &mut self.remarks)?);
        }
        settings.extend(self.queue());
        Ok(format!("opensearch {}{}", text(url), with(&settings)))
    }

    fn redis(&mut self) -> Result<String, String> {
        let call = self.call;
        let host = call.option_text("host").unwrap_or("127.0.0.1");
        let port = call.option_text("port").unwrap_or("6379");
        let command = call.option("command").ok_or("`command()` is missing")?;
        let words = command.texts();
        let (kind, key, value) = match words.as_slice() {
            [word, key, value] => match word.to_ascii_uppercase().as_str() {
                "RPUSH" => ("list", *key, *value),
                "PUBLISH" => ("channel", *key, *value),
                other => {
                    return Err(format!(
                        "the command `{other}` of Redis is not sent: RPUSH and PUBLISH are"
                    ));
                }
            },
            _ => return Err("only RPUSH and PUBLISH of Redis are sent".to_string()),
        };
        let key = self.kept("key", key)?;
        let value = expression(value, self.scene, 0)?;
        let code = self.take(value);
        self.steps.push(format!("select {code}"));
        let mut settings = vec!["codec = \"string\"".to_string(), format!("{kind} = {key}")];
        settings.extend(
            call.option_text("auth").map(|password| format!("password = {}", text(password))),
        );
        settings.extend(self.queue());
        Ok(format!("redis {}{}", text(&format!("redis://{host}:{port}")), with(&settings)))
    }

    fn mqtt(&mut self) -> Result<String, String> {
        let call = self.call;
        let address = call.option_text("address").unwrap_or("tcp://localhost:1883");
        let address = address.replacen("tcp://", "mqtt://", 1).replacen("ssl://", "mqtts://", 1);
        let topic = call.option_text("topic").ok_or("`topic()` is missing")?;
        let topic = self.kept("topic", topic)?;
        self.line("$ISODATE $HOST $MSGHDR$MSG", false)?;
        let mut settings = vec!["codec = \"string\"".to_string(), format!("topic = {topic}")];
        if let Some(qos) = call.option_text("qos").and_then(|qos| qos.parse::<u8>().ok()) {
            settings.push(format!("qos = {}", qos.min(2)));
        }
        for name in ["username", "password", "client_id"] {
            settings
                .extend(call.option_text(name).map(|given| format!("{name} = {}", text(given))));
        }
        settings.extend(self.queue());
        Ok(format!("mqtt {}{}", text(&address), with(&settings)))
    }

    fn amqp(&mut self) -> Result<String, String> {
        let call = self.call;
        let option = |name: &str, otherwise: &'static str| {
            call.option_text(name).unwrap_or(otherwise).to_string()
        };
        let (host, port) = (option("host", "127.0.0.1"), option("port", "5672"));
        let vhost = option("vhost", "/");
        let vhost = vhost.trim_start_matches('/');
        let vhost = if vhost.is_empty() { String::new() } else { format!("/{vhost}") };
        let exchange = self.kept("exchange", &option("exchange", "syslog"))?;
        let key = self.kept("routing_key", &option("routing_key", ""))?;
        self.body(call.option_text("body"), "$ISODATE $HOST $MSGHDR$MSG")?;
        let mut settings = vec![
            "codec = \"string\"".to_string(),
            format!("exchange = {exchange}"),
            format!("routing_key = {key}"),
        ];
        if call.option_flag("exchange_declare") == Some(true) {
            settings.push(format!("exchange_type = {}", text(&option("exchange_type", "fanout"))));
        }
        for name in ["username", "password"] {
            settings
                .extend(call.option_text(name).map(|given| format!("{name} = {}", text(given))));
        }
        if call.option_flag("persistent") == Some(false) {
            settings.push("persistent = false".to_string());
        }
        settings.extend(self.queue());
        self.remarks.push("values go in the body alone, not in headers".to_string());
        Ok(format!("rabbitmq {}{}", text(&format!("amqp://{host}:{port}{vhost}")), with(&settings)))
    }
}

/// `100M`, `1Gib`, `1048576`
fn bytes_of(written: &str) -> Option<u64> {
    let end = written.find(|one: char| !one.is_ascii_digit()).unwrap_or(written.len());
    let number: u64 = written[..end].parse().ok()?;
    let unit = match written[end..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "kib" => 1 << 10,
        "m" | "mb" => 1_000_000,
        "mib" => 1 << 20,
        "g" | "gb" => 1_000_000_000,
        "gib" => 1 << 30,
        _ => return None,
    };
    number.checked_mul(unit)
}
