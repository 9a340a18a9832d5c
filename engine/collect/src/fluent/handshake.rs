//! The handshake by which both sides prove that they know a key: HELO, PING, PONG, as the Forward protocol
//! (version 1) has them.
//!
//! Invariant: no key or password goes over the wire, only digests that are salted anew each time.

use rmpv::{Value, ValueRef};
use sha2::{Digest, Sha512};
use temblor_declare::{Secret, Settings, Wrong};
use tokio::io::AsyncWriteExt;
use tokio_rustls::rustls::crypto::ring;

use super::message::{bytes_of, entry_of, text};
use super::scan::Scan;
use crate::stream::{Stream, read_more};

/// The longest message of a handshake.
const MESSAGE_BYTES_MAX: usize = 64 << 10;
/// Length of a nonce or a salt.
const SALT_BYTES: usize = 16;

/// What both sides know.
#[derive(Clone, Debug)]
pub(crate) struct Credentials {
    shared_key: Secret,
    /// The user, if there is one.
    pub username: Option<String>,
    password: Option<Secret>,
}

impl Credentials {
    /// As the settings say; none when they name no key.
    ///
    /// # Errors
    /// Only a part of them is there.
    pub(super) fn of_settings(settings: &Settings) -> Result<Option<Self>, Wrong> {
        let username = settings.optional_text("username").map(str::to_string);
        let password = settings.secret("password").cloned();
        let Some(shared_key) = settings.secret("shared_key").cloned() else {
            let Some(setting) = username.map(|_| "username").or(password.map(|_| "password"))
            else {
                return Ok(None);
            };
            let message = format!("`{setting}` needs `shared_key`");
            return Err(Wrong::at(setting, message, "the handshake begins with a shared key"));
        };
        if username.is_some() != password.is_some() {
            let help = "a user has a name and a password";
            return Err(Wrong::at("shared_key", "`username` and `password` belong together", help));
        }
        Ok(Some(Self { shared_key, username, password }))
    }

    fn digest_of_key(&self, salt: &[u8], host: &[u8], nonce: &[u8]) -> String {
        digest(&[salt, host, nonce, self.shared_key.reveal().as_bytes()])
    }

    fn digest_of_password(&self, salt: &[u8]) -> String {
        let username = self.username.as_deref().unwrap_or_default();
        let password = self.password.as_ref().map_or("", Secret::reveal);
        digest(&[salt, username.as_bytes(), password.as_bytes()])
    }

    /// The server's side. `bytes` holds what has been read beyond the handshake.
    ///
    /// # Errors
    /// A sentence: the peer does not know the key, or speaks something else.
    pub(super) async fn receive(
        &self,
        stream: &mut Stream,
        bytes: &mut Vec<u8>,
    ) -> Result<(), String> {
        let nonce = random()?;
        let salt = if self.username.is_some() { random()?.to_vec() } else { Vec::new() };
        let options = vec![
            (Value::from("nonce"), Value::Binary(nonce.to_vec())),
            (Value::from("auth"), Value::Binary(salt.clone())),
            (Value::from("keepalive"), Value::from(true)),
        ];
        send(stream, vec![Value::from("HELO"), Value::Map(options)]).await?;
        let ping = message(stream, bytes).await?;
        let answer = read(&ping)?;
        let refusal = self.check_ping(&answer, &nonce, &salt)?;
        let host = host();
        let salt = field(&answer, 2).unwrap_or_default();
        let digest = match refusal {
            Some(_) => String::new(),
            None => self.digest_of_key(salt, host.as_bytes(), &nonce),
        };
        let pong = vec![
            Value::from("PONG"),
            Value::from(refusal.is_none()),
            Value::from(refusal.unwrap_or_default()),
            Value::from(host.as_str()),
            Value::from(digest),
        ];
        send(stream, pong).await?;
        refusal.map_or(Ok(()), |reason| Err(format!("the handshake failed: {reason}")))
    }

    /// Why a peer is not let in.
    fn check_ping(
        &self,
        answer: &[ValueRef<'_>],
        nonce: &[u8],
        auth_salt: &[u8],
    ) -> Result<Option<&'static str>, String> {
        if answer.first().and_then(text).as_deref() != Some("PING") {
            return Err("the peer does not answer the handshake with PING".to_string());
        }
        let part = |index| field(answer, index).unwrap_or_default();
        let wanted = self.digest_of_key(part(2), part(1), nonce);
        if !is_same(part(3), wanted.as_bytes()) {
            return Ok(Some("shared_key mismatch"));
        }
        let Some(username) = &self.username else { return Ok(None) };
        let wanted = self.digest_of_password(auth_salt);
        let knows = part(4) == username.as_bytes() && is_same(part(5), wanted.as_bytes());
        Ok(if knows { None } else { Some("username/password mismatch") })
    }

