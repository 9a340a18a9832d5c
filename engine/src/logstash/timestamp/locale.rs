//! Names of months and days in the languages that logs are written in. Names are compared without
//! regard to case; the dot of an abbreviation may be missing.

/// A language.
#[derive(Clone, Copy, Debug)]
pub struct Locale {
    tag: &'static str,
    /// Twelve names and their abbreviations.
    months: [(&'static str, &'static str); 12],
    /// Seven names and their abbreviations, Monday first.
    days: [(&'static str, &'static str); 7],
}

static LOCALES: &[Locale] = &[
    Locale {
        tag: "en",
        months: [
            ("January", "Jan"),
            ("February", "Feb"),
            ("March", "Mar"),
            ("April", "Apr"),
            ("May", "May"),
            ("June", "Jun"),
            ("July", "Jul"),
            ("August", "Aug"),
            ("September", "Sep"),
            ("October", "Oct"),
            ("November", "Nov"),
            ("December", "Dec"),
        ],
        days: [
            ("Monday", "Mon"),
            ("Tuesday", "Tue"),
            ("Wednesday", "Wed"),
            ("Thursday", "Thu"),
            ("Friday", "Fri"),
            ("Saturday", "Sat"),
            ("Sunday", "Sun"),
        ],
    },
    Locale {
        tag: "fr",
        months: [
            ("janvier", "janv."),
            ("février", "févr."),
            ("mars", "mars"),
            ("avril", "avr."),
            ("mai", "mai"),
            ("juin", "juin"),
            ("juillet", "juil."),
            ("août", "août"),
            ("septembre", "sept."),
            ("octobre", "oct."),
            ("novembre", "nov."),
            ("décembre", "déc."),
        ],
        days: [
            ("lundi", "lun."),
            ("mardi", "mar."),
            ("mercredi", "mer."),
            ("jeudi", "jeu."),
            ("vendredi", "ven."),
            ("samedi", "sam."),
            ("dimanche", "dim."),
        ],
    },
    Locale {
        tag: "de",
        months: [
            ("Januar", "Jan."),
            ("Februar", "Feb."),
            ("März", "März"),
            ("April", "Apr."),
            ("Mai", "Mai"),
            ("Juni", "Juni"),
            ("Juli", "Juli"),
            ("August", "Aug."),
            ("September", "Sept."),
            ("Oktober", "Okt."),
            ("November", "Nov."),
            ("Dezember", "Dez."),
        ],
        days: [
            ("Montag", "Mo."),
            ("Dienstag", "Di."),
            ("Mittwoch", "Mi."),
            ("Donnerstag", "Do."),
            ("Freitag", "Fr."),
            ("Samstag", "Sa."),
            ("Sonntag", "So."),
        ],
    },
    Locale {
        tag: "es",
        months: [
            ("enero", "ene."),
            ("febrero", "feb."),
            ("marzo", "mar."),
            ("abril", "abr."),
            ("mayo", "may."),
            ("junio", "jun."),
            ("julio", "jul."),
            ("agosto", "ago."),
            ("septiembre", "sept."),
            ("octubre", "oct."),
            ("noviembre", "nov."),
            ("diciembre", "dic."),
        ],
        days: [
            ("lunes", "lun."),
            ("martes", "mar."),
            ("miércoles", "mié."),
            ("jueves", "jue."),
            ("viernes", "vie."),
            ("sábado", "sáb."),
            ("domingo", "dom."),
        ],
    },
    Locale {
        tag: "it",
        months: [
            ("gennaio", "gen"),
            ("febbraio", "feb"),
            ("marzo", "mar"),
            ("aprile", "apr"),
            ("maggio", "mag"),
            ("giugno", "giu"),
            ("luglio", "lug"),
            ("agosto", "ago"),
            ("settembre", "set"),
            ("ottobre", "ott"),
            ("novembre", "nov"),
            ("dicembre", "dic"),
        ],
        days: [
            ("lunedì", "lun"),
            ("martedì", "mar"),
            ("mercoledì", "mer"),
            ("giovedì", "gio"),
            ("venerdì", "ven"),
            ("sabato", "sab"),
            ("domenica", "dom"),
        ],
    },
    Locale {
        tag: "pt",
        months: [
            ("janeiro", "jan."),
            ("fevereiro", "fev."),
            ("março", "mar."),
            ("abril", "abr."),
            ("maio", "mai."),
            ("junho", "jun."),
            ("julho", "jul."),
            ("agosto", "ago."),
            ("setembro", "set."),
            ("outubro", "out."),
            ("novembro", "nov."),
            ("dezembro", "dez."),
        ],
        days: [
            ("segunda-feira", "seg."),
            ("terça-feira", "ter."),
            ("quarta-feira", "qua."),
            ("quinta-feira", "qui."),
            ("sexta-feira", "sex."),
            ("sábado", "sáb."),
            ("domingo", "dom."),
        ],
    },
];

impl Locale {
    /// English.
    #[must_use]
    pub fn english() -> &'static Locale {
        &LOCALES[0]
    }

    /// The language of a tag such as `fr` or `fr_FR`, if its names are known.
    #[must_use]
    pub fn of(tag: &str) -> Option<&'static Locale> {
        let language = tag.split(['-', '_']).next().unwrap_or(tag);
        LOCALES.iter().find(|locale| locale.tag.eq_ignore_ascii_case(language))
    }

    /// The name of a month, 0 to 11.
    #[must_use]
    pub fn month(&self, number: usize, long: bool) -> &'static str {
        let (name, short) = self.months[number];
        if long { name } else { short }
    }

    /// The name of a day, 0 (Monday) to 6.
    #[must_use]
    pub fn day(&self, number: usize, long: bool) -> &'static str {
        let (name, short) = self.days[number];
        if long { name } else { short }
    }

    /// The month that `text` begins with, and what follows.
    #[must_use]
    pub fn read_month<'t>(&self, text: &'t str) -> Option<(usize, &'t str)> {
        read(&self.months, text)
    }

    /// The day that `text` begins with, and what follows.
    #[must_use]
    pub fn read_day<'t>(&self, text: &'t str) -> Option<(usize, &'t str)> {
        read(&self.days, text)
    }
}

/// The longest of the names that `text` begins with.
fn read<'t>(names: &[(&str, &str)], text: &'t str) -> Option<(usize, &'t str)> {
    let forms = names.iter().enumerate().flat_map(|(number, (name, short))| {
        [*name, *short, short.trim_end_matches('.')].map(|form| (number, form))
    });
    forms
        .filter_map(|(number, form)| Some((number, without_prefix(text, form)?)))
        .min_by_key(|(_, rest)| rest.len())
}

/// What follows `prefix`, compared without regard to case.
fn without_prefix<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let mut rest = text.chars();
    for wanted in prefix.chars() {
        let found = rest.next()?;
        if found != wanted && !found.to_lowercase().eq(wanted.to_lowercase()) {
            return None;
        }
    }
    Some(rest.as_str())
}
