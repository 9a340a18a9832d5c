#!/bin/sh
# Reads every program of the repository with the generated parser: none may have an error.
set -eu
cd "$(dirname "$0")"
list=$(mktemp)
trap 'rm -f "$list"' EXIT
find ../../examples ../../stdlib/src/modules ../../bench/scenarios -type f \
  \( -name '*.tmb' -o -name '*.tremor' -o -name '*.trickle' -o -name '*.troy' \) >"$list"
tree-sitter parse --quiet --stat --paths "$list"
