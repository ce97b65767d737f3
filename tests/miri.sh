#!/usr/bin/env bash
# Runs the library's tests under Miri, which interprets them and finds undefined behaviour, data races and leaks.
#
#   tests/miri.sh [avx512|avx2|x86_64|i686|s390x [argument of cargo test]...]
#
# `avx512` and `avx2` are x86_64 with the features of the CPU that the kernels ask for, so that the code for it runs; the
# others run the code for all processors, of 64 and 32 bits and big-endian. Without arguments all five, one after the other.
# Tests that would take minutes are ignored, as they say. Needs nightly with `miri` and `rust-src`.
set -euo pipefail
cd "$(dirname "$0")/.."
CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-target}")/miri
export CARGO_TARGET_DIR MIRIFLAGS=-Zmiri-disable-isolation PROPTEST_CASES=2

# These read tables of some hundred entries, count allocations or need many keys.
left_out=(golden:: rates:: allocations:: large_values:: memory:: reader:: round_trip:: sources::)

interpret() {
    local kind=$1 flags=
    shift
    case $kind in
    avx2) flags='-C target-feature=+avx2,+bmi1,+bmi2' ;;
    avx512) flags='-C target-feature=+avx2,+bmi1,+bmi2,+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx512ifma' ;;
    esac
    echo "-- $kind: $*"
    RUSTFLAGS=$flags cargo +nightly miri test --quiet --locked --no-fail-fast -p filterblock -p filterblock-tests --all-features \
        --target "${kind/avx*/x86_64}-unknown-linux-gnu" "$@"
}

if [ "$#" -gt 1 ]; then
    interpret "$@"
else
    for kind in ${1:-avx512 avx2 x86_64 i686 s390x}; do
        interpret "$kind" --lib
        interpret "$kind" --test filters --test tables --test database -- "${left_out[@]/#/--skip=}"
    done
fi
