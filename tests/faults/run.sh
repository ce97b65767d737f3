#!/usr/bin/env bash
# Switches the faults of faults.txt on in a copy of the code, one at a time, and says whether the tests notice. Fails if one
# goes unnoticed, does not apply any more, or does not build. With words: only faults whose description holds one of them.
# With --check, only sees whether each applies.
set -euo pipefail
cd "$(dirname "$0")/../.."
runner=$(realpath -m "${CARGO_TARGET_DIR:-target}")/faults/runner
cargo build --quiet --release --offline --manifest-path tests/faults/Cargo.toml --target-dir "$runner"
exec "$runner/release/filterblock-faults" "$@"
