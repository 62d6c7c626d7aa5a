#!/bin/bash
# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
# Make .venv: Python packages, geolin_msgs, and this package in editable form. Without a sourced
# ROS 2 its wheels are installed too; with one, its Python packages and NumPy are used. Each step is
# done again only when what it is made from has changed.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
distribution=${ROS_DISTRO:-wheels}
case $distribution in
    wheels | jazzy | kilted | lyrical) ;;
    *)
        echo "setup: ROS 2 '$distribution' is sourced, expected jazzy, kilted or lyrical; source one of" >&2
        echo "       these, or none to have Kilted installed into .venv" >&2
        exit 1
        ;;
esac

# Do a step unless its stamp holds the hash of the files that follow its name.
step() {
    local name=$1 stamp=.venv/.$1 hash
    shift
    hash=$({ echo "$distribution"; find "$@" -type f -print0 | sort -z | xargs -0 cat; } | sha256sum)
    if [ "$hash" != "$(cat "$stamp" 2>/dev/null)" ]; then
        echo "setup: $name"
        "$name"
        echo "$hash" >"$stamp"
    fi
}

environment() {
    tools/check_packages.sh
    local flags=
    [ "$distribution" = wheels ] || flags=--system-site-packages
    "$python" -m venv $flags .venv
    echo "$distribution" >.venv/ros_distribution
}

packages() {
    local pip='.venv/bin/python -m pip install --quiet' constraints=requirements/constraints.txt
    $pip -c "$constraints" pip setuptools wheel  # before what needs them to be built
    if [ "$distribution" = wheels ]; then
        $pip -c "$constraints" -r requirements/build.txt -r requirements/ros-kilted.txt
    else
        # The distribution's message extensions are built against its own NumPy: keep that one, and
        # let pip find the Pinocchio that is built for it.
        local numpy of_numpy='^(numpy|pin|libpinocchio|coal|libcoal|eigenpy|cmeel.*)=='
        numpy=$(.venv/bin/python -c 'import numpy; print(numpy.__version__)')
        { grep -vE "$of_numpy" "$constraints"; echo "numpy==$numpy"; } >.venv/constraints.txt
        constraints=.venv/constraints.txt
        $pip -c "$constraints" -r requirements/build.txt
    fi
    PYTHONWARNINGS=ignore $pip -c "$constraints" --no-build-isolation --editable '.[offline,test,dev]'
    local site
    site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
    cp tools/environment_hook.py "$site/geolin_environment_hook.py"
    echo 'import geolin_environment_hook' >"$site/geolin_environment_hook.pth"
}

messages() {
    .venv/bin/python tools/build_messages.py
}

if [ -x .venv/bin/python ]; then
    made_for=$(cat .venv/ros_distribution 2>/dev/null || echo wheels)
    if [ "$made_for" != "$distribution" ]; then
        echo "setup: .venv was made for ROS 2 '$made_for', this shell has '$distribution'; run rm -rf .venv first" >&2
        exit 1
    fi
else
    environment
fi
step packages setup.py setup.cfg requirements tools/setup.sh tools/environment_hook.py
step messages geolin_msgs tools/build_messages.py requirements
