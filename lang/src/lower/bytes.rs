//! `<< value : size / kind >>`

use super::Compiler;
use super::expression::Code;
use super::names::Position;
use crate::program::{BytesKind, BytesPart, Expr};
use crate::span::Span;
use crate::syntax::tree;

/// Bits of a number in a bytes literal, at the most.
const BYTES_BITS_MAX: u64 = 64;

impl Compiler<'_> {
    pub(super) fn bytes(
        &mut self,
        parts: &[tree::BytesPart],
        span: Span,
        code: Code<'_, '_>,
    ) -> Expr {
        let (scope, names) = code;
        let parts: Vec<_> =
            parts.iter().map(|part| self.bytes_part(part, (scope, names))).collect();
        let constant = parts.iter().all(|part| part.value.as_constant().is_some());
        let expr = Expr::Bytes(parts);
        if constant { self.fold(expr, span) } else { expr }
    }

    fn bytes_part(&mut self, part: &tree::BytesPart, (scope, names): Code<'_, '_>) -> BytesPart {
        let value = self.expression(&part.value, Position::VALUE, (scope, names));
        // The parser has said what is wrong with other sizes and kinds.
        let size =
            part.size.map(|(size, _)| size).filter(|size| (1..=BYTES_BITS_MAX).contains(size));
        let size = size.and_then(|size| u32::try_from(size).ok());
        let kind = part.kind.as_ref().and_then(|kind| {
            let known = BYTES_KINDS.iter().find(|(name, _)| *name == kind.text);
            known.map(|(_, kind)| *kind)
        });
        let kind = kind.unwrap_or(BytesKind::UnsignedBig);
        BytesPart { value, size, kind, span: part.span }
    }
}

/// The words behind the slash of a bytes part.
const BYTES_KINDS: &[(&str, BytesKind)] = &[
    ("integer", BytesKind::UnsignedBig),
    ("big", BytesKind::UnsignedBig),
    ("unsigned", BytesKind::UnsignedBig),
    ("big_integer", BytesKind::UnsignedBig),
    ("unsigned_integer", BytesKind::UnsignedBig),
    ("big_unsigned_integer", BytesKind::UnsignedBig),
    ("signed_integer", BytesKind::SignedBig),
    ("big_signed_integer", BytesKind::SignedBig),
    ("little", BytesKind::UnsignedLittle),
    ("little_integer", BytesKind::UnsignedLittle),
    ("little_unsigned_integer", BytesKind::UnsignedLittle),
    ("little_signed_integer", BytesKind::SignedLittle),
    ("binary", BytesKind::Binary),
];
