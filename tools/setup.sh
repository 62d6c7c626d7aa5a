#!/bin/bash
# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
# Make .venv: Python packages, geolin_msgs, and our packages in editable form. Without a sourced
# ROS 2 its wheels are installed too, those of DISTRO: kilted, or jazzy (Python 3.12); with one, its
# Python packages and NumPy are used. Each step is done again only when what it is made from has
# changed.
#
#     tools/setup.sh demo         what `make demo` needs, its kernels compiled
#     tools/setup.sh robots       real robots that ROBOT= knows by name: example-robot-data
#     tools/setup.sh simulation   what `make balance`, `make mpc` and `make walk` need
#     tools/setup.sh documentation  what `make docs` needs
#     tools/setup.sh view        what `make view` needs
#     tools/setup.sh              everything: tests, style
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
distribution=${ROS_DISTRO:-wheels}
wheels=
if [ "$distribution" = wheels ]; then
    case $(cat .venv/ros_distribution 2>/dev/null) in
        wheels-of-*) DISTRO=${DISTRO:-$(sed s/wheels-of-// .venv/ros_distribution)} ;;
    esac
    wheels=requirements/ros-${DISTRO:-kilted}.txt
    if [ ! -f "$wheels" ]; then
        echo "setup: there are no wheels of DISTRO=$DISTRO, expected kilted or jazzy" >&2
        exit 1
    fi
    [ "${DISTRO:-kilted}" = kilted ] || distribution=wheels-of-$DISTRO
fi
case $distribution in
    wheels | wheels-of-jazzy | jazzy | kilted | lyrical) ;;
    *)
        echo "setup: ROS 2 '$distribution' is sourced, expected jazzy, kilted or lyrical; source one of" >&2
        echo "       these, or none to have Kilted installed into .venv" >&2
        exit 1
        ;;
esac

# Print the hash of files.
hash_of() {
    { echo "$distribution"; find "$@" -type f -print0 | sort -z | xargs -0 cat; } | sha256sum
}

# Whether the stamp of a step holds the hash of the files that follow its name.
is_done() {
    local stamp=.venv/.$1
    shift
    [ "$(hash_of "$@")" = "$(cat "$stamp" 2>/dev/null)" ]
}

# Do a step that is not done yet.
step() {
    if ! is_done "$@"; then
        local name=$1
        shift
        echo "setup: $name"
        "$name"
        hash_of "$@" >".venv/.$name"
    fi
}

environment() {
    tools/check_packages.sh
    if [ "$distribution" = wheels-of-jazzy ] && ! "$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 12))'; then
        echo "setup: $python is $("$python" --version), expected 3.12, which Jazzy's wheels are of; make setup DISTRO=jazzy PYTHON=python3.12" >&2
        exit 1
    fi
    local flags=
    [ -n "$wheels" ] || flags=--system-site-packages
    "$python" -m venv $flags .venv
    echo "$distribution" >.venv/ros_distribution
}

of_pinocchio='^(pin|libpinocchio|coal|libcoal|eigenpy|cmeel.*)=='

# pip install, with the versions of the lock.
install() {
    local constraints=requirements/constraints.txt
    if [ "$distribution" != wheels ]; then
        # The distribution's message extensions are built against its own NumPy: keep that one, and
        # let pip find the pandas and zarr that are made for it.
        local numpy of_numpy="^(numpy|pandas|zarr)==|$of_pinocchio"
        numpy=1.26.4  # what the wheels of Jazzy are built against
        [ -n "$wheels" ] || numpy=$(.venv/bin/python -c 'import numpy; print(numpy.__version__)')
        [ -z "$wheels" ] || of_numpy="$of_numpy|^ros-"
        { grep -vE "$of_numpy" "$constraints"; echo "numpy==$numpy"; } >.venv/constraints.txt
        constraints=.venv/constraints.txt
    fi
    PYTHONWARNINGS=ignore .venv/bin/python -m pip install --quiet --no-compile -c "$constraints" "$@"
}

packages() {
    install pip setuptools wheel  # before what needs them to be built
    install -r requirements/build.txt --no-build-isolation \
        --editable '.[plot]' --editable ./geolin_tools --editable ./geolin_control \
        --editable ./geolin_estimation --editable ./geolin_walking --editable ./geolin_demos
    local site
    site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
    cp tools/environment_hook.py "$site/geolin_environment_hook.py"
    rm -f "$site/geolin_environment_hook.pth"  # its name of before
    echo 'import geolin_environment_hook' >"$site/00_geolin_environment_hook.pth"  # read first
}

ros_wheels() {
    install -r "$wheels"
}

robots() {
    install example-robot-data
}

simulation() {
    install --no-build-isolation --editable '.[control,mujoco,plot]'
}

documentation() {
    install --no-build-isolation --editable '.[control,docs,meshes,mujoco,offline]'
}

view() {
    install --no-build-isolation --editable '.[control,offline,view]'
}

everything() {
    install --no-build-isolation --editable '.[test,dev]'
    if [ "$distribution" != wheels ]; then
        # With NumPy 1 pip finds a Pinocchio of before 3: the locked one runs with it, whatever it asks for.
        grep -E "$of_pinocchio" requirements/constraints.txt >.venv/pinocchio.txt
        install --no-deps -r .venv/pinocchio.txt
    fi
}

kernels() {
    .venv/bin/python tools/compile_kernels.py
}

messages() {
    .venv/bin/python tools/build_messages.py
}

# Without type support for C++, which no program of the wheels loads.
messages_of_python() {
    .venv/bin/python tools/build_messages.py --python-only
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
made_from='setup.py setup.cfg geolin_control/setup.py geolin_demos/setup.py geolin_estimation/setup.py geolin_tools/setup.py geolin_walking/setup.py requirements tools/setup.sh'
step packages $made_from tools/environment_hook.py
if [ "${1:-}" = demo ]; then  # beside what follows, to use all processors
    step kernels tools/compile_kernels.py geolin_ros/kernels geolin_demos/geolin_demos/demo &
fi
[ -z "$wheels" ] || step ros_wheels requirements tools/setup.sh
messages_from='geolin_msgs tools/build_messages.py requirements'
if [ -z "$wheels" ] || [ "${1:-everything}" = everything ]; then
    step messages $messages_from
elif ! is_done messages $messages_from; then
    step messages_of_python $messages_from
fi
case ${1:-everything} in
    demo) wait $! ;;
    robots | simulation | documentation | view | everything) step "${1:-everything}" $made_from ;;
    *)
        echo "setup: '$1' is nothing to set up, expected demo, robots, simulation, documentation, view, or nothing for all" >&2
        exit 1
        ;;
esac
