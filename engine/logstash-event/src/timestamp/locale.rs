//! Names of months, days, half days and eras in the languages that logs are written in. A string may have a name or its
//! abbreviation, as listed, in lower case or in upper case: that is Joda-Time's rule.

use std::sync::OnceLock;

/// A language, optionally of one country.
#[derive(Debug)]
pub struct Locale {
    tag: &'static str,
    months: Names,
    /// Monday first.
    days: Names,
    half_days: Names,
    /// Before and after the year 1.
    eras: Names,
}

/// Names with their abbreviations.
#[derive(Debug)]
struct Names {
    long: Vec<&'static str>,
    short: Vec<&'static str>,
    /// Every accepted form with its number, longest first.
    forms: Vec<(String, usize)>,
}

impl Names {
    fn new(long: &'static str, short: &'static str, more: &[(&str, usize)]) -> Self {
        let long: Vec<_> = long.split(';').collect();
        let short: Vec<_> = short.split(';').collect();
        let numbered = long.iter().enumerate().chain(short.iter().enumerate());
        let mut forms: Vec<(String, usize)> = numbered
            .flat_map(|(number, name)| {
                [(*name).to_string(), name.to_lowercase(), name.to_uppercase()]
                    .map(|form| (form, number))
            })
            .filter(|(form, _)| !form.is_empty())
            .collect();
        forms.extend(more.iter().map(|(form, number)| ((*form).to_string(), *number)));
        forms.sort_by_key(|(form, _)| std::cmp::Reverse(form.chars().count()));
        Self { long, short, forms }
    }

    fn name(&self, number: usize, long: bool) -> &'static str {
        if long { self.long[number] } else { self.short[number] }
    }

    /// The number of the longest name that `text` begins with, and the rest of the text.
    fn read<'t>(&self, text: &'t str) -> Option<(usize, &'t str)> {
        let first = text.as_bytes().first()?;
        let mut forms =
            self.forms.iter().filter(|(form, _)| form.as_bytes().first() == Some(first));
        forms.find_map(|(form, number)| Some((*number, text.strip_prefix(form.as_str())?)))
    }
}

/// The names of all languages; `locales.txt` says what a line holds.
fn locales() -> &'static [Locale] {
    static LOCALES: OnceLock<Vec<Locale>> = OnceLock::new();
    LOCALES.get_or_init(|| {
        let lines = include_str!("locales.txt").lines();
        lines.filter(|line| !line.starts_with('#')).map(locale).collect()
    })
}

fn locale(line: &'static str) -> Locale {
    let mut parts = line.split('|');
    let mut part = || parts.next().unwrap_or_default();
    let tag = part();
    let months = Names::new(part(), part(), &[]);
    let days = Names::new(part(), part(), &[]);
    let half_days = part();
    let eras = part();
    // English texts may write the eras in another way too.
    let common: &[(&str, usize)] = match tag.get(..2) {
        Some("en") => &[("BCE", 0), ("bce", 0), ("CE", 1), ("ce", 1)],
        _ => &[],
    };
    let half_days = Names::new(half_days, half_days, &[]);
    Locale { tag, months, days, half_days, eras: Names::new(eras, eras, common) }
}

impl Locale {
    /// English.
    #[must_use]
    pub fn english() -> &'static Locale {
        &locales()[0]
    }

    /// The language of a tag such as `fr` or `fr_CA`, if its names are known.
    #[must_use]
    pub fn of(tag: &str) -> Option<&'static Locale> {
        let tag = tag.replace('_', "-");
        let named =
            |wanted: &str| locales().iter().find(|locale| locale.tag.eq_ignore_ascii_case(wanted));
        named(&tag).or_else(|| named(tag.split('-').next()?))
    }

    /// The name of a month, 0 to 11.
    #[must_use]
    pub fn month(&self, number: usize, long: bool) -> &'static str {
        self.months.name(number, long)
    }

    /// The name of a day, 0 (Monday) to 6.
    #[must_use]
    pub fn day(&self, number: usize, long: bool) -> &'static str {
        self.days.name(number, long)
    }

    /// The month that `text` begins with, 0 to 11, and the rest of the text.
    #[must_use]
    pub(crate) fn read_month<'t>(&self, text: &'t str) -> Option<(usize, &'t str)> {
        self.months.read(text)
    }

    /// The day that `text` begins with, 0 (Monday) to 6, and the rest of the text.
    #[must_use]
    pub(crate) fn read_day<'t>(&self, text: &'t str) -> Option<(usize, &'t str)> {
        self.days.read(text)
    }

    /// The half day that `text` begins with, 0 or 1, and the rest of the text.
    #[must_use]
    pub(crate) fn read_half_day<'t>(&self, text: &'t str) -> Option<(usize, &'t str)> {
        self.half_days.read(text)
    }

    /// The era that `text` begins with, 0 or 1, and the rest of the text.
    #[must_use]
    pub(crate) fn read_era<'t>(&self, text: &'t str) -> Option<(usize, &'t str)> {
        self.eras.read(text)
    }
}
