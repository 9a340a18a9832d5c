//! Actions: where messages go, and as which text.

use super::inputs::bytes_of;
use super::template::Written;
use super::tree::Object;
use crate::notation::{text, texts, with};

/// Types of actions.
pub(crate) const TYPES: &[&str] = &[
    "omfile",
    "omfwd",
    "omrelp",
    "omelasticsearch",
    "omkafka",
    "omprog",
    "omhttp",
    "ommysql",
    "ompgsql",
    "ompipe",
    "omusrmsg",
    "omstdout",
    "omjournal",
    "ommail",
    "omuxsock",
    "omsnmp",
    "omlibdbi",
    "ommongodb",
    "omhiredis",
    "omdiscard",
    "omamqp1",
    "omrabbitmq",
    "omclickhouse",
    "omhdfs",
    "omazureeventhubs",
    "mmnormalize",
    "mmjsonparse",
    "mmfields",
    "mmutf8fix",
    "mmanon",
    "mmpstrucdata",
    "mmexternal",
    "mmcount",
    "mmsequence",
    "mmrm1stspace",
    "mmdblookup",
    "mmkubernetes",
    "mmsnmptrapd",
];

/// What becomes of an action.
#[derive(Debug)]
pub(crate) enum Output {
    /// Steps, and the sink behind them.
    Sink { kind: &'static str, steps: Vec<String>, end: String, remarks: Vec<String> },
    /// Steps that change the message for what comes behind.
    Steps { steps: Vec<String>, uses: Vec<&'static str>, remarks: Vec<String> },
}

/// How templates are found.
pub(crate) trait Templates {
    /// The expression that makes the text, said of `event`.
    fn written(&self, name: &str) -> Result<Written, String>;
}

/// What all actions share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Defaults {
    pub(crate) file_template: Option<String>,
    pub(crate) forward_template: Option<String>,
    /// The setting of TLS for actions that ask for it.
    pub(crate) ca: Option<String>,
    pub(crate) cert: Option<String>,
    pub(crate) key: Option<String>,
}

/// The modules that the texts of an action need.
pub(crate) type Uses = Vec<&'static str>;

/// What becomes of an action, or why nothing does.
pub(crate) fn output(
    object: &Object,
    templates: &dyn Templates,
    defaults: &Defaults,
    uses: &mut Uses,
) -> Result<Output, String> {
    let kind = object.text("type").unwrap_or("").to_ascii_lowercase();
    let mut action =
        Action { object, templates, defaults, uses, steps: Vec::new(), remarks: Vec::new() };
    action.remark_on_options();
    let (file_template, forward_template) =
        (action.file_template().to_string(), action.forward_template().to_string());
    let (kind, end) = match kind.as_str() {
        "omfile" => ("file", action.file()?),
        "omfwd" => action.forward()?,
        "omrelp" => ("relp", action.relp()?),
        "omelasticsearch" => ("search", action.search()?),
        "omkafka" => ("kafka", action.kafka()?),
        "omhttp" => ("http", action.http()?),
        "omhiredis" => ("redis", action.redis()?),
        "omprog" => {
            let command = object.text("binary").ok_or("its command is missing")?;
            let settings = action.line(&file_template, true)?;
            if object.flag("confirmmessages") == Some(true) {
                action.remarks.push(
                    "`confirmMessages`: the command is not asked whether it has a message".into(),
                );
            }
            ("program", format!("command {}{}", text(command), with(&settings)))
        }
        "ompipe" => {
            let path = object.text("pipe").ok_or("its pipe is missing")?;
            let settings = action.line(&file_template, true)?;
            ("pipe", format!("file {}{}", text(path), with(&settings)))
        }
        "omstdout" => {
            let settings = action.line(&file_template, false)?;
            ("stdout", format!("stdout{}", with(&settings)))
        }
        "omuxsock" => {
            let path = object.text("socket").ok_or("its socket is missing")?;
            let settings = action.line(&forward_template, true)?;
            let settings = [vec!["type = \"datagram\"".to_string()], settings].concat();
            ("unix", format!("unix {}{}", text(path), with(&settings)))
        }
        "omdiscard" => {
            return Ok(Output::Steps {
                steps: vec!["drop".into()],
                uses: Vec::new(),
                remarks: Vec::new(),
            });
        }
        "mmjsonparse" => return action.parse_json(),
        "mmfields" => return action.fields(),
        "mmutf8fix" => {
            let remarks = vec!["texts are UTF-8 already".to_string()];
            return Ok(Output::Steps { steps: Vec::new(), uses: Vec::new(), remarks });
        }
        "mmrm1stspace" => {
            let steps = vec!["set event.msg = string::trim_prefix(event.msg, \" \")".to_string()];
            return Ok(Output::Steps { steps, uses: vec!["string"], remarks: Vec::new() });
        }
        "mmpstrucdata" => return Err("structured data is not read into variables".to_string()),
        "mmnormalize" => return Err(
            "rule bases of liblognorm are not read: write `parse grok` or `parse dissect` steps"
                .to_string(),
        ),
        "mmanon" => {
            return Err("addresses are made coarser by `ip::mask`, in a way of its own".to_string());
        }
        "omusrmsg" => return Err("messages are not written to the terminals of users".to_string()),
        "ommysql" | "ompgsql" | "omlibdbi" => {
            return Err("there is no sink for SQL: write to Kafka or a file, and load from there"
                .to_string());
        }
        "ommongodb" => return Err("there is no sink for MongoDB".to_string()),
        "ommail" => {
            return Err("there is no sink for mail: a `command` may call `sendmail`".to_string());
        }
        "" => return Err("it has no type".to_string()),
        other => return Err(format!("there is no equivalent of `{other}`")),
    };
    Ok(Output::Sink { kind, steps: action.steps, end, remarks: action.remarks })
}

struct Action<'a> {
    object: &'a Object,
    templates: &'a dyn Templates,
    defaults: &'a Defaults,
    uses: &'a mut Uses,
    steps: Vec<String>,
    remarks: Vec<String>,
}

