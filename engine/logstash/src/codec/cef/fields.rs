//! The names of the Common Event Format: short names as they are written, long names, and places in the
//! Elastic Common Schema. What has no short form has its long name twice.

/// A field of the extension.
pub(crate) struct Field {
    /// `src`
    pub short: &'static str,
    /// `sourceAddress`
    pub long: &'static str,
    /// `[source][ip]`
    pub place: &'static str,
}

const fn field(short: &'static str, long: &'static str, place: &'static str) -> Field {
    Field { short, long, place }
}

const fn same(long: &'static str, place: &'static str) -> Field {
    Field { short: long, long, place }
}

/// The fields of the extension.
pub(crate) const FIELDS: &[Field] = &[
    field("act", "deviceAction", "[event][action]"),
    field("agt", "agentAddress", "[agent][ip]"),
    same("agentDnsDomain", "[cef][agent][registered_domain]"),
    field("ahost", "agentHostName", "[agent][name]"),
    field("aid", "agentId", "[agent][id]"),
    field("amac", "agentMacAddress", "[agent][mac]"),
    same("agentNtDomain", "[cef][agent][registered_domain]"),
    field("art", "agentReceiptTime", "[event][created]"),
    field("atz", "agentTimeZone", "[cef][agent][timezone]"),
    same("agentTranslatedAddress", "[cef][agent][nat][ip]"),
    same("agentTranslatedZoneExternalID", "[cef][agent][translated_zone][external_id]"),
    same("agentTranslatedZoneURI", "[cef][agent][translated_zone][uri]"),
    field("at", "agentType", "[agent][type]"),
    field("av", "agentVersion", "[agent][version]"),
    same("agentZoneExternalID", "[cef][agent][zone][external_id]"),
    same("agentZoneURI", "[cef][agent][zone][uri]"),
    field("app", "applicationProtocol", "[network][protocol]"),
    field("cat", "deviceEventCategory", "[cef][category]"),
    field("catdt", "categoryDeviceType", "[cef][device_type]"),
    field("cnt", "baseEventCount", "[cef][base_event_count]"),
    same("customerExternalID", "[organization][id]"),
    same("customerURI", "[organization][name]"),
    same("destinationDnsDomain", "[destination][registered_domain]"),
    same("destinationServiceName", "[destination][service][name]"),
    same("destinationTranslatedAddress", "[destination][nat][ip]"),
    same("destinationTranslatedPort", "[destination][nat][port]"),
    same("destinationTranslatedZoneExternalID", "[cef][destination][translated_zone][external_id]"),
    same("destinationTranslatedZoneURI", "[cef][destination][translated_zone][uri]"),
    same("destinationZoneExternalID", "[cef][destination][zone][external_id]"),
    same("destinationZoneURI", "[cef][destination][zone][uri]"),
    same("deviceDirection", "[network][direction]"),
    same("deviceDnsDomain", "[observer][registered_domain]"),
    same("deviceExternalId", "[observer][name]"),
    same("deviceFacility", "[log][syslog][facility][code]"),
    same("deviceInboundInterface", "[observer][ingress][interface][name]"),
    same("deviceNtDomain", "[cef][nt_domain]"),
    same("deviceOutboundInterface", "[observer][egress][interface][name]"),
    same("devicePayloadId", "[cef][payload_id]"),
    same("deviceProcessName", "[process][name]"),
    same("deviceTranslatedAddress", "[observer][nat][ip]"),
    same("deviceTranslatedZoneExternalID", "[cef][translated_zone][external_id]"),
    same("deviceTranslatedZoneURI", "[cef][translated_zone][uri]"),
    same("deviceZoneExternalID", "[cef][zone][external_id]"),
    same("deviceZoneURI", "[cef][zone][uri]"),
    field("dhost", "destinationHostName", "[destination][domain]"),
    field("dlat", "destinationGeoLatitude", "[destination][geo][location][lat]"),
    field("dlong", "destinationGeoLongitude", "[destination][geo][location][lon]"),
    field("dmac", "destinationMacAddress", "[destination][mac]"),
    field("dntdom", "destinationNtDomain", "[destination][registered_domain]"),
    field("dpid", "destinationProcessId", "[destination][process][pid]"),
    field("dpriv", "destinationUserPrivileges", "[destination][user][group][name]"),
    field("dproc", "destinationProcessName", "[destination][process][name]"),
    field("dpt", "destinationPort", "[destination][port]"),
    field("dst", "destinationAddress", "[destination][ip]"),
    field("dtz", "deviceTimeZone", "[event][timezone]"),
    field("duid", "destinationUserId", "[destination][user][id]"),
    field("duser", "destinationUserName", "[destination][user][name]"),
    field("dvc", "deviceAddress", "[observer][ip]"),
    field("dvchost", "deviceHostName", "[observer][hostname]"),
    field("dvcmac", "deviceMacAddress", "[observer][mac]"),
    field("dvcpid", "deviceProcessId", "[process][pid]"),
    field("end", "endTime", "[event][end]"),
    same("eventId", "[event][id]"),
    same("externalId", "[cef][external_id]"),
    same("fileCreateTime", "[file][created]"),
    same("fileHash", "[file][hash]"),
    same("fileId", "[file][inode]"),
    same("fileModificationTime", "[file][mtime]"),
    same("filePath", "[file][path]"),
    same("filePermission", "[file][group]"),
    same("fileType", "[file][type]"),
    field("fname", "filename", "[file][name]"),
    field("fsize", "fileSize", "[file][size]"),
    field("in", "bytesIn", "[source][bytes]"),
    field("mrt", "managerReceiptTime", "[event][ingested]"),
    field("msg", "message", "message"),
    same("oldFileCreateTime", "[cef][old_file][created]"),
    same("oldFileHash", "[cef][old_file][hash]"),
    same("oldFileId", "[cef][old_file][inode]"),
    same("oldFileModificationTime", "[cef][old_file][mtime]"),
    same("oldFileName", "[cef][old_file][name]"),
    same("oldFilePath", "[cef][old_file][path]"),
    same("oldFilePermission", "[cef][old_file][group]"),
    same("oldFileSize", "[cef][old_file][size]"),
    same("oldFileType", "[cef][old_file][type]"),
    field("out", "bytesOut", "[destination][bytes]"),
    field("outcome", "eventOutcome", "[event][outcome]"),
    field("proto", "transportProtocol", "[network][transport]"),
    same("rawEvent", "[event][original]"),
    same("reason", "[event][reason]"),
    field("request", "requestUrl", "[url][original]"),
    same("requestClientApplication", "[user_agent][original]"),
    same("requestContext", "[http][request][referrer]"),
    same("requestCookies", "[cef][request][cookies]"),
    same("requestMethod", "[http][request][method]"),
    field("rt", "deviceReceiptTime", "@timestamp"),
    field("shost", "sourceHostName", "[source][domain]"),
    field("slat", "sourceGeoLatitude", "[source][geo][location][lat]"),
    field("slong", "sourceGeoLongitude", "[source][geo][location][lon]"),
    field("smac", "sourceMacAddress", "[source][mac]"),
    field("sntdom", "sourceNtDomain", "[source][registered_domain]"),
    same("sourceDnsDomain", "[source][registered_domain]"),
    same("sourceServiceName", "[source][service][name]"),
    same("sourceTranslatedAddress", "[source][nat][ip]"),
    same("sourceTranslatedPort", "[source][nat][port]"),
    same("sourceTranslatedZoneExternalID", "[cef][source][translated_zone][external_id]"),
    same("sourceTranslatedZoneURI", "[cef][source][translated_zone][uri]"),
    same("sourceZoneExternalID", "[cef][source][zone][external_id]"),
    same("sourceZoneURI", "[cef][source][zone][uri]"),
    field("spid", "sourceProcessId", "[source][process][pid]"),
    field("spriv", "sourceUserPrivileges", "[source][user][group][name]"),
    field("sproc", "sourceProcessName", "[source][process][name]"),
    field("spt", "sourcePort", "[source][port]"),
    field("src", "sourceAddress", "[source][ip]"),
    field("start", "startTime", "[event][start]"),
    field("suid", "sourceUserId", "[source][user][id]"),
    field("suser", "sourceUserName", "[source][user][name]"),
    same("type", "[cef][type]"),
];

