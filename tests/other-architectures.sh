#!/usr/bin/env bash
# Runs the library's tests with 32-bit integers (i686) and big-endian (s390x, emulated by qemu), by Debian's Rust in a chroot.
#
#   tests/other-architectures.sh [chroot [i686|s390x]...]
#
# Needs root, a network and 4 GB; the chroot is kept for the next time. Where one of these cannot be had it says so and fails.
set -euo pipefail
cd "$(dirname "$0")/.."
chroot=${1:-${TMPDIR:-/tmp}/filterblock-debian-sid}
mirror=http://deb.debian.org/debian

fail() { echo "cannot be run here: $*" >&2; exit 1; }

[ "$(id -u)" -eq 0 ] || fail 'a chroot needs root'
[ "$(uname -m)" = x86_64 ] || fail 'this is for x86-64'
if [ ! -e "$chroot/ready" ]; then
    command -v debootstrap >/dev/null || apt-get install -y --no-install-recommends debootstrap >/dev/null 2>&1 ||
        fail 'no debootstrap'
    rm -rf "$chroot"
    debootstrap --variant=minbase sid "$chroot" "$mirror" >"$chroot.log" 2>&1 || fail "no Debian sid: $(tail -1 "$chroot.log")"
    # Mirrors may lag behind; signatures are checked all the same.
    echo 'Acquire::Check-Valid-Until "false";' >"$chroot/etc/apt/apt.conf.d/90mirror"
    chroot "$chroot" bash -c '
        export DEBIAN_FRONTEND=noninteractive
        dpkg --add-architecture i386 && dpkg --add-architecture s390x && apt-get update &&
        apt-get install -y --no-install-recommends rustc cargo gcc libc6-dev qemu-user \
            gcc-i686-linux-gnu libc6-dev-i386-cross gcc-s390x-linux-gnu libc6-dev-s390x-cross &&
        cd /tmp && apt-get download libstd-rust-dev:i386 libstd-rust-dev:s390x &&
        for package in *.deb; do dpkg-deb -x "$package" /; done && rm *.deb' >"$chroot.log" 2>&1 ||
        fail "no Rust for other architectures: $(tail -1 "$chroot.log")"
    touch "$chroot/ready"
fi

# The library with its dependencies beside it.
code=$chroot/code
tests/copy-library.sh "$code"
mkdir "$code/.cargo"
(cd "$code" && cargo vendor --quiet >/dev/null)
printf '[source.crates-io]\nreplace-with = "vendor"\n[source.vendor]\ndirectory = "vendor"\n' >"$code/.cargo/config.toml"

cat >"$code/run.sh" <<'EOF'
set -e
cd /code
export CARGO_TARGET_DIR=/target CARGO_TERM_COLOR=never
export CARGO_TARGET_I686_UNKNOWN_LINUX_GNU_LINKER=i686-linux-gnu-gcc
export CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_LINKER=s390x-linux-gnu-gcc
export CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_RUNNER='qemu-s390x -L /usr/s390x-linux-gnu'
run() { echo "-- $*" && cargo test --offline --quiet --no-fail-fast --target "$@"; }
rustc --version
for architecture; do
    run "$architecture-unknown-linux-gnu" --all-features --lib --tests
    run "$architecture-unknown-linux-gnu" --no-default-features --lib --tests
done
EOF
[ "$#" -gt 1 ] || set -- "$chroot" i686 s390x
# shellcheck disable=SC2016
unshare --mount bash -c 'mount -t proc proc "$0/proc" && chroot "$0" env -i HOME=/root PATH=/usr/bin:/bin bash /code/run.sh "$@"' "$chroot" "${@:2}"
