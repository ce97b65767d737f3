#!/bin/sh
# Fuzzes the targets, all unless some are named, each for so many seconds:
#
#     fuzz/run.sh [seconds] [target]...
#
# With libFuzzer and AddressSanitizer where nightly and cargo-fuzz are there (SANITIZER=none: without the latter, and faster); else it says so
# and runs the same targets on the default toolchain. What is found new goes to fuzz/target/corpus, not to the committed corpus.
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

missing=
cargo +nightly --version >/dev/null 2>&1 || missing="a nightly toolchain"
cargo fuzz --version >/dev/null 2>&1 || missing="${missing:+$missing and }cargo-fuzz"
if [ -n "$missing" ]; then
    echo "SKIPPED: libFuzzer and AddressSanitizer, for want of $missing. Running the stable runner instead."
    exec cargo run --release --no-default-features --bin stable -- --seconds "$seconds" "$@"
fi

[ $# -gt 0 ] || set -- filter_block bloom builder table round_trip tool verify manifest
for target in "$@"; do
    mkdir -p "target/corpus/$target"
    # No input is worth an allocation of 64 MiB.
    cargo +nightly fuzz run --sanitizer "${SANITIZER:-address}" "$target" "target/corpus/$target" "corpus/$target" -- \
        -max_total_time="$seconds" -max_len=512 -malloc_limit_mb=64 -print_final_stats=1
done