    /// The client's side.
    ///
    /// # Errors
    /// A sentence: the server does not let us in, does not know the key, or speaks something else.
    pub(crate) async fn introduce(&self, stream: &mut Stream) -> Result<(), String> {
        let mut bytes = Vec::new();
        let helo = message(stream, &mut bytes).await?;
        let parts = read(&helo)?;
        if parts.first().and_then(text).as_deref() != Some("HELO") {
            return Err("the peer does not begin the handshake with HELO".to_string());
        }
        let option = |name| parts.get(1).and_then(|map| entry_of(map, name)).and_then(bytes_of);
        let (nonce, auth) =
            (option("nonce").unwrap_or_default(), option("auth").unwrap_or_default());
        let (salt, host) = (random()?, host());
        let (username, password) = match (&self.username, auth.is_empty()) {
            (Some(username), false) => (username.as_str(), self.digest_of_password(auth)),
            _ => ("", String::new()),
        };
        let ping = vec![
            Value::from("PING"),
            Value::from(host.as_str()),
            Value::Binary(salt.to_vec()),
            Value::from(self.digest_of_key(&salt, host.as_bytes(), nonce)),
            Value::from(username),
            Value::from(password),
        ];
        send(stream, ping).await?;
        let pong = message(stream, &mut bytes).await?;
        let parts = read(&pong)?;
        if !matches!(parts.get(1), Some(ValueRef::Boolean(true))) {
            let reason = parts.get(2).and_then(text).unwrap_or_default();
            return Err(format!("the peer refuses the handshake: {reason}"));
        }
        let wanted = self.digest_of_key(&salt, field(&parts, 3).unwrap_or_default(), nonce);
        match is_same(field(&parts, 4).unwrap_or_default(), wanted.as_bytes()) {
            true => Ok(()),
            false => Err("the peer does not know the shared key".to_string()),
        }
    }
}

fn field<'b>(parts: &'b [ValueRef<'_>], index: usize) -> Option<&'b [u8]> {
    parts.get(index).and_then(bytes_of)
}

/// In hexadecimal digits.
fn digest(parts: &[&[u8]]) -> String {
    let mut digest = Sha512::new();
    parts.iter().for_each(|part| digest.update(part));
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Takes the same time whether they differ early or late.
fn is_same(left: &[u8], right: &[u8]) -> bool {
    let differ = left.iter().zip(right).fold(0, |sum, (left, right)| sum | (left ^ right));
    left.len() == right.len() && differ == 0
}

fn random() -> Result<[u8; SALT_BYTES], String> {
    let mut bytes = [0; SALT_BYTES];
    let filled = ring::default_provider().secure_random.fill(&mut bytes);
    filled.map_err(|_| "the system gives no random numbers".to_string())?;
    Ok(bytes)
}

fn host() -> String {
    gethostname::gethostname().to_string_lossy().into_owned()
}

async fn send(stream: &mut Stream, parts: Vec<Value>) -> Result<(), String> {
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, &Value::Array(parts)).expect("memory can be written");
    let sent = async {
        stream.write_all(&bytes).await?;
        stream.flush().await
    };
    sent.await.map_err(|error| format!("the connection broke within the handshake: {error}"))
}

/// The next message, taken out of `bytes`.
async fn message(stream: &mut Stream, bytes: &mut Vec<u8>) -> Result<Vec<u8>, String> {
    let mut scan = Scan::default();
    loop {
        if let Some(end) = scan.end(bytes, MESSAGE_BYTES_MAX)? {
            let rest = bytes.split_off(end);
            return Ok(std::mem::replace(bytes, rest));
        }
        match read_more(stream, bytes).await {
            Ok(0) => return Err("the peer closed the connection within the handshake".to_string()),
            Ok(_) => {}
            Err(error) => {
                return Err(format!("the connection broke within the handshake: {error}"));
            }
        }
    }
}

fn read(message: &[u8]) -> Result<Vec<ValueRef<'_>>, String> {
    match rmpv::decode::read_value_ref(&mut &message[..]) {
        Ok(ValueRef::Array(parts)) => Ok(parts),
        _ => Err("the messages of the handshake are arrays".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> Secret {
        Secret::of_setting(text).unwrap()
    }

    async fn shake(server: &Credentials, client: &Credentials) -> [Result<(), String>; 2] {
        let (near, far) = tokio::io::duplex(4096);
        let (mut near, mut far): (Stream, Stream) = (Box::new(near), Box::new(far));
        let mut rest = Vec::new();
        let (left, right) =
            tokio::join!(server.receive(&mut near, &mut rest), client.introduce(&mut far));
        [left, right]
    }

    #[tokio::test]
    async fn those_who_know_key_and_password_come_in() {
        let of = |key: &str, user: Option<(&str, &str)>| Credentials {
            shared_key: secret(key),
            username: user.map(|(name, _)| name.to_string()),
            password: user.map(|(_, password)| secret(password)),
        };
        let server = of("key", Some(("user", "word")));
        assert_eq!(shake(&server, &server).await, [Ok(()), Ok(())]);
        let [left, right] = shake(&server, &of("other", Some(("user", "word")))).await;
        assert_eq!(left.unwrap_err(), "the handshake failed: shared_key mismatch");
        assert_eq!(right.unwrap_err(), "the peer refuses the handshake: shared_key mismatch");
        let [left, _] = shake(&server, &of("key", Some(("user", "wrong")))).await;
        assert_eq!(left.unwrap_err(), "the handshake failed: username/password mismatch");
        let [left, _] = shake(&server, &of("key", None)).await;
        assert_eq!(left.unwrap_err(), "the handshake failed: username/password mismatch");
        assert_eq!(shake(&of("key", None), &server).await, [Ok(()), Ok(())]);
    }
}
