//! More generators without settings: the kinds of events that most pipelines meet first.
//!
//! Invariant: each writes what the real thing writes, one event a line, and no event costs an allocation.

use super::digits::{push_hex, push_ipv4, push_number, push_uuid};
use super::stamp::{ISO, Stamp};
use super::{Generator, Moment, Random};

/// What an event is written with.
struct Pen<'p> {
    random: &'p mut Random,
    bits: u64,
    out: &'p mut Vec<u8>,
}

impl Pen<'_> {
    fn text(&mut self, text: &str) -> &mut Self {
        self.out.extend_from_slice(text.as_bytes());
        self
    }

    fn one_of(&mut self, choices: &[&str]) -> &mut Self {
        let index = self.bits as usize % choices.len();
        self.bits /= choices.len() as u64;
        self.text(choices[index])
    }

    /// A number from `low` up to, but without, `low + span`.
    fn number(&mut self, low: u64, span: u64) -> &mut Self {
        push_number(low + self.random.below(span), self.out);
        self
    }

    fn ipv4(&mut self) -> &mut Self {
        push_ipv4(self.random, self.out);
        self
    }
}

/// Generators by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// Messages of RFC 5424 with structured data.
    Syslog5424,
    /// Lines of a firewall: packets built, torn down and denied.
    Firewall,
    /// Events of the security log of Windows, as XML in one line.
    WindowsEvent,
    /// Lines of containers as Kubernetes' log agents send them: JSON.
    Kubernetes,
    /// A counter, as plain as can be.
    Counter,
}

/// The names that programs have for them.
pub(crate) const PRESETS: [(&str, Preset); 5] = [
    ("counter", Preset::Counter),
    ("firewall", Preset::Firewall),
    ("kubernetes", Preset::Kubernetes),
    ("syslog-5424", Preset::Syslog5424),
    ("windows-event", Preset::WindowsEvent),
];

const HOSTS: [&str; 6] = ["web1", "web2", "db1", "gate", "build", "store"];
const USERS: [&str; 8] = ["ada", "bob", "carla", "dan", "eve", "SYSTEM", "svc_backup", "guest"];

/// The generator.
pub(crate) struct PresetEvents {
    preset: Preset,
    random: Random,
    stamp: Stamp,
}

impl PresetEvents {
    /// Events of a seed.
    #[must_use]
    pub(crate) fn new(preset: Preset, seed: u64) -> Self {
        let format = match preset {
            Preset::Firewall => "%b %d %Y %H:%M:%S",
            Preset::WindowsEvent => "%Y-%m-%dT%H:%M:%S.%9NZ",
            Preset::Counter => "%Y-%m-%d %H:%M:%S",
            Preset::Syslog5424 | Preset::Kubernetes => ISO,
        };
        let stamp = Stamp::new(format).expect("the built-in formats are tried by a test");
        PresetEvents { preset, random: Random::seeded(seed), stamp }
    }
}

impl Generator for PresetEvents {
    fn write(&mut self, moment: Moment, out: &mut Vec<u8>) -> Result<bool, String> {
        let Self { preset, random, stamp } = self;
        let time = if moment.of > 0 { moment.window.1 } else { moment.time };
        let bits = random.bits();
        let mut pen = Pen { random, bits, out };
        match preset {
            Preset::Syslog5424 => syslog(&mut pen, stamp, time, moment.index),
            Preset::Firewall => firewall(&mut pen, stamp, time),
            Preset::WindowsEvent => windows(&mut pen, stamp, time, moment.index),
            Preset::Kubernetes => kubernetes(&mut pen, stamp, time),
            Preset::Counter => {
                stamp.push(time, pen.out);
                pen.text(" COUNTER Event ");
                push_number(moment.place + 1, pen.out);
                if moment.of > 0 {
                    pen.text(" of ");
                    push_number(moment.of, pen.out);
                }
            }
        }
        Ok(true)
    }
}

