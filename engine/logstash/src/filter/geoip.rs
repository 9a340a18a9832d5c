//! `geoip`: tells where an address is, from a database of MaxMind's format that the user has. What the
//! database does not know gets a tag.

use super::{Declaration, Filter, Outcome, Turn};
use crate::complain;
use crate::options::{Arguments, Takes, option, required};
use maxminddb::Reader;
use serde::Deserialize;
use serde_json::Value as Json;
use std::any::Any;
use std::collections::HashMap;
use std::net::IpAddr;
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::{Datum, Map};
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;

/// `geoip`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "geoip",
    doc: "Tells where an address is.",
    options: &[
        required("source", Takes::Text, "The field with the address."),
        option("target", Takes::Text, "Where the result goes."),
        option("database", Takes::Text, "The database: a file in MaxMind's format."),
        option("default_database_type", Takes::OneOf(&["City", "ASN"]), "Accepted."),
        option("fields", Takes::List, "Which fields the result has."),
        option("cache_size", Takes::Number, "Addresses that are remembered."),
        option("tag_on_failure", Takes::List, "The tags of addresses that are not known."),
    ],
    make,
};

/// Addresses that are remembered when nobody says how many.
const CACHE_DEFAULT: f64 = 1000.0;

struct Geoip {
    source: FieldRef,
    target: FieldRef,
    reader: Reader<Vec<u8>>,
    /// Whether what has no coordinates is not known.
    of_places: bool,
    names: Names,
    /// The fields that are wanted, by their old names.
    fields: Vec<String>,
    cache_max: usize,
    tags: Vec<String>,
}

impl std::fmt::Debug for Geoip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Geoip").field("source", &self.source).finish_non_exhaustive()
    }
}

/// What is found goes by old names, or by those of the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    Old,
    Schema,
}

