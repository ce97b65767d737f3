#!/bin/sh
# Fuzzes the targets, all unless some are named, each for so many seconds:
#
#     fuzz/run.sh [seconds] [target]...
#
# RUNNER=libfuzzer: with libFuzzer and AddressSanitizer (SANITIZER=none: without the latter, and faster). Takes a C++ compiler and the default
# toolchain for x86-64 Linux. RUNNER=stable: without libFuzzer, on any toolchain. If not given, the first where there is c++, else the second.
# RUNNER=afl: by AFL++ (Debian: afl++), which starts the program `once` and counts coverage in it; what it finds is in fuzz/target/afl.
# What is found new goes to fuzz/target/corpus, not to the committed corpus, which is unpacked into
# fuzz/target/seeds.
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
libfuzzer | afl) ;;
*)
    echo "$0: expected RUNNER=libfuzzer, afl or stable, found RUNNER=$RUNNER" >&2
    exit 2
    ;;
esac

rm -rf target/seeds
./corpus-archive unpack target/seeds
[ $# -gt 0 ] || set -- filter_block bloom builder table round_trip tool verify manifest rewriter repair

if [ "$RUNNER" = afl ]; then
    runtime=${AFL_PATH:-/usr/lib/afl}/afl-compiler-rt.o
    [ -f "$runtime" ] || { echo "$0: expected AFL++'s runtime, found no $runtime; AFL_PATH names its folder" >&2; exit 2; }
    flags='--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=3 -Cllvm-args=-sanitizer-coverage-trace-pc-guard'
    host=$(rustc -vV | sed -n 's/^host: //p')
    RUSTFLAGS="$flags -Clink-arg=$runtime" \
        cargo build --quiet --release --no-default-features --target "$host" --target-dir target/afl/build --bin once
    export AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_UI=1 AFL_NO_AFFINITY=1
    for target in "$@"; do
        afl-fuzz -V "$seconds" -i "target/seeds/$target" -o "target/afl/$target" -- "target/afl/build/$host/release/once" "$target"
        grep -E '^(execs_done|saved_crashes|saved_hangs|bitmap_cvg|corpus_found) ' "target/afl/$target/default/fuzzer_stats"
        grep -q '^saved_crashes *: 0$' "target/afl/$target/default/fuzzer_stats"
    done
    exit
fi

# What cargo-fuzz passes. The stable toolchain takes nightly's flag for AddressSanitizer when told that it may.
host=$(rustc -vV | sed -n 's/^host: //p')
flags='--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-trace-compares'
flags="$flags -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
folder=libfuzzer
SANITIZER=${SANITIZER:-address}
[ "$SANITIZER" = none ] || flags="$flags -Zsanitizer=$SANITIZER" folder=libfuzzer-$SANITIZER
RUSTC_BOOTSTRAP=1 RUSTFLAGS=$flags cargo build --quiet --release --target "$host" --target-dir "target/$folder" --bin libfuzzer
for target in "$@"; do
    mkdir -p "target/corpus/$target"
    # No input is worth an allocation of 64 MiB.
    FUZZ_TARGET=$target "target/$folder/$host/release/libfuzzer" -max_total_time="$seconds" -max_len="${MAX_LEN:-65536}" -malloc_limit_mb=64 \
        -artifact_prefix="target/$target-" -print_final_stats=1 "target/corpus/$target" "target/seeds/$target"
done
