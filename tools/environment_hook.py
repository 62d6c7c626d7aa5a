# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Put this virtual environment's libraries on the loader's path; read at interpreter start.

The loader reads LD_LIBRARY_PATH when a process starts, so the interpreter is replaced by itself
once. The ROS wheels do the same and set the variable below to say that it is done; that a process
inherits it from the Python of another environment must not keep it from being done here.
"""

import glob
import os
import sys

DONE = '_ROS_WHEELS_BOOTSTRAP_COMPLETE'


def extend(variable, folders, in_front):
    """Add folders to a list of folders in the environment."""
    known = [folder for folder in os.environ.get(variable, '').split(os.pathsep) if folder]
    others = [folder for folder in known if folder not in folders]
    os.environ[variable] = os.pathsep.join(folders + others if in_front else others + folders)


if os.environ.get(DONE) != sys.prefix and sys.executable and sys.orig_argv:
    inherited = DONE in os.environ  # else what is on the path was sourced on purpose: an overlay
    site_packages = os.path.dirname(os.path.abspath(__file__))
    libraries = sorted(glob.glob(os.path.join(site_packages, 'ros_*.libs')))
    extend('LD_LIBRARY_PATH', [os.path.join(sys.prefix, 'lib'), *libraries], inherited)
    extend('AMENT_PREFIX_PATH', [sys.prefix], inherited)
    os.environ[DONE] = sys.prefix
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