/// What is known of an address: field names as written, and values.
type Known = Vec<(&'static str, Json)>;
type Cache = HashMap<IpAddr, Option<Known>>;

/// Old names and those of the schema. Read with <https://www.elastic.co/guide/en/ecs> at hand.
const NAMES: &[(&str, &str)] = &[
    ("ip", "ip"),
    ("city_name", "[geo][city_name]"),
    ("continent_code", "[geo][continent_code]"),
    ("continent_name", "[geo][continent_name]"),
    ("country_name", "[geo][country_name]"),
    ("country_code2", "[geo][country_iso_code]"),
    ("country_code3", ""),
    ("postal_code", "[geo][postal_code]"),
    ("dma_code", "[mmdb][dma_code]"),
    ("region_name", "[geo][region_name]"),
    ("region_code", "[geo][region_code]"),
    ("region_iso_code", "[geo][region_iso_code]"),
    ("timezone", "[geo][timezone]"),
    ("location", "[geo][location]"),
    ("latitude", "[geo][location][lat]"),
    ("longitude", "[geo][location][lon]"),
    ("asn", "[as][number]"),
    ("as_org", "[as][organization][name]"),
    ("organization", "[mmdb][organization]"),
    ("isp", "[mmdb][isp]"),
    ("domain", "[domain]"),
    ("autonomous_system_number", "[as][number]"),
    ("autonomous_system_organization", "[as][organization][name]"),
];

/// Fields that are set when nobody says which; the schema prefers `region_iso_code` to `region_code`.
const CITY_DEFAULT: &[&str] = &[
    "ip",
    "city_name",
    "continent_code",
    "country_name",
    "country_code2",
    "country_code3",
    "postal_code",
    "dma_code",
    "region_name",
    "region_code",
    "region_iso_code",
    "timezone",
    "location",
    "latitude",
    "longitude",
];

/// As [`CITY_DEFAULT`], by a part of the type of other databases.
const OTHER_DEFAULTS: [(&str, &[&str]); 4] = [
    ("ASN", &["ip", "asn", "as_org"]),
    ("ISP", &["ip", "asn", "as_org", "isp", "organization"]),
    ("Country", &["ip", "country_code2", "country_name", "continent_name"]),
    ("Domain", &["ip", "domain"]),
];

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let source_text = arguments.text("source")?;
    let source = arguments.field("source", "")?;
    let names = if arguments.ecs.is_on() { Names::Schema } else { Names::Old };
    let derived = match (names, source.steps.as_slice()) {
        (Names::Old, _) => Some("geoip".to_string()),
        // `[client][ip]` is told of in `[client]`.
        (Names::Schema, [way @ .., last]) if &**last == "ip" && !way.is_empty() => {
            let field = FieldRef { metadata: source.metadata, steps: way.to_vec() };
            Some(field.text())
        }
        _ => None,
    };
    if arguments.get("target").is_none() && derived.is_none() {
        let span = arguments.place("source");
        let wanted = format!("`[…][ip]` unless there is a `target`, not `{source_text}`");
        arguments.complain(complain::bad_value("source", span, &wanted));
        return None;
    }
    let target = arguments.field("target", &derived.unwrap_or_default())?;
    let Some(path) = arguments.text("database") else {
        let help = "name a file in MaxMind's format with `database`; none is fetched";
        let span = arguments.span;
        arguments.complain(complain::missing_plugin("filter", "geoip (its database)", span, help));
        return None;
    };
    let reader = match Reader::open_readfile(&path) {
        Ok(reader) => reader,
        Err(error) => {
            let span = arguments.place("database");
            arguments.complain(complain::missing_file(span, &format!("{path}: {error}")));
            return None;
        }
    };
    let database_type = &reader.metadata().database_type;
    let of_places = ["City", "Enterprise"].iter().any(|kind| database_type.contains(kind));
    let other = OTHER_DEFAULTS.iter().find(|(part, _)| database_type.contains(part));
    let defaults = other.map_or(CITY_DEFAULT, |(_, fields)| fields);
    let unwanted = if names == Names::Schema { "region_code" } else { "region_iso_code" };
    let fields = match arguments.texts("fields") {
        Some(texts) => {
            for (text, span) in &texts {
                if !NAMES.iter().any(|(old, _)| text.eq_ignore_ascii_case(old)) {
                    let wanted = "names of fields such as city_name, country_name or location";
                    arguments.complain(complain::bad_value("fields", *span, wanted));
                }
            }
            texts.into_iter().map(|(text, _)| text.to_lowercase()).collect()
        }
        None => defaults
            .iter()
            .filter(|name| **name != unwanted)
            .map(|name| (*name).to_string())
            .collect(),
    };
    Some(Box::new(Geoip {
        source,
        target,
        reader,
        of_places,
        names,
        fields,
        cache_max: arguments.number("cache_size").unwrap_or(CACHE_DEFAULT).max(1.0) as usize,
        tags: arguments.tags("tag_on_failure", "_geoip_lookup_failure"),
    }))
}

impl Filter for Geoip {
    fn memory(&self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(Cache::new()))
    }

    fn remembers_only_to_be_fast(&self) -> bool {
        true
    }

    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let arena = turn.arena;
        let text = match event.get(&self.source) {
            Some(Datum::List(items)) => items.first().map(Datum::text),
            Some(Datum::Null) | None => None,
            Some(value) => Some(value.text()),
        };
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
            return turn.fail(event, &self.tags);
        };
        let cache = turn.memory.downcast_mut::<Cache>().expect("the memory of this filter");
        let known = text.trim().parse().ok().and_then(|address| self.known(address, cache));
        let Some(known) = known else {
            if !event.includes(&self.target) {
                let _ = event.set(&self.target, Datum::Map(Map::default()), arena);
            }
            return turn.fail(event, &self.tags);
        };
        for (name, value) in known {
            let Ok(field) = FieldRef::parse(name) else { continue };
            let field = self.target.join(&field.steps);
            let _ = event.set(&field, datum(&value, arena), arena);
        }
        Outcome::Matched
    }
}

