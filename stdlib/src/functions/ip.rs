//! `std::ip`: addresses and networks of IPv4 and IPv6. Both are computed with as numbers of 128
//! bits; an IPv4 address never equals an IPv6 one.

use crate::declare::{Outcome, Params, count, pure, text, value};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use temblor_lang::builtin::{Call, CallError, Function};
use temblor_lang::value::Kind::{Any, Array, Bool, Integer, String};
use temblor_lang::value::{Kind, Value};

const ADDRESS: Params = &[("address", Kind::String)];

/// The functions of this module.
pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "std::ip::is_valid",
        ADDRESS,
        Bool,
        "Whether the text is an IPv4 or an IPv6 address.",
        &[r#"ip::is_valid("10.0.0.1")"#, r#"not ip::is_valid("10.0.0.256")"#],
        |_, arguments| Ok(Value::Bool(text(arguments, 0)?.parse::<IpAddr>().is_ok())),
    ),
    pure(
        "std::ip::version",
        ADDRESS,
        Integer,
        "4 or 6; an error when the text is no address, as for all functions that follow.",
        &[r#"ip::version("::1") == 6"#],
        |_, arguments| Ok(Value::UInt(if address(arguments)?.is_ipv4() { 4 } else { 6 })),
    ),
    pure(
        "std::ip::in_cidr",
        &[("address", String), ("networks", Any)],
        Bool,
        "Whether the address lies in the network such as `10.0.0.0/8`, or in one of an array of \
         networks.",
        &[
            r#"ip::in_cidr("10.1.2.3", "10.0.0.0/8")"#,
            r#"ip::in_cidr("2001:db8::1", ["10.0.0.0/8", "2001:db8::/32"])"#,
            r#"not ip::in_cidr("11.0.0.1", ["10.0.0.0/8"])"#,
        ],
        in_cidr,
    ),
    pure(
        "std::ip::is_private",
        ADDRESS,
        Bool,
        "Whether the address is for private networks: RFC 1918 or, for IPv6, RFC 4193.",
        &[r#"ip::is_private("192.168.1.1")"#, r#"ip::is_private("fd00::1")"#],
        |_, arguments| {
            Ok(Value::Bool(match address(arguments)? {
                IpAddr::V4(address) => address.is_private(),
                IpAddr::V6(address) => address.is_unique_local(),
            }))
        },
    ),
    pure(
        "std::ip::is_loopback",
        ADDRESS,
        Bool,
        "Whether the address is that of the host itself.",
        &[r#"ip::is_loopback("127.0.0.1")"#, r#"ip::is_loopback("::1")"#],
        |_, arguments| Ok(Value::Bool(address(arguments)?.is_loopback())),
    ),
    pure(
        "std::ip::is_link_local",
        ADDRESS,
        Bool,
        "Whether the address is valid on its link only.",
        &[r#"ip::is_link_local("169.254.0.1")"#, r#"ip::is_link_local("fe80::1")"#],
        |_, arguments| {
            Ok(Value::Bool(match address(arguments)? {
                IpAddr::V4(address) => address.is_link_local(),
                IpAddr::V6(address) => address.is_unicast_link_local(),
            }))
        },
    ),
    pure(
        "std::ip::is_multicast",
        ADDRESS,
        Bool,
        "Whether the address is that of a group.",
        &[r#"ip::is_multicast("224.0.0.1")"#],
        |_, arguments| Ok(Value::Bool(address(arguments)?.is_multicast())),
    ),
    pure(
        "std::ip::to_integer",
        ADDRESS,
        Integer,
        "The address as a number; an error for an IPv6 address that does not fit 64 bits.",
        &[r#"ip::to_integer("10.0.0.1") == 167772161"#, r#"ip::to_integer("::1") == 1"#],
        |_, arguments| {
            let number = bits(address(arguments)?);
            u64::try_from(number)
                .map(Value::UInt)
                .map_err(|_| CallError::failed("the address does not fit 64 bits"))
        },
    ),
    pure(
        "std::ip::from_integer",
        &[("number", Integer)],
        String,
        "The IPv4 address that has this number.",
        &[r#"ip::from_integer(167772161) == "10.0.0.1""#],
        |call, arguments| {
            let number = value(arguments, 0).as_u64().and_then(|number| u32::try_from(number).ok());
            let number = number.ok_or_else(|| CallError::failed("an IPv4 address has 32 bits"))?;
            Ok(shown(call, IpAddr::V4(Ipv4Addr::from(number))))
        },
    ),
    pure(
        "std::ip::to_bytes",
        ADDRESS,
        Array,
        "The 4 or 16 bytes of the address as an array of integers.",
        &[r#"ip::to_bytes("10.0.0.1") == [10, 0, 0, 1]"#],
        |call, arguments| {
            let all = bits(address(arguments)?).to_be_bytes();
            let length = if address(arguments)?.is_ipv4() { 4 } else { 16 };
            let bytes = all[all.len() - length..].iter();
            Ok(call.arena.array(bytes.map(|byte| Value::UInt(u64::from(*byte)))))
        },
    ),
    pure(
        "std::ip::normalize",
        ADDRESS,
        String,
        "The address in its shortest form (RFC 5952), and IPv4 addresses written as IPv6 ones \
         (`::ffff:10.0.0.1`) as the IPv4 addresses that they are.",
        &[
            r#"ip::normalize("2001:DB8:0:0:0:0:0:1") == "2001:db8::1""#,
            r#"ip::normalize("::ffff:10.0.0.1") == "10.0.0.1""#,
        ],
        |call, arguments| Ok(shown(call, address(arguments)?.to_canonical())),
    ),
    pure(
        "std::ip::network",
        &[("address", String), ("bits", Integer)],
        String,
        "The network of so many bits that the address lies in. Good for making addresses \
         coarser, so that they no longer tell a person.",
        &[
            r#"ip::network("10.1.2.3", 24) == "10.1.2.0/24""#,
            r#"ip::network("2001:db8::1", 32) == "2001:db8::/32""#,
        ],
        |call, arguments| {
            let (address, length) = (address(arguments)?, count(arguments, 1)?);
            let network = masked(address, length)?;
            Ok(Value::Str(call.arena.format(format_args!("{network}/{length}"))))
        },
    ),
    pure(
        "std::ip::mask",
        &[("address", String), ("bits", Integer)],
        String,
        "The address with all but its first so many bits set to 0.",
        &[r#"ip::mask("10.1.2.3", 16) == "10.1.0.0""#],
        |call, arguments| Ok(shown(call, masked(address(arguments)?, count(arguments, 1)?)?)),
    ),
];

fn address(arguments: &[Value<'_>]) -> Result<IpAddr, CallError> {
    parsed(text(arguments, 0)?)
}

fn parsed(text: &str) -> Result<IpAddr, CallError> {
    text.parse().map_err(|_| CallError::failed(format!("`{text}` is no IP address")))
}

fn shown<'a>(call: &Call<'a>, address: IpAddr) -> Value<'a> {
    Value::Str(call.arena.format(format_args!("{address}")))
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// How many bits an address of this kind has.
fn width(address: IpAddr) -> usize {
    if address.is_ipv4() { 32 } else { 128 }
}

/// The address with all but its first `length` bits 0.
fn masked(address: IpAddr, length: usize) -> Result<IpAddr, CallError> {
    let width = width(address);
    let rest = width
        .checked_sub(length)
        .ok_or_else(|| CallError::failed(format!("such an address has {width} bits")))?;
    let kept = u32::try_from(rest).ok().and_then(|rest| u128::MAX.checked_shl(rest)).unwrap_or(0);
    Ok(match address {
        IpAddr::V4(address) => IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & kept as u32)),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & kept)),
    })
}

fn in_cidr<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let (address, networks) = (address(arguments)?, value(arguments, 1));
    let single = [networks];
    for network in networks.as_array(call.arena).unwrap_or(&single) {
        if is_inside(address, network.as_str().ok_or(CallError::BadType)?)? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn is_inside(address: IpAddr, network: &str) -> Result<bool, CallError> {
    let bad = || CallError::failed(format!("`{network}` is no network such as 10.0.0.0/8"));
    let (base, length) = match network.split_once('/') {
        Some((base, length)) => (base, Some(length.parse::<usize>().map_err(|_| bad())?)),
        None => (network, None),
    };
    let base = parsed(base).map_err(|_| bad())?;
    let length = length.unwrap_or(width(base));
    let start = masked(base, length).map_err(|_| bad())?;
    Ok(base.is_ipv4() == address.is_ipv4() && masked(address, length)? == start)
}
