//! A folder of configurations as large sites have them: as many files as devices, each with patterns of its own that
//! refer to the shipped ones. What `temblor check` takes for it is what a start takes.

use crate::core::measure::{Directory, median};
use crate::core::process::command;
use crate::processes::cost;
use crate::workload::Random;
use std::process::{Command, Stdio};

/// Lines of the folder, at the least.
const LINES: usize = 10_000;
/// Processor seconds that a check of it may take.
pub(super) const CHECK_S_MAX: f64 = 0.2;

/// What a check took.
#[derive(Debug)]
pub struct Check {
    /// Files of the folder.
    pub files: usize,
    /// Lines in all of them.
    pub lines: usize,
    /// Processor seconds, the median.
    pub cpu_s: f64,
}

/// Writes the folder and checks it as often as asked.
pub(super) fn check(repetitions: usize) -> Result<Check, String> {
    let folder = Directory::make()?;
    let (mut files, mut lines) = (0, 0);
    while lines < LINES {
        let text = configuration(files);
        let path = folder.file(&format!("{files:04}.conf"));
        std::fs::write(&path, &text).map_err(|error| format!("{}: {error}", path.display()))?;
        files += 1;
        lines += text.lines().count();
    }
    let temblor = command()?;
    let once = || {
        let mut command = Command::new(&temblor);
        command.args(["check", "--logstash"]).arg(folder.path());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let status = command.status().map_err(|error| error.to_string())?;
        if status.success() { Ok(()) } else { Err(format!("the folder is refused: {status}")) }
    };
    // The system counts in steps that are coarse beside one check.
    const CHECKS: usize = 5;
    let runs = (0..repetitions.max(1)).map(|_| {
        let cost = cost::of(|| (0..CHECKS).try_for_each(|_| once()))?;
        Ok(cost.cpu_s / CHECKS as f64)
    });
    let runs = runs.collect::<Result<Vec<_>, String>>()?;
    Ok(Check { files, lines, cpu_s: median(runs.into_iter()) })
}

/// The filters of one device. Numbers in names and patterns differ from device to device.
fn configuration(number: usize) -> String {
    const SHAPES: [&str; 8] = [
        "%{IPORHOST:[source][address]} %{USERNAME:[user][name]}",
        "%{IP:[source][ip]}:%{POSINT:[source][port]:int} -> %{IP:[destination][ip]}",
        "(?<[event][code]>[A-Z]{3}-[0-9]{4}) %{DATA:[event][reason]}",
        "%{URIPATHPARAM:[url][original]} %{NUMBER:[event][duration]:float}",
        "%{LOGLEVEL:[log][level]} \\[%{NOTSPACE:[process][name]}\\]",
        "%{MAC:[host][mac]} %{UNIXPATH:[file][path]}",
        "(?:%{UUID:[trace][id]}|-) %{QUOTEDSTRING:[user_agent][original]}",
        "%{TIMESTAMP_ISO8601:[event][start]} %{HOSTNAME:[observer][name]}",
    ];
    let mut random = Random::seeded(number as u64);
    let mut shape = || SHAPES[random.bits() as usize % SHAPES.len()];
    let patterns: Vec<String> = (0..6)
        .map(|kind| {
            let head = "^%{SYSLOGTIMESTAMP:[@metadata][time]} %{SYSLOGHOST:[host][name]}";
            format!("        \"{head} dev{number}-{kind}: {} {}\"", shape(), shape())
        })
        .collect();
    let patterns = patterns.join(",\n");
    format!(
        r#"# Device {number}
filter {{
  if [type] == "device-{number}" and [message] =~ /dev{number}-[0-9]+:/ {{
    grok {{
      match => {{ "message" => [
{patterns}
      ] }}
      tag_on_failure => ["_grok_{number}"]
    }}
    if "_grok_{number}" not in [tags] {{
      date {{ match => ["[@metadata][time]", "MMM dd HH:mm:ss", "MMM  d HH:mm:ss"] timezone => "UTC" }}
      mutate {{
        gsub => ["[event][reason]", "device {number} +", "", "[url][original]", "[?#].*$", ""]
        rename => {{ "[event][code]" => "[event][id]" }}
        add_field => {{ "[device][number]" => "{number}" "[device][host]" => "%{{[host][name]}}" }}
      }}
      translate {{
        source => "[log][level]" target => "[event][severity]"
        dictionary => {{ "ERROR" => "{number}" "WARN" => "4" "INFO" => "6" }}
        fallback => "7"
      }}
      if [source][ip] {{ cidr {{ address => ["%{{[source][ip]}}"] network => ["10.0.0.0/8"] add_tag => ["inside"] }} }}
    }}
  }}
}}
"#
    )
}