impl Geoip {
    fn known(&self, address: IpAddr, cache: &mut Cache) -> Option<Known> {
        if let Some(known) = cache.get(&address) {
            return known.clone();
        }
        let known = self.look_up(address);
        if cache.len() >= self.cache_max {
            cache.clear();
        }
        cache.insert(address, known.clone());
        known
    }

    fn look_up(&self, address: IpAddr) -> Option<Known> {
        let record: Record = self.reader.lookup(address).ok()?.decode().ok()??;
        if self.of_places && record.location.latitude.or(record.location.longitude).is_none() {
            return None;
        }
        let mut known = Known::new();
        for wanted in &self.fields {
            let Some((old, new)) = NAMES.iter().find(|(old, _)| old == wanted) else { continue };
            let name = if self.names == Names::Old { old } else { new };
            let place = self.names == Names::Schema && matches!(*old, "latitude" | "longitude");
            if name.is_empty() || place {
                continue;
            }
            if let Some(value) = record.value(old, address) {
                known.push((name, value));
            }
        }
        let facts = known.iter().filter(|(name, _)| *name != "ip").count();
        (facts > 0).then_some(known)
    }
}

/// What databases tell, as far as it is used.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Record {
    city: Named,
    continent: Named,
    country: Named,
    location: Location,
    postal: Named,
    subdivisions: Vec<Named>,
    /// A whole number of any size.
    autonomous_system_number: Option<Json>,
    autonomous_system_organization: Option<String>,
    isp: Option<String>,
    organization: Option<String>,
    domain: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Named {
    code: Option<String>,
    iso_code: Option<String>,
    names: HashMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Location {
    latitude: Option<f64>,
    longitude: Option<f64>,
    metro_code: Option<Json>,
    time_zone: Option<String>,
}

impl Named {
    fn english(&self) -> Option<Json> {
        self.names.get("en").map(|name| name.as_str().into())
    }
}

impl Record {
    fn value(&self, name: &str, address: IpAddr) -> Option<Json> {
        let text = |text: &Option<String>| text.as_deref().map(Json::from);
        // The last is the smallest.
        let region = self.subdivisions.last();
        let place = self.location.latitude.zip(self.location.longitude);
        match name {
            "ip" => Some(address.to_string().into()),
            "city_name" => self.city.english(),
            "continent_code" => text(&self.continent.code),
            "continent_name" => self.continent.english(),
            "country_name" => self.country.english(),
            "country_code2" | "country_code3" => text(&self.country.iso_code),
            "postal_code" => text(&self.postal.code),
            "dma_code" => self.location.metro_code.clone(),
            "region_name" => region?.english(),
            "region_code" => text(&region?.iso_code),
            "region_iso_code" => {
                let (country, region) =
                    (self.country.iso_code.as_ref()?, region?.iso_code.as_ref()?);
                Some(format!("{country}-{region}").into())
            }
            "timezone" => text(&self.location.time_zone),
            "location" => place.map(|(lat, lon)| serde_json::json!({ "lat": lat, "lon": lon })),
            "latitude" => self.location.latitude.map(Json::from),
            "longitude" => self.location.longitude.map(Json::from),
            "asn" | "autonomous_system_number" => self.autonomous_system_number.clone(),
            "as_org" | "autonomous_system_organization" => {
                text(&self.autonomous_system_organization)
            }
            "isp" => text(&self.isp),
            "organization" => text(&self.organization),
            "domain" => text(&self.domain),
            _ => None,
        }
    }
}

fn datum<'a>(value: &Json, arena: &'a Arena) -> Datum<'a> {
    match value {
        Json::String(text) => Datum::Str(arena.str(text)),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Datum::Int(whole),
            None => Datum::Float(number.as_f64().unwrap_or(0.0)),
        },
        Json::Object(fields) => Datum::Map(
            fields.iter().map(|(key, value)| (arena.str(key), datum(value, arena))).collect(),
        ),
        _ => Datum::Null,
    }
}