/// Fields that hold a time, by their long names.
const TIMES: &[&str] = &[
    "agentReceiptTime",
    "deviceReceiptTime",
    "endTime",
    "fileCreateTime",
    "fileModificationTime",
    "managerReceiptTime",
    "oldFileCreateTime",
    "oldFileModificationTime",
    "startTime",
];

/// Names of the header: those of the format's parser, Logstash's, and places in the schema.
pub(crate) const HEADER: &[(&str, &str, &str)] = &[
    ("cef_version", "cefVersion", "[cef][version]"),
    ("device_vendor", "deviceVendor", "[observer][vendor]"),
    ("device_product", "deviceProduct", "[observer][product]"),
    ("device_version", "deviceVersion", "[observer][version]"),
    ("device_event_class_id", "deviceEventClassId", "[event][code]"),
    ("name", "name", "[cef][name]"),
    ("severity", "severity", "[event][severity]"),
    ("syslog", "syslog", "[log][syslog][header]"),
];

/// Places that are elsewhere when the device is the machine that events are about.
const OF_HOST: &[(&str, &str)] = &[
    ("[observer][ip]", "[host][ip]"),
    ("[observer][hostname]", "[host][name]"),
    ("[observer][mac]", "[host][mac]"),
    ("[observer][registered_domain]", "[host][registered_domain]"),
    ("[observer][name]", "[host][id]"),
    ("[observer][nat][ip]", "[host][nat][ip]"),
];

