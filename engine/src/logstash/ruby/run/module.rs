//! What modules of Ruby's library compute: digests, encodings, addresses and mathematics.

use super::{Answer, Found1, Stop};
use crate::logstash::ruby::value::Value;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use hmac::{Hmac, Mac};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};

pub(super) fn digest(class: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    Some(match class {
        "Digest::MD5" | "MD5" | "md5" => Md5::digest(bytes).to_vec(),
        "Digest::SHA1" | "OpenSSL::Digest::SHA1" | "SHA1" | "sha1" => Sha1::digest(bytes).to_vec(),
        "Digest::SHA256" | "Digest::SHA2" | "OpenSSL::Digest::SHA256" | "SHA256" | "sha256" => {
            Sha256::digest(bytes).to_vec()
        }
        "Digest::SHA384" | "SHA384" => Sha384::digest(bytes).to_vec(),
        "Digest::SHA512" | "SHA512" | "sha512" => Sha512::digest(bytes).to_vec(),
        _ => return None,
    })
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn base64(name: &str, arguments: &[Value]) -> Found1 {
    let [text, ..] = arguments else { return Ok(None) };
    let text = text.print();
    let decoded = |bytes: Result<Vec<u8>, base64::DecodeError>| -> Answer {
        let bytes = bytes.map_err(|_| Stop::raise("ArgumentError", "invalid base64"))?;
        Ok(Value::text(&String::from_utf8_lossy(&bytes)))
    };
    Ok(Some(match name {
        "strict_encode64" => Value::text(&STANDARD.encode(text)),
        "urlsafe_encode64" => Value::text(&URL_SAFE.encode(text)),
        "encode64" => {
            // Lines of 60 characters, each with its end.
            let encoded = STANDARD.encode(text);
            let lines = encoded.as_bytes().chunks(60).map(String::from_utf8_lossy);
            Value::text(&lines.map(|line| format!("{line}\n")).collect::<String>())
        }
        "strict_decode64" => decoded(STANDARD.decode(text.trim()))?,
        "decode64" => {
            let clean: String =
                text.chars().filter(|c| c.is_ascii_alphanumeric() || "+/".contains(*c)).collect();
            decoded(base64::engine::general_purpose::STANDARD_NO_PAD.decode(clean))?
        }
        "urlsafe_decode64" => {
            let clean = text.trim_end_matches('=');
            decoded(base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(clean))?
        }
        _ => return Ok(None),
    }))
}

pub(super) fn math(name: &str, arguments: &[Value]) -> Found1 {
    let mut numbers = Vec::with_capacity(arguments.len());
    for argument in arguments {
        numbers.push(match argument {
            Value::Int(number) => *number as f64,
            Value::Float(number) => *number,
            other => {
                let message = format!("can't convert {} into Float", other.class());
                return Err(Stop::raise("TypeError", message));
            }
        });
    }
    Ok(Some(Value::Float(match (name, numbers.as_slice()) {
        ("sqrt", [number]) => number.sqrt(),
        ("cbrt", [number]) => number.cbrt(),
        ("exp", [number]) => number.exp(),
        ("log", [number]) => number.ln(),
        ("log", [number, base]) => number.log(*base),
        ("log2", [number]) => number.log2(),
        ("log10", [number]) => number.log10(),
        ("sin", [number]) => number.sin(),
        ("cos", [number]) => number.cos(),
        ("tan", [number]) => number.tan(),
        ("atan", [number]) => number.atan(),
        ("atan2", [y, x]) => y.atan2(*x),
        ("hypot", [x, y]) => x.hypot(*y),
        ("pow", [base, power]) => base.powf(*power),
        _ => return Ok(None),
    })))
}

pub(super) fn hmac(name: &str, arguments: &[Value]) -> Found1 {
    let [method, key, text] = arguments else { return Ok(None) };
    let (key, text) = (key.print(), text.print());
    let sha256 = method.print().to_lowercase().contains("256");
    let bytes = if sha256 {
        let mac = Hmac::<Sha256>::new_from_slice(key.as_bytes());
        let mut mac = mac.expect("HMAC takes keys of any length");
        mac.update(text.as_bytes());
        mac.finalize().into_bytes().to_vec()
    } else {
        let mac = Hmac::<Sha1>::new_from_slice(key.as_bytes());
        let mut mac = mac.expect("HMAC takes keys of any length");
        mac.update(text.as_bytes());
        mac.finalize().into_bytes().to_vec()
    };
    Ok((name == "hexdigest").then(|| Value::text(&hex(&bytes))))
}

/// Escapes of addresses.
pub(super) fn uri(name: &str, arguments: &[Value]) -> Found1 {
    let [text, ..] = arguments else { return Ok(None) };
    let text = text.print();
    Ok(Some(match name {
        "decode_www_form_component" | "unescape" | "decode" => {
            let text = if name == "decode" { text } else { text.replace('+', " ") };
            Value::text(&decoded(&text))
        }
        "encode_www_form_component" | "escape" | "url_encode" | "encode" => {
            let mut out = String::new();
            for byte in text.bytes() {
                match byte {
                    b' ' if name != "url_encode" => out.push('+'),
                    byte if byte.is_ascii_alphanumeric() || b"-_.*".contains(&byte) => {
                        out.push(char::from(byte));
                    }
                    byte => out.push_str(&format!("%{byte:02X}")),
                }
            }
            Value::text(&out)
        }
        "unescapeHTML" => Value::text(
            &text
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&quot;", "\"")
                .replace("&#39;", "'")
                .replace("&amp;", "&"),
        ),
        "decode_www_form" => {
            let part = |part: &str| Value::text(&decoded(&part.replace('+', " ")));
            let pair = |pair: &str| {
                let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
                Value::list(vec![part(key), part(value)])
            };
            Value::list(text.split('&').filter(|pair| !pair.is_empty()).map(pair).collect())
        }
        _ => return Ok(None),
    }))
}

/// Without the escapes; a text that is no UTF-8 then stays as it was.
fn decoded(text: &str) -> String {
    crate::logstash::filter::decode_percent(text).unwrap_or_else(|| text.to_string())
}
