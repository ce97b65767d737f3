#!/usr/bin/env bash
# ThreadSanitizer, cargo careful and a part of Miri over the library. Needs nightly with `miri` and `rust-src`, and `cargo install
# cargo-careful`; fails without them. Not part of .ci/run, as not every machine can have them.
set -euo pipefail
cd "$(dirname "$0")/.."
code=$PWD
copy=$(realpath -m "${CARGO_TARGET_DIR:-target}")/nightly
host=$(rustc +nightly -vV | sed -n 's/^host: //p')

for component in rust-src miri; do
    rustup component list --toolchain nightly --installed | grep -q "^$component" ||
        rustup component add --toolchain nightly "$component"
done

tests/copy-library.sh "$copy/code"
export CARGO_TARGET_DIR=$copy/target

echo '-- ThreadSanitizer, the standard library instrumented too'
(cd "$copy/code" && RUSTFLAGS='-Z sanitizer=thread' \
    cargo +nightly test --quiet -Z build-std --target "$host" --test filters --test tables -- atomic_filter:: threads::)

echo '-- cargo careful: all tests, on a standard library that checks what unsafe code promises it'
(cd "$copy/code" && cargo +nightly careful test --quiet --all-features --lib --tests)

echo '-- Miri'
# A part, as `tests/miri.sh` takes the better part of an hour: the code for AVX-512 and AVX2, and filter blocks and keys on 32 bits and big-endian.
for kind in avx512 avx2 i686 s390x; do
    tests=(--test filters -- filter_block:: keys::)
    [[ $kind != avx* ]] || tests=(--test filters -- kernels::)
    "$code/tests/miri.sh" $kind "${tests[@]}"
done
