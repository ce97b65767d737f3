#!/bin/bash -eu
# Builds every fuzz target into $OUT, each with its seed corpus, options and dictionary. OSS-Fuzz sets SRC, OUT and the flags.
cd "$SRC/filterblock"
# As in fuzz/run.sh: overflow and debug assertions count as findings.
cargo fuzz build --release --debug-assertions

seeds=$(mktemp -d)
fuzz/corpus-archive unpack "$seeds"
host=$(rustc -vV | sed -n 's/^host: //p')
for source in fuzz/fuzz_targets/*.rs; do
    target=$(basename "$source" .rs)
    cp "${CARGO_TARGET_DIR:-fuzz/target}/$host/release/$target" "$OUT/"
    rm -f "$OUT/${target}_seed_corpus.zip"
    (cd "$seeds" && find "$target" -type f | LC_ALL=C sort | zip --quiet --junk-paths -@ "$OUT/${target}_seed_corpus.zip")
    cp oss-fuzz/leveldb.dict "$OUT/$target.dict"
    printf '[libfuzzer]\nmax_len = 65536\nmalloc_limit_mb = 64\n' >"$OUT/$target.options"
done