/// `<165>1 2026-03-01T00:04:05.067Z host app 123 ID47 [origin@32473 zone="a" seq="1"] text`
fn syslog(pen: &mut Pen<'_>, stamp: &mut Stamp, time: u64, index: u64) {
    pen.text("<").number(0, 192).text(">1 ");
    stamp.push(time, pen.out);
    pen.text(" ").one_of(&HOSTS).text(" ");
    pen.one_of(&["sshd", "nginx", "postfix", "app", "kernel", "audit"])
        .text(" ")
        .number(100, 30_000);
    pen.text(" ").one_of(&["ID47", "LOGIN", "REQ", "-"]);
    pen.text(" [origin@32473 zone=\"").one_of(&["a", "b", "c"]).text("\" seq=\"");
    push_number(index + 1, pen.out);
    pen.text("\"] ").one_of(&[
        "session opened for user root",
        "connection closed by peer",
        "request took longer than expected",
        "disk usage is above 80 %",
    ]);
}

/// `Mar 01 2026 00:04:05 gate : %ASA-6-302013: Built outbound TCP connection 7 for outside:1.2.3.4/443 …`
fn firewall(pen: &mut Pen<'_>, stamp: &mut Stamp, time: u64) {
    stamp.push(time, pen.out);
    pen.text(" gate : ");
    let protocol = ["TCP", "TCP", "UDP"][(pen.bits >> 32) as usize % 3];
    match pen.bits >> 40 & 7 {
        0 => {
            pen.text("%ASA-4-106023: Deny ").text(&protocol.to_ascii_lowercase());
            pen.text(" src outside:").ipv4().text("/").number(1_024, 64_000);
            pen.text(" dst inside:10.0.").number(0, 8).text(".").number(1, 254).text("/");
            pen.one_of(&["22", "23", "445", "3389"])
                .text(" by access-group \"outside_in\" [0x0, 0x0]");
        }
        1..=3 => {
            pen.text("%ASA-6-302014: Teardown ").text(protocol).text(" connection ");
            pen.number(100_000, 900_000).text(" for outside:").ipv4().text("/443 to inside:10.0.");
            pen.number(0, 8).text(".").number(1, 254).text("/").number(1_024, 64_000);
            pen.text(" duration 0:0").number(0, 10).text(":1").number(0, 10).text(" bytes ");
            pen.number(40, 200_000).text(" TCP FINs");
        }
        _ => {
            pen.text("%ASA-6-302013: Built ").one_of(&["inbound ", "outbound "]).text(protocol);
            pen.text(" connection ").number(100_000, 900_000).text(" for outside:").ipv4();
            pen.text("/443 to inside:10.0.").number(0, 8).text(".").number(1, 254).text("/");
            pen.number(1_024, 64_000);
        }
    }
}

/// What the security log of Windows says most.
const WINDOWS: [(&str, &str, &str); 4] = [
    ("4624", "0x8020000000000000", "12544"),
    ("4625", "0x8010000000000000", "12544"),
    ("4688", "0x8020000000000000", "13312"),
    ("4634", "0x8020000000000000", "12545"),
];

fn windows(pen: &mut Pen<'_>, stamp: &mut Stamp, time: u64, index: u64) {
    let (id, keywords, task) = WINDOWS[(pen.bits >> 50) as usize % WINDOWS.len()];
    pen.text(
        "<Event xmlns='http://schemas.microsoft.com/win/2004/08/events/event'><System>\
         <Provider Name='Microsoft-Windows-Security-Auditing' \
         Guid='{54849625-5478-4994-A5BA-3E3B0328C30D}'/><EventID>",
    );
    pen.text(id).text("</EventID><Version>1</Version><Level>0</Level><Task>").text(task);
    pen.text("</Task><Opcode>0</Opcode><Keywords>").text(keywords);
    pen.text("</Keywords><TimeCreated SystemTime='");
    stamp.push(time, pen.out);
    pen.text("'/><EventRecordID>");
    push_number(index + 1, pen.out);
    pen.text("</EventRecordID><Execution ProcessID='").number(400, 8_000).text("' ThreadID='");
    pen.number(400, 8_000).text("'/><Channel>Security</Channel><Computer>").one_of(&HOSTS);
    pen.text(".example.com</Computer><Security/></System><EventData><Data Name='TargetUserName'>");
    pen.one_of(&USERS).text("</Data><Data Name='TargetLogonId'>0x");
    push_hex(pen.random, 6, pen.out);
    pen.text("</Data><Data Name='IpAddress'>").ipv4().text("</Data><Data Name='LogonType'>");
    pen.one_of(&["2", "3", "5", "10"]).text("</Data></EventData></Event>");
}

