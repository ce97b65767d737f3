#!/bin/sh
# Installs what this package is built against. Safe to run again.
set -eu

packages="g++ dpkg-dev libleveldb-dev libsnappy-dev golang-go golang-github-syndtr-goleveldb-dev python3-plyvel"

sudo=
if [ "$(id -u)" -ne 0 ]; then
    sudo=sudo
fi

$sudo apt-get update
# shellcheck disable=SC2086 # the list is meant to be split
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends $packages

# The source of the same LevelDB, which build.rs builds without assertions. The lists in
# /etc/apt name packages, and sources are found at the same places.
target=${CARGO_TARGET_DIR:-$(dirname "$0")/../../target}
mkdir -p "$target"
target=$(cd "$target" && pwd)
[ -d "$target/leveldb-1.23" ] && exit
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir -p lists/partial cache/archives/partial parts
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    if [ -f "$list" ]; then sed -n 's/^deb /deb-src /p' "$list" >>parts/sources.list; fi
done
for list in /etc/apt/sources.list.d/*.sources; do
    if [ -f "$list" ]; then sed 's/^Types:.*/Types: deb-src/' "$list" >"parts/$(basename "$list")"; fi
done
version=$(dpkg-query --show --showformat '${source:Version}' libleveldb-dev)
get() {
    apt-get -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$folder/parts" -o Dir::State::Lists="$folder/lists" \
        -o Dir::Cache="$folder/cache" -o APT::Sandbox::User=root "$@"
}
get update
get source "leveldb=$version"
mv leveldb-1.23 "$target"