/// Parameters without an equivalent, each with what becomes of it.
const WITHOUT: &[(&str, &str)] = &[
    ("fileowner", "files belong to the user that runs the program"),
    ("filegroup", "files belong to the group that runs the program"),
    ("filecreatemode", "files are made with the rights that the process has by its umask"),
    ("dirowner", "folders belong to the user that runs the program"),
    ("dirgroup", "folders belong to the group that runs the program"),
    ("dircreatemode", "folders are made with the rights that the process has by its umask"),
    ("action.execonlyeverynthtime", "write a `sample` step"),
    (
        "action.execonlywhenpreviousissuspended",
        "an action does not know of the one before it: give a sink further `addresses`",
    ),
    ("action.execonlyonceeveryinterval", "write a `suppress` step"),
    ("ziplevel", "files are not packed: `compression = \"gzip\"` packs the whole stream"),
    ("compression.mode", "connections are not packed"),
    ("rebindinterval", "connections are kept"),
    ("ratelimit.interval", "write a `rate_limit` step"),
];

impl Action<'_> {
    fn remark_on_options(&mut self) {
        for (name, why) in WITHOUT {
            if self.object.text(name).is_some_and(|given| given != "0") {
                self.remarks.push(format!("`{name}`: {why}"));
            }
        }
    }

    fn file_template(&self) -> &str {
        self.defaults.file_template.as_deref().unwrap_or("RSYSLOG_FileFormat")
    }

    fn forward_template(&self) -> &str {
        self.defaults.forward_template.as_deref().unwrap_or("RSYSLOG_TraditionalForwardFormat")
    }

    fn text_of(&mut self, name: &str) -> Result<Written, String> {
        let written = self.templates.written(name)?;
        self.uses.extend(&written.uses);
        Ok(written)
    }

    /// Settings of the queue in front of a sink.
    fn queue(&mut self) -> Vec<String> {
        let mut settings = Vec::new();
        let kind = self.object.text("queue.type").unwrap_or("Direct").to_ascii_lowercase();
        if kind == "direct" {
            return settings;
        }
        if self.object.text("queue.filename").is_some() || kind == "disk" {
            settings.push("buffer = \"disk\"".to_string());
            if let Some(bytes) = self.object.text("queue.maxdiskspace").and_then(bytes_of) {
                settings.push(format!("buffer_bytes = \"{}B\"", bytes.max(65_536)));
            }
            if self.object.flag("queue.syncqueuefiles") == Some(true) {
                settings.push("durability = \"fsync\"".to_string());
            }
            self.remarks.push("the queue on disk is kept below `--state DIR`".to_string());
        } else if let Some(events) =
            self.object.text("queue.size").and_then(|events| events.parse::<u64>().ok())
        {
            settings.push(format!("queue_events = {}", events.max(1)));
        }
        if self.object.text("queue.timeoutenqueue") == Some("0")
            && settings.iter().all(|one| !one.contains("disk"))
        {
            settings.push("when_full = \"drop_newest\"".to_string());
        }
        settings
    }

    /// The step that makes the text; settings of the codec and the queue.
    fn line(&mut self, otherwise: &str, by_lines: bool) -> Result<Vec<String>, String> {
        let name = self.object.text("template").unwrap_or(otherwise).to_string();
        let written = self.text_of(&name)?;
        self.steps.push(format!("select {}", written.code));
        let codec = if written.ends_line || !by_lines { "string" } else { "raw" };
        let mut settings = vec![format!("codec = \"{codec}\"")];
        settings.extend(self.queue());
        Ok(settings)
    }

    fn file(&mut self) -> Result<String, String> {
        let path = match (self.object.text("file"), self.object.text("dynafile")) {
            (Some(path), _) => text(path),
            (None, Some(template)) => self.chosen_file(template)?,
            (None, None) => return Err("its file is missing".to_string()),
        };
        let template = self.file_template().to_string();
        let mut settings = self.line(&template, true)?;
        if self.object.flag("sync") == Some(true) {
            settings.push("durability = \"fsync\"".to_string());
        }
        Ok(format!("file {path}{}", with(&settings)))
    }

    /// The path that each message chooses, below the folder that it begins with.
    fn chosen_file(&mut self, template: &str) -> Result<String, String> {
        let written = self.text_of(template)?;
        if let Some(path) = written.constant {
            return Ok(text(&path));
        }
        let inside = written.code.trim_start_matches('"');
        let constant = inside.split("#{").next().unwrap_or("");
        let Some((folder, _)) = constant.rsplit_once('/') else {
            return Err("its path must begin with a folder, so that no message can choose another"
                .to_string());
        };
        let rest = &inside[folder.len() + 1..];
        self.steps.push(format!("set $file = \"{rest}"));
        Ok(format!("\"{folder}/#{{$file}}\""))
    }

    fn forward(&mut self) -> Result<(&'static str, String), String> {
        let object = self.object;
        let target = object.text("target").ok_or("its target is missing")?;
        let port = object.text("port").unwrap_or("514");
        let port = if port == "syslog" { "514" } else { port };
        let target = if target.contains(':') { format!("[{target}]") } else { target.to_string() };
        let address = format!("{target}:{port}");
        let is_tcp = object.text("protocol").unwrap_or("udp").eq_ignore_ascii_case("tcp");
        let template = self.forward_template().to_string();
        let mut settings = self.line(&template, false)?;
        if !is_tcp {
            return Ok(("udp", format!("udp {}{}", text(&address), with(&settings))));
        }
        if object
            .text("tcp_framing")
            .is_some_and(|framing| framing.eq_ignore_ascii_case("octet-counted"))
        {
            settings.push("framing = \"octet\"".to_string());
        }
        if object.text("streamdrivermode") == Some("1")
            || object.text("streamdriver.mode") == Some("1")
        {
            settings.push(self.tls());
        }
        Ok(("tcp", format!("tcp {}{}", text(&address), with(&settings))))
    }

    fn tls(&mut self) -> String {
        let mut fields = Vec::new();
        let own = |name: &str, other: &Option<String>| {
            self.object.text(name).map(str::to_string).or_else(|| other.clone())
        };
        let files = [
            ("ca", own("streamdriver.cafile", &self.defaults.ca)),
            ("cert", own("streamdriver.certfile", &self.defaults.cert)),
            ("key", own("streamdriver.keyfile", &self.defaults.key)),
        ];
        for (name, file) in files {
            fields.extend(file.map(|file| format!("\"{name}\": {}", text(&file))));
        }
        let mode = self.object.text("streamdriverauthmode").unwrap_or("anon");
        match mode {
            "anon" => fields.push("\"verify\": false".to_string()),
            "x509/name" => {
                if let Some(peer) = self.object.text("streamdriverpermittedpeers") {
                    let peer = peer.split(',').next().unwrap_or(peer);
                    if !peer.starts_with('*') {
                        fields.push(format!("\"server_name\": {}", text(peer)));
                    }
                }
            }
            other => self
                .remarks
                .push(format!("`{other}`: the certificate is checked, and the name of the target")),
        }
        format!("tls = {{{}}}", fields.join(", "))
    }

    fn relp(&mut self) -> Result<String, String> {
        let object = self.object;
        let target = object.text("target").ok_or("its target is missing")?;
        let port = object.text("port").unwrap_or("514");
        let template = self.forward_template().to_string();
        let mut settings = self.line(&template, false)?;
        if object.flag("tls") == Some(true) {
            let mut fields = Vec::new();
            for (name, field) in
                [("tls.cacert", "ca"), ("tls.mycert", "cert"), ("tls.myprivkey", "key")]
            {
                fields.extend(object.text(name).map(|file| format!("\"{field}\": {}", text(file))));
            }
            settings.push(format!("tls = {{{}}}", fields.join(", ")));
        }
        if let Some(window) =
            object.text("windowsize").and_then(|window| window.parse::<u32>().ok())
        {
            settings.push(format!("window = {}", window.clamp(1, 100_000)));
        }
        Ok(format!("relp {}{}", text(&format!("{target}:{port}")), with(&settings)))
    }

    /// A parameter that may name a template, for a setting of the sink.
    fn kept(&mut self, name: &str, dynamic: &str, key: &str) -> Result<Option<String>, String> {
        let Some(given) = self.object.text(name).map(str::to_string) else { return Ok(None) };
        if self.object.flag(dynamic) != Some(true) {
            return Ok(Some(text(&given)));
        }
        let written = self.text_of(&given)?;
        self.steps.push(format!("set ${key} = {}", written.code));
        Ok(Some(format!("${key}")))
    }

    fn search(&mut self) -> Result<String, String> {
        let object = self.object;
        let servers = object.texts("server");
        let port = object.text("serverport").unwrap_or("9200");
        let scheme = if object.flag("usehttps") == Some(true) { "https" } else { "http" };
        let urls: Vec<String> = if servers.is_empty() {
            vec![format!("{scheme}://localhost:{port}")]
        } else {
            let url = |server: &String| match (server.contains("://"), server.rsplit_once(':')) {
                (true, _) => server.clone(),
                (false, Some((_, port))) if port.parse::<u16>().is_ok() => {
                    format!("{scheme}://{server}")
                }
                _ => format!("{scheme}://{server}:{port}"),
            };
            servers.iter().map(url).collect()
        };
        let index =
            self.kept("searchindex", "dynsearchindex", "index")?.unwrap_or_else(|| text("system"));
        let id = self.kept("bulkid", "dynbulkid", "id")?;
        let template = object.text("template").unwrap_or(" StdJSONFmt").to_string();
        let written = self.text_of(&template)?;
        self.uses.push("json");
        self.steps.push(format!("select json::decode({})", written.code));
        let mut settings = vec![format!("index = {index}")];
        settings.extend(id.map(|id| format!("id = {id}")));
        if urls.len() > 1 {
            settings.push(format!("nodes = {}", texts(&urls[1..])));
        }
        if let (Some(user), Some(password)) = (object.text("uid"), object.text("pwd")) {
            settings.push(format!(
                "auth = {{\"basic\": {{\"user\": {}, \"password\": {}}}}}",
                text(user),
                text(password)
            ));
        }
        settings.extend(self.queue());
        Ok(format!("opensearch {}{}", text(&urls[0]), with(&settings)))
    }

    fn kafka(&mut self) -> Result<String, String> {
        let object = self.object;
        let brokers = object.texts("broker");
        let brokers =
            if brokers.is_empty() { "localhost:9092".to_string() } else { brokers.join(",") };
        let topic = self.kept("topic", "dynatopic", "topic")?.ok_or("its topic is missing")?;
        let key = self.kept("key", "dynakey", "key")?;
        let template = self.file_template().to_string();
        let mut settings = self.line(&template, false)?;
        settings.insert(1, format!("topic = {topic}"));
        settings.extend(key.map(|key| format!("key = {key}")));
        let mut options = Vec::new();
        for pair in object.texts("confparam") {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match name {
                "compression.codec" | "compression.type" => {
                    settings.push(format!("compression = {}", text(value)))
                }
                _ => options.push(format!("{}: {}", text(name), text(value))),
            }
        }
        if !options.is_empty() {
            settings.push(format!("options = {{{}}}", options.join(", ")));
        }
        Ok(format!("kafka {}{}", text(&brokers), with(&settings)))
    }

    fn http(&mut self) -> Result<String, String> {
        let object = self.object;
        let server = object.text("server").unwrap_or("localhost");
        let scheme = if object.flag("usehttps") == Some(false) { "http" } else { "https" };
        let port = object.text("serverport").unwrap_or("443");
        let path = object.text("restpath").unwrap_or("").trim_start_matches('/').to_string();
        if object.flag("dynrestpath") == Some(true) {
            return Err("paths that templates make are not converted".to_string());
        }
        let template = self.file_template().to_string();
        let mut settings = self.line(&template, false)?;
        settings.push(match (object.flag("batch"), object.text("batch.format")) {
            (Some(true), Some("jsonarray")) => "batch = \"json_array\"".to_string(),
            (Some(true), _) => "batch = \"ndjson\"".to_string(),
            _ => "batch = \"single\"".to_string(),
        });
        if let (Some(user), Some(password)) = (object.text("uid"), object.text("pwd")) {
            settings.push(format!(
                "auth = {{\"basic\": {{\"user\": {}, \"password\": {}}}}}",
                text(user),
                text(password)
            ));
        }
        Ok(format!(
            "http {}{}",
            text(&format!("{scheme}://{server}:{port}/{path}")),
            with(&settings)
        ))
    }

    fn redis(&mut self) -> Result<String, String> {
        let object = self.object;
        let server = object.text("server").unwrap_or("127.0.0.1");
        let port = object.text("serverport").unwrap_or("6379");
        let key = self.kept("key", "dynakey", "key")?.ok_or("its key is missing")?;
        let kind = match object.text("mode").unwrap_or("template") {
            "publish" => "channel",
            "queue" if object.flag("userpush") == Some(true) => "list",
            "stream" => "stream",
            other => {
                return Err(format!(
                    "the mode `{other}` is not spoken: `publish`, `stream`, and `queue` with RPUSH are"
                ));
            }
        };
        let template = self.file_template().to_string();
        let mut settings = self.line(&template, false)?;
        settings.insert(1, format!("{kind} = {key}"));
        settings.extend(
            object.text("serverpassword").map(|password| format!("password = {}", text(password))),
        );
        Ok(format!("redis {}{}", text(&format!("redis://{server}:{port}")), with(&settings)))
    }

    /// `mmjsonparse`: what stands behind the cookie becomes `$!`.
    fn parse_json(&mut self) -> Result<Output, String> {
        let cookie = self.object.text("cookie").unwrap_or("@cee:");
        let container = self.object.text("container").unwrap_or("$!");
        let place = super::property::place("event", container)?;
        let text_of = "string::trim_start(event.msg)";
        let body = if cookie.is_empty() {
            text_of.to_string()
        } else {
            format!("string::trim_prefix({text_of}, {})", text(cookie))
        };
        let test = if cookie.is_empty() {
            "string::starts_with(string::trim_start(event.msg), \"{\")".to_string()
        } else {
            format!("string::starts_with({text_of}, {})", text(cookie))
        };
        let steps = vec![format!(
            "when {test} do\nset {place} = merge {place} ?? {{}} of match {body} of case document = ~ json|| => document case _ => {{\"msg\": string::trim_start(event.msg)}} end end\nelse\nset {place} = merge {place} ?? {{}} of {{\"msg\": string::trim_start(event.msg)}} end\nend"
        )];
        let remarks = vec!["`$parsesuccess` is not set".to_string()];
        Ok(Output::Steps { steps, uses: vec!["string"], remarks })
    }

    /// `mmfields`: fields of the message by their numbers.
    fn fields(&mut self) -> Result<Output, String> {
        let separator = self.object.text("separator").unwrap_or(",");
        let root = self.object.text("jsonroot").unwrap_or("!");
        let place = super::property::place("event", root)?;
        let steps = vec![format!(
            "set {place} = merge {place} ?? {{}} of record::from_array(for string::split(event.msg, {}) of case (number, field) => [\"f#{{number + 1}}\", field] end) end",
            text(separator)
        )];
        Ok(Output::Steps { steps, uses: vec!["string", "record"], remarks: Vec::new() })
    }
}
