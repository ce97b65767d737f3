#!/bin/sh
# Fuzzes the targets, all unless some are named, each for so many seconds:
#
#     fuzz/run.sh [seconds] [target]...
#
# RUNNER=libfuzzer: with libFuzzer and AddressSanitizer (SANITIZER=none: without the latter, and faster). Takes a C++ compiler and the default
# toolchain for x86-64 Linux. RUNNER=stable: without libFuzzer, on any toolchain. If not given, the first where there is c++, else the second.
# What is found new goes to fuzz/target/corpus, not to the committed corpus.
set -eu
cd "$(dirname "$0")"

seconds=${1:-30}
[ $# -eq 0 ] || shift
case $seconds in
*[!0-9]* | '')
    echo "usage: $0 [seconds] [target]..." >&2
    exit 2
    ;;
esac

if [ -z "${RUNNER:-}" ]; then
    RUNNER=libfuzzer
    if ! command -v "${CXX:-c++}" >/dev/null; then
        RUNNER=stable
        echo 'There is no C++ compiler for libFuzzer. Running the stable runner instead.'
    fi
fi
case $RUNNER in
stable) exec cargo run --release --no-default-features --bin stable -- --seconds "$seconds" "$@" ;;
libfuzzer) ;;
*)
    echo "$0: expected RUNNER=libfuzzer or RUNNER=stable, found RUNNER=$RUNNER" >&2
    exit 2
    ;;
esac

[ $# -gt 0 ] || set -- filter_block bloom builder table round_trip tool verify manifest

# What cargo-fuzz passes. The stable toolchain takes nightly's flag for AddressSanitizer when told that it may.
host=$(rustc -vV | sed -n 's/^host: //p')
flags='--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-trace-compares'
flags="$flags -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
folder=libfuzzer
SANITIZER=${SANITIZER:-address}
[ "$SANITIZER" = none ] || flags="$flags -Zsanitizer=$SANITIZER" folder=libfuzzer-$SANITIZER
for target in "$@"; do
    RUSTC_BOOTSTRAP=1 RUSTFLAGS=$flags cargo build --quiet --release --target "$host" --target-dir "target/$folder" --bin "$target"
    mkdir -p "target/corpus/$target"
    # No input is worth an allocation of 64 MiB.
    "target/$folder/$host/release/$target" -max_total_time="$seconds" -max_len="${MAX_LEN:-65536}" -malloc_limit_mb=64 \
        -artifact_prefix="target/$target-" -print_final_stats=1 "target/corpus/$target" "corpus/$target"
done
