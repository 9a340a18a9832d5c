//! `IPAddr`: addresses and networks, as the standard library of Ruby has them.

use super::{Found1, Stop};
use crate::heap::Heap;
use crate::numeric;
use crate::run::methods::{Methods, takes};
use crate::value::Value;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The methods of addresses.
pub(in crate::run) const METHODS: &[Methods] = &[
    takes(
        0,
        0,
        &[
            "family",
            "inspect",
            "ipv4?",
            "ipv4_mapped?",
            "ipv6?",
            "link_local?",
            "loopback?",
            "native",
            "prefix",
            "private?",
            "reverse",
            "succ",
            "to_i",
            "to_range",
            "to_s",
            "to_string",
        ],
    ),
    takes(1, 1, &["<=>", "==", "===", "eql?", "include?", "mask"]),
];

/// `IPAddr.new("10.0.0.0/8")`
pub(super) fn make(heap: &Heap, name: &str, arguments: &[Value]) -> Found1 {
    Ok(match (name, arguments) {
        ("new", [Value::Address(address, length), ..]) => Some(Value::Address(*address, *length)),
        ("new", [number @ (Value::Int(_) | Value::Big(_)), family]) => {
            let number = numeric::big(number).and_then(|number| u128::try_from(number).ok());
            let number = number
                .ok_or_else(|| Stop::raise("IPAddr::InvalidAddressError", "invalid address"))?;
            Some(whole(number, matches!(family, Value::Int(2))))
        }
        ("new", [text]) => Some(read(&text.print(heap))?),
        _ => None,
    })
}

/// `Socket.sockaddr_in(80, "127.0.0.1")`: family, port and address, as Linux has them in memory.
pub(super) fn packed(heap: &Heap, arguments: &[Value]) -> Found1 {
    let [port, host] = arguments else { return Ok(None) };
    let port = port.print(heap).parse::<u16>().unwrap_or(0).to_be_bytes();
    let host = host.print(heap);
    let Ok(address) = host.parse::<IpAddr>() else {
        let message = "getaddrinfo: Name or service not known";
        return Err(Stop::raise("SocketError", message));
    };
    let mut bytes = Vec::with_capacity(28);
    match address {
        IpAddr::V4(four) => {
            bytes.extend([2, 0, port[0], port[1]]);
            bytes.extend(four.octets());
            bytes.extend([0; 8]);
        }
        IpAddr::V6(six) => {
            bytes.extend([10, 0, port[0], port[1], 0, 0, 0, 0]);
            bytes.extend(six.octets());
            bytes.extend([0; 4]);
        }
    }
    Ok(Some(heap.binary(&bytes)))
}

fn whole(number: u128, four: bool) -> Value {
    match u32::try_from(number) {
        Ok(number) if four => Value::Address(Ipv4Addr::from(number).into(), 32),
        _ => Value::Address(Ipv6Addr::from(number).into(), 128),
    }
}

fn read(text: &str) -> Result<Value, Stop> {
    let bad = || {
        let message = format!("invalid address: {text}");
        Stop::raise("IPAddr::InvalidAddressError", message)
    };
    let (address, length) = match text.split_once('/') {
        Some((address, length)) => (address, Some(length)),
        None => (text, None),
    };
    let plain = address.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let address: IpAddr = plain.unwrap_or(address).parse().map_err(|_| bad())?;
    let length = match length {
        None => bits(address),
        Some(length) => match (length.parse(), length.parse::<Ipv4Addr>()) {
            (Ok(length), _) if length <= bits(address) => length,
            (_, Ok(mask)) => u32::from(mask).leading_ones() as u8,
            _ => {
                let message = format!("invalid length: {text}");
                return Err(Stop::raise("IPAddr::InvalidPrefixError", message));
            }
        },
    };
    Ok(Value::Address(masked(address, length), length))
}

fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(four) => u128::from(u32::from(four)),
        IpAddr::V6(six) => u128::from(six),
    }
}

fn masked(address: IpAddr, length: u8) -> IpAddr {
    match address {
        IpAddr::V4(four) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
            Ipv4Addr::from(u32::from(four) & mask).into()
        }
        IpAddr::V6(six) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
            Ipv6Addr::from(u128::from(six) & mask).into()
        }
    }
}

/// The last address of a network.
fn last(address: IpAddr, length: u8) -> Value {
    let free = u32::from(bits(address) - length);
    let rest = 1_u128.checked_shl(free).map_or(u128::MAX, |size| size - 1);
    whole(number(address) | rest, address.is_ipv4())
}