fn kubernetes(pen: &mut Pen<'_>, stamp: &mut Stamp, time: u64) {
    let app = ["cart", "checkout", "search", "login"][(pen.bits >> 50) as usize % 4];
    pen.text("{\"time\":\"");
    stamp.push(time, pen.out);
    pen.text("\",\"stream\":\"").one_of(&["stdout", "stdout", "stdout", "stderr"]);
    pen.text("\",\"log\":\"level=").one_of(&["info", "info", "warn", "error"]);
    pen.text(" msg=\\\"").one_of(&["request served", "cache refreshed", "retrying", "job done"]);
    pen.text("\\\" duration_ms=").number(0, 3_000);
    pen.text("\",\"kubernetes\":{\"namespace_name\":\"")
        .one_of(&["shop", "shop", "ops", "default"]);
    pen.text("\",\"pod_name\":\"").text(app).text("-");
    push_hex(pen.random, 9, pen.out);
    pen.text("-");
    push_hex(pen.random, 5, pen.out);
    pen.text("\",\"container_name\":\"").text(app).text("\",\"pod_id\":\"");
    push_uuid(pen.random, pen.out);
    pen.text("\",\"labels\":{\"app\":\"").text(app).text("\",\"version\":\"v1.").number(0, 40);
    pen.text("\"},\"host\":\"node-").number(1, 12).text("\"}}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(preset: Preset) -> Vec<String> {
        let mut generator = PresetEvents::new(preset, 1);
        let mut line = |index| {
            let mut out = Vec::new();
            let moment = Moment::at(index, 1_772_323_445_000_000_000 + index * 250_000_000);
            assert!(generator.write(moment, &mut out).unwrap());
            String::from_utf8(out).unwrap()
        };
        (0..1_000).map(&mut line).collect()
    }

    #[test]
    fn each_preset_has_its_form() {
        for (name, preset) in PRESETS {
            let pattern = match preset {
                Preset::Syslog5424 => {
                    r#"^<\d{1,3}>1 2026-03-01T\d\d:\d\d:\d\d\.\d{3}Z \w+ \w+ \d+ \S+ \[origin@32473 zone="[abc]" seq="\d+"\] .+$"#
                }
                Preset::Firewall => {
                    r"^Mar 01 2026 \d\d:\d\d:\d\d gate : %ASA-[46]-\d{6}: (Built|Deny|Teardown) .+$"
                }
                Preset::WindowsEvent => {
                    r"^<Event .*<EventID>4\d{3}</EventID>.*SystemTime='2026-03-01T\S+\.\d{9}Z'.*</Event>$"
                }
                Preset::Kubernetes => r#"^\{"time":"2026-.*"host":"node-\d+"\}\}$"#,
                Preset::Counter => r"^2026-03-01 00:0\d:\d\d COUNTER Event \d+$",
            };
            let pattern = regex::Regex::new(pattern).unwrap();
            let lines = lines(preset);
            let odd = lines.iter().find(|line| !pattern.is_match(line));
            assert_eq!(odd, None, "{name}");
            let kinds: std::collections::BTreeSet<_> = lines.iter().collect();
            assert!(kinds.len() > 900, "{name}");
        }
        for line in lines(Preset::Kubernetes) {
            serde_json::from_str::<serde_json::Value>(&line).unwrap();
        }
        for line in lines(Preset::WindowsEvent) {
            roxmltree::Document::parse(&line).unwrap();
        }
    }
}
