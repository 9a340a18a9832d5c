//! The words for severities and facilities (RFC 5424, section 6.2.1). A word's place is its number.

/// Severities 0 to 7.
pub const SEVERITIES: [&str; 8] =
    ["emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"];

/// Facilities 0 to 23.
pub const FACILITIES: [&str; 24] = [
    "kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv",
    "ftp", "ntp", "audit", "alert", "clockd", "local0", "local1", "local2", "local3", "local4",
    "local5", "local6", "local7",
];