/// The field of a key, which is its short or its long name.
pub(crate) fn of_key(key: &str) -> Option<&'static Field> {
    let short = FIELDS.iter().find(|field| field.short == key);
    short.or_else(|| FIELDS.iter().find(|field| field.long == key))
}

/// Whether the field of a key holds a time.
pub(crate) fn is_time(key: &str) -> bool {
    let is_custom = |stem: &str| {
        key.strip_prefix(stem).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let long = of_key(key).map_or(key, |field| field.long);
    TIMES.contains(&long) || is_custom("deviceCustomDate") || is_custom("flexDate")
}

/// The place of a field of the device when the device is the host.
pub(crate) fn host_place(place: &'static str) -> &'static str {
    OF_HOST.iter().find(|(observer, _)| *observer == place).map_or(place, |(_, host)| host)
}

/// `cs1`, `cs1Label`, `cn2`, `cfp1`, `flexString1` …
pub(crate) fn custom(key: &str, ecs: bool) -> Option<String> {
    let (stem, is_label) = key.strip_suffix("Label").map_or((key, false), |stem| (stem, true));
    let digit = stem.find(|one: char| one.is_ascii_digit())?;
    let (kind, number) = stem.split_at(digit);
    // `c6a1` has a digit of its own.
    let (kind, number) = match stem.strip_prefix("c6a") {
        Some(number) => ("c6a", number),
        None => (kind, number),
    };
    let (long, place) = match kind {
        "cs" => ("deviceCustomString", "device_custom_string"),
        "cn" => ("deviceCustomNumber", "device_custom_number"),
        "cfp" => ("deviceCustomFloatingPoint", "device_custom_floating_point"),
        "c6a" => ("deviceCustomIPv6Address", "device_custom_ipv6_address"),
        "deviceCustomDate" => ("deviceCustomDate", "device_custom_date"),
        "flexDate" => ("flexDate", "flex_date"),
        "flexString" => ("flexString", "flex_string"),
        "flexNumber" => ("flexNumber", "flex_number"),
        _ => return None,
    };
    if number.is_empty() || !number.bytes().all(|one| one.is_ascii_digit()) {
        return None;
    }
    Some(match (ecs, is_label) {
        (true, true) => format!("[cef][{place}_{number}][label]"),
        (true, false) => format!("[cef][{place}_{number}][value]"),
        (false, true) => format!("{long}{number}Label"),
        (false, false) => format!("{long}{number}"),
    })
}

#[cfg(test)]
mod tests {
    use super::{FIELDS, custom, host_place, is_time};

    #[test]
    fn names_are_there_once() {
        for (at, field) in FIELDS.iter().enumerate() {
            let before = &FIELDS[..at];
            let twice = before.iter().any(|one| one.short == field.short || one.long == field.long);
            assert!(!twice, "{}", field.short);
        }
    }

    #[test]
    fn numbered_fields_have_names_and_labels() {
        assert_eq!(custom("cs12Label", false).as_deref(), Some("deviceCustomString12Label"));
        assert_eq!(
            custom("c6a2", true).as_deref(),
            Some("[cef][device_custom_ipv6_address_2][value]")
        );
        assert_eq!(custom("cs", true), None);
        assert_eq!(custom("cs1x", true), None);
        assert!(
            is_time("deviceCustomDate1") && is_time("rt") && !is_time("deviceCustomDate1Label")
        );
        assert_eq!(host_place("[observer][name]"), "[host][id]");
    }
}
