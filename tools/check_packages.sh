#!/bin/sh
# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
# Say which packages of packages.apt are missing, by what they are for: a Python or a compiler that
# does not come from a Debian package is as good. Exit status 1 if one is missing.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}

present() {
    case $1 in
        python3-venv) "$python" -c 'import ensurepip, venv' ;;
        python3-dev) "$python" -c 'import os, sysconfig; os.stat(sysconfig.get_paths()["include"] + "/Python.h")' ;;
        make) make --version ;;
        chromium | chromium-driver | libeigen3-dev | gcc-aarch64-linux-gnu | libc6-dev-arm64-cross | qemu-user | valgrind | strace)
            ;;  # only tests need them, and skip without
        g++) "${CXX:-c++}" --version ;;
        *) echo "tools/check_packages.sh does not know how to look for $1" >&2; exit 2 ;;
    esac >/dev/null 2>&1
}

missing=
for package in $(grep -v '^#' packages.apt); do
    present "$package" || missing="$missing $package"
done
if [ -n "$missing" ]; then
    echo "Missing on this machine. Install with:" >&2
    echo "    sudo apt-get install -y$missing" >&2
    exit 1
fi
"$python" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info < (3, 15))' || {
    echo "$python is $("$python" --version), expected 3.10 to 3.14; choose one: make setup PYTHON=python3.12" >&2
    exit 1
}