/// A method of an address.
pub(super) fn method(
    heap: &Heap,
    address: IpAddr,
    length: u8,
    name: &str,
    arguments: &[Value],
) -> Found1 {
    let itself = || Value::Address(address, length);
    Ok(Some(match (name, arguments) {
        ("to_s", []) => heap.text(&address.to_string()),
        ("to_string", []) => heap.text(&written_out(address)),
        ("inspect", []) => heap.text(&inspected(address, length)),
        ("to_i", []) => numeric::whole(number(address).into()),
        ("ipv4?", []) => Value::Bool(address.is_ipv4()),
        ("ipv6?", []) => Value::Bool(address.is_ipv6()),
        ("family", []) => Value::Int(if address.is_ipv4() { 2 } else { 10 }),
        ("prefix", []) => Value::Int(i64::from(length)),
        ("native", []) => match address.to_canonical() {
            same if same == address => itself(),
            four => Value::Address(four, 32),
        },
        ("ipv4_mapped?", []) => Value::Bool(address.is_ipv6() && address.to_canonical().is_ipv4()),
        ("private?", []) => Value::Bool(match address {
            IpAddr::V4(four) => four.is_private(),
            IpAddr::V6(six) => six.is_unique_local(),
        }),
        ("loopback?", []) => Value::Bool(address.to_canonical().is_loopback()),
        ("link_local?", []) => Value::Bool(match address {
            IpAddr::V4(four) => four.is_link_local(),
            IpAddr::V6(six) => six.is_unicast_link_local(),
        }),
        ("reverse", []) => heap.text(&reversed(address)),
        ("mask", [length]) => read(&format!("{address}/{}", length.print(heap)))?,
        ("succ", []) => whole(number(address).wrapping_add(1), address.is_ipv4()),
        ("to_range", []) => heap.range(itself(), last(address, length), false),
        ("include?" | "===", [other]) => {
            let other = match other {
                Value::Address(other, length) => Some((*other, *length)),
                Value::Text(text) => match read(&text.str(heap)) {
                    Ok(Value::Address(other, length)) => Some((other, length)),
                    _ if name == "===" => None,
                    result => return result.map(Some),
                },
                _ => None,
            };
            Value::Bool(other.is_some_and(|(other, inner)| {
                other.is_ipv4() == address.is_ipv4()
                    && inner >= length
                    && masked(other, length) == address
            }))
        }
        ("==" | "eql?", [other]) => match other {
            Value::Address(other, inner) => Value::Bool((address, length) == (*other, *inner)),
            Value::Text(text) => Value::Bool(matches!(
                read(&text.str(heap)), Ok(Value::Address(other, inner)) if (address, length) == (other, inner)
            )),
            _ => Value::Bool(false),
        },
        ("<=>", [Value::Address(other, _)]) => {
            Value::Int(number(address).cmp(&number(*other)) as i64)
        }
        _ => return Ok(None),
    }))
}

/// With all digits.
fn written_out(address: IpAddr) -> String {
    match address {
        IpAddr::V4(four) => four.to_string(),
        IpAddr::V6(six) => {
            six.segments().iter().map(|part| format!("{part:04x}")).collect::<Vec<_>>().join(":")
        }
    }
}

/// As `inspect` has it.
pub(crate) fn inspected(address: IpAddr, length: u8) -> String {
    let kind = if address.is_ipv4() { "IPv4" } else { "IPv6" };
    let ones = match address {
        IpAddr::V4(_) => IpAddr::from(Ipv4Addr::BROADCAST),
        IpAddr::V6(_) => IpAddr::from(Ipv6Addr::from(u128::MAX)),
    };
    let mask = written_out(masked(ones, length));
    format!("#<IPAddr: {kind}:{}/{mask}>", written_out(address))
}

/// The name under which DNS knows the address.
fn reversed(address: IpAddr) -> String {
    match address {
        IpAddr::V4(four) => {
            let [a, b, c, d] = four.octets();
            format!("{d}.{c}.{b}.{a}.in-addr.arpa")
        }
        IpAddr::V6(_) => {
            let digits = written_out(address).replace(':', "");
            let digits: Vec<_> = digits.chars().rev().map(String::from).collect();
            format!("{}.ip6.arpa", digits.join("."))
        }
    }
}

/// The address behind another.
pub(super) fn next(address: IpAddr) -> Option<IpAddr> {
    match address {
        IpAddr::V4(four) => Some(IpAddr::V4(u32::from(four).checked_add(1)?.into())),
        IpAddr::V6(six) => Some(IpAddr::V6(u128::from(six).checked_add(1)?.into())),
    }
}
