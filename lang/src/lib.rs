//! The Temblor language: grammar, syntax tree, resolution, lowering, interpreter, values and diagnostics.
