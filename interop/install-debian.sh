#!/bin/sh
# Installs what this package is built against. Safe to run again.
set -eu

packages="g++ libleveldb-dev libsnappy-dev golang-go golang-github-syndtr-goleveldb-dev python3-plyvel"

sudo=
if [ "$(id -u)" -ne 0 ]; then
    sudo=sudo
fi

$sudo apt-get update
# shellcheck disable=SC2086 # the list is meant to be split
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends $packages
