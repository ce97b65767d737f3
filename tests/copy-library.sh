#!/usr/bin/env bash
# Copies the library and its tests, without the other packages, which would have to be built for each target.
#
#   tests/copy-library.sh folder [argument of sed for Cargo.toml]...
set -euo pipefail
folder=$(realpath -m "$1")
cd "$(dirname "$0")/.."
rm -rf "$folder" && mkdir -p "$folder"
cp -r Cargo.lock README.md SECURITY.md src tests testdata examples conformance docs "$folder"
# SECURITY.md names tests of the tool, and a test looks for them.
cp -r --parents cli/tests "$folder"
sed -e 's/^members = .*/members = ["tests"]/' -e 's/^default-members = .*/default-members = [".", "tests"]/' -e '/^exclude/d' -e '/^filterblock-cli\./d' -e '/^clap_builder\./d' \
    "${@:2}" Cargo.toml >"$folder/Cargo.toml"
