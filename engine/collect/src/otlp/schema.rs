//! Messages of OTLP, from the definition that the project OpenTelemetry publishes.
//!
//! Invariant: in between, a message is JSON with the names of its definition, numbers as numbers and bytes in
//! base64.

use std::sync::LazyLock;

use prost::Message;
use prost_reflect::{
    DescriptorPool, DeserializeOptions, DynamicMessage, MessageDescriptor, SerializeOptions,
};
use serde_json::Value;

static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
    DescriptorPool::decode(opentelemetry_proto::DESCRIPTORS)
        .expect("the published definition is whole")
});

fn descriptor(name: &str) -> MessageDescriptor {
    POOL.get_message_by_name(name).expect("the published definition has it")
}

/// A message in protobuf as JSON.
///
/// # Errors
/// A sentence: these bytes are no such message.
pub(crate) fn read_protobuf(name: &str, bytes: &[u8]) -> Result<Value, String> {
    let message = DynamicMessage::decode(descriptor(name), bytes);
    to_json(&message.map_err(|error| format!("the body is no protobuf of {name}: {error}"))?)
}

/// A message in the JSON of protobuf, with names of either style, as our JSON. Unknown fields are left out,
/// as the protocol wants it.
///
/// # Errors
/// A sentence: this is no such message.
pub(crate) fn read_json(name: &str, value: &Value) -> Result<Value, String> {
    to_json(&message(name, value, false)?)
}

/// A message in our JSON as protobuf.
///
/// # Errors
/// A sentence: this is no such message; it names fields that are unknown.
pub(crate) fn protobuf(name: &str, value: &Value) -> Result<Vec<u8>, String> {
    Ok(message(name, value, true)?.encode_to_vec())
}

/// A message in our JSON as the JSON of protobuf.
///
/// # Errors
/// A sentence: this is no such message; it names fields that are unknown.
pub(crate) fn proto_json(name: &str, value: &Value) -> Result<Value, String> {
    let message = message(name, value, true)?;
    let options = SerializeOptions::new().use_enum_numbers(true);
    let value = message.serialize_with_options(serde_json::value::Serializer, &options);
    value.map_err(|error| error.to_string())
}

fn message(name: &str, value: &Value, is_strict: bool) -> Result<DynamicMessage, String> {
    let options = DeserializeOptions::new().deny_unknown_fields(is_strict);
    let message = DynamicMessage::deserialize_with_options(descriptor(name), value, &options);
    message.map_err(|error| format!("this is no {name}: {error}"))
}

fn to_json(message: &DynamicMessage) -> Result<Value, String> {
    let options = SerializeOptions::new()
        .stringify_64_bit_integers(false)
        .use_enum_numbers(true)
        .use_proto_field_name(true)
        .skip_default_fields(false);
    let value = message.serialize_with_options(serde_json::value::Serializer, &options);
    value.map_err(|error| error.to_string())
}
