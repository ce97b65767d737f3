#!/usr/bin/env bash
# Puts each fault of faults.txt into a copy of the code, and says whether the tests notice. Fails if one goes unnoticed, does
# not apply any more, or does not build. With arguments: only faults whose description holds one of them.
set -uo pipefail
cd "$(dirname "$0")/../.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
copy=$target/faults
export CARGO_TARGET_DIR=$target CARGO_INCREMENTAL=1 CARGO_TERM_COLOR=never

rm -rf "$copy" && mkdir -p "$copy"
cp -r Cargo.toml Cargo.lock README.md SECURITY.md src tests testdata benches examples cli interop "$copy" || exit 1
log=$copy/log.txt

# Tests that are asked, the likeliest to notice first. Faults of filters are sought in the code for all processors, but for those of the kernels.
tests_of() {
    case $1 in
    src/table/block.rs) echo '--lib' ;;
    src/table/*) echo '--test table_reader' '--test table_corruption' ;;
    src/simd.rs) echo '--test kernels' ;;
    src/keys.rs) echo '--test keys' '--test filter_block' ;;
    *) echo '--test golden' '--test bloom' '--test filter_block' '--test kernels' '--test policies' ;;
    esac
}

# 0 passed, 1 failed, 2 does not build
run_tests() {
    local flags=() test
    [[ $1 == src/table/* || $1 == src/simd.rs ]] || flags=(--no-default-features)
    for test in $(tests_of "$1" | sed 's/ --/\n--/g' | tr ' ' '='); do
        test=${test/=/ }
        # shellcheck disable=SC2086
        (cd "$copy" && cargo test --quiet --offline -p filterblock "${flags[@]}" $test --no-run) >"$log" 2>&1 || return 2
        (cd "$copy" && timeout 120 cargo test --quiet --offline -p filterblock "${flags[@]}" $test) >"$log" 2>&1 || return 1
    done
}

caught=0 bad=0 seen=0
check() {
    local name=$1 file=$2 from=$3 to=$4 original changed word
    if [[ $file == src/simd.rs ]] && ! grep -qsw avx2 /proc/cpuinfo; then
        printf '%-16s %s\n' 'skipped: no AVX2' "$name"
        return
    fi
    seen=$((seen + 1))
    original=$(cat "$copy/$file" && echo .) || { bad=$((bad + 1)); return; }
    changed=${original/"$from"/"$to"}
    if [[ $original != *"$from"* || $changed == "$original" ]]; then
        word='NOT APPLICABLE: the text is not there'
    elif rest=${original#*"$from"} && [[ $rest == *"$from"* ]]; then
        word='NOT APPLICABLE: the text is there more than once'
    else
        printf '%s' "${changed%.}" >"$copy/$file"
        run_tests "$file"
        case $? in
        0) word=MISSED ;;
        1) word=caught ;;
        *) word='DOES NOT BUILD' && grep -m 3 '^error' "$log" ;;
        esac
        printf '%s' "${original%.}" >"$copy/$file"
    fi
    [[ $word == caught ]] && caught=$((caught + 1)) || bad=$((bad + 1))
    printf '%-16s %s\n' "$word" "$name"
}

# Without a fault all is well.
for file in src/hash.rs src/keys.rs src/simd.rs src/table/block.rs src/table/reader.rs; do
    run_tests "$file" || { cat "$log"; echo "the tests fail without any fault, for $file" >&2; exit 1; }
done

name='' file='' from=''
while IFS= read -r line <&3; do
    case $line in
    '== '*) name=${line#== } file='' from='' ;;
    '- '*) from=${line#- } ;;
    '+ '*)
        wanted=$#
        for argument; do [[ $name == *"$argument"* ]] && wanted=0; done
        [ "$wanted" -eq 0 ] && check "$name" "$file" "$from" "${line#+ }"
        ;;
    '#'* | '') ;;
    *) file=$line ;;
    esac
done 3<tests/faults/faults.txt
echo "$caught of $seen faults caught"
[ "$seen" -gt 0 ] && [ "$bad" -eq 0 ]
