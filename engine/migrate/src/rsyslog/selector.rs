//! Selectors, `*.info;mail.none;authpriv.=err`, as conditions on facility and severity.

use super::reader::{FACILITIES, SEVERITIES};
use crate::notation::texts;

/// The condition of a selector.
pub(crate) fn condition(selector: &str, root: &str) -> Result<String, String> {
    let mut masks = vec![[false; 8]; FACILITIES.len()];
    for part in selector.split(';').filter(|part| !part.is_empty()) {
        let (facilities, priority) =
            part.split_once('.').ok_or_else(|| format!("`{part}` is no `facility.severity`"))?;
        let (is_negated, priority) = match priority.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, priority),
        };
        let (is_exact, priority) = match priority.strip_prefix('=') {
            Some(rest) => (true, rest),
            None => (false, priority),
        };
        let chosen = match priority.to_ascii_lowercase().as_str() {
            "*" => [true; 8],
            "none" => {
                for facility in facilities.split(',') {
                    for number in numbers(facility)? {
                        masks[number] = [false; 8];
                    }
                }
                continue;
            }
            name => {
                let at = severity(name)?;
                let mut chosen = [false; 8];
                for (number, one) in chosen.iter_mut().enumerate() {
                    *one = if is_exact { number == at } else { number <= at };
                }
                chosen
            }
        };
        for facility in facilities.split(',') {
            for number in numbers(facility)? {
                for (mask, one) in masks[number].iter_mut().zip(chosen) {
                    if one {
                        *mask = !is_negated;
                    }
                }
            }
        }
    }
    Ok(written(&masks, root))
}

fn severity(name: &str) -> Result<usize, String> {
    let name = match name {
        "warn" => "warning",
        "error" => "err",
        "panic" => "emerg",
        other => other,
    };
    let number = name.parse::<usize>().ok().filter(|number| *number < SEVERITIES.len());
    number.or_else(|| SEVERITIES.iter().position(|one| *one == name)).ok_or_else(|| {
        let near = temblor_lang::diagnostic::nearest(name, SEVERITIES);
        let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        format!("there is no severity `{name}`{near}")
    })
}

fn numbers(facility: &str) -> Result<std::ops::Range<usize>, String> {
    let name = match facility.to_ascii_lowercase().as_str() {
        "*" => return Ok(0..FACILITIES.len()),
        "security" => "auth".to_string(),
        other => other.to_string(),
    };
    let number = name.parse::<usize>().ok().filter(|number| *number < FACILITIES.len());
    let at = number.or_else(|| FACILITIES.iter().position(|one| *one == name));
    let at = at.ok_or_else(|| {
        let near = temblor_lang::diagnostic::nearest(&name, FACILITIES);
        let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        format!("there is no facility `{name}`{near}")
    })?;
    Ok(at..at + 1)
}

/// The shortest of the usual forms.
fn written(masks: &[[bool; 8]], root: &str) -> String {
    let mut groups: Vec<([bool; 8], Vec<usize>)> = Vec::new();
    for (number, mask) in masks.iter().enumerate() {
        match groups.iter_mut().find(|(one, _)| one == mask) {
            Some((_, numbers)) => numbers.push(number),
            None => groups.push((*mask, vec![number])),
        }
    }
    let mut tests = Vec::new();
    for (mask, numbers) in &groups {
        if mask.iter().all(|one| !one) {
            continue;
        }
        let facilities = if numbers.len() == FACILITIES.len() {
            None
        } else if numbers.len() > FACILITIES.len() / 2 {
            let others: Vec<&str> = (0..FACILITIES.len())
                .filter(|number| !numbers.contains(number))
                .map(|number| FACILITIES[number])
                .collect();
            Some(match others.as_slice() {
                [one] => format!("{root}.facility != \"{one}\""),
                others => format!("not array::contains({}, {root}.facility)", texts(others)),
            })
        } else {
            let names: Vec<&str> = numbers.iter().map(|number| FACILITIES[*number]).collect();
            Some(match names.as_slice() {
                [one] => format!("{root}.facility == \"{one}\""),
                names => format!("array::contains({}, {root}.facility)", texts(names)),
            })
        };
        let count = mask.iter().filter(|one| **one).count();
        let is_from_top = mask[..count].iter().all(|one| *one);
        let severities = match (count, is_from_top) {
            (8, _) => None,
            (1, _) => {
                let at = mask.iter().position(|one| *one).unwrap_or(0);
                Some(format!("{root}.severity == \"{}\"", SEVERITIES[at]))
            }
            (_, true) => Some(format!("{root}.severity_number <= {}", count - 1)),
            _ => {
                let names: Vec<&str> = (0..8)
                    .filter(|number| mask[*number])
                    .map(|number| SEVERITIES[number])
                    .collect();
                Some(format!("array::contains({}, {root}.severity)", texts(&names)))
            }
        };
        tests.push(match (facilities, severities) {
            (None, None) => "true".to_string(),
            (Some(one), None) | (None, Some(one)) => one,
            (Some(one), Some(other)) => format!("{one} and {other}"),
        });
    }
    match tests.as_slice() {
        [] => "false".to_string(),
        [one] => one.clone(),
        several => {
            let several: Vec<String> = several
                .iter()
                .map(|test| if test.contains(" and ") { format!("({test})") } else { test.clone() })
                .collect();
            several.join(" or ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::condition;

    #[test]
    fn selectors_are_said_in_our_language() {
        for (selector, wanted) in [
            ("*.*", "true"),
            ("*.emerg", r#"m.severity == "emerg""#),
            ("mail.*", r#"m.facility == "mail""#),
            ("mail.err", r#"m.facility == "mail" and m.severity_number <= 3"#),
            ("*.*;auth,authpriv.none", r#"not array::contains(["auth", "authpriv"], m.facility)"#),
            ("*.=debug;auth.none", r#"m.facility != "auth" and m.severity == "debug""#),
            ("*.info;*.!err", r#"array::contains(["warning", "notice", "info"], m.severity)"#),
            (
                "kern.warn;mail.*",
                r#"(m.facility == "kern" and m.severity_number <= 4) or m.facility == "mail""#,
            ),
        ] {
            assert_eq!(condition(selector, "m").as_deref(), Ok(wanted), "{selector}");
        }
        assert!(condition("mial.*", "m").is_err_and(|why| why.contains("`mail`")));
        assert!(condition("mail", "m").is_err());
    }
}
