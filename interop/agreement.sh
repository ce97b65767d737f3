#!/usr/bin/env bash
# No number contradicts another in databases that LevelDB and goleveldb make here: page, text and JSON of `inspect`, `verify` and `tune`.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cargo run --quiet --profile test -p filterblock-interop --bin compare -- make "$folder"
FILTERBLOCK_DATABASES=$folder cargo test -p filterblock-cli --test tool -- report::agreement::databases_made_elsewhere
