# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Put this virtual environment's libraries on the loader's path; read at interpreter start.

The loader reads LD_LIBRARY_PATH when a process starts, so the interpreter is replaced by itself
once. The ROS wheels do the same and set the variable below to say that it is done; that a process
inherits it from the Python of another environment must not keep it from being done here.

It is read before all other hooks, which would be read twice. Signals to our programs wait from
here on, also while the interpreter is replaced, until there are handlers.
"""

import _signal  # built in: `signal` takes as long to import as all that is done here
import os
import sys

PROGRAMS = (
    'geolin',
    'linearizer',
    'lqr_node',
    'state_estimator',
    'torque_estimator',
    'walking_node',
)
"""Those that let the signals through, see `geolin_ros.ros.programs` and `geolin_ros.cli`."""
DONE = '_ROS_WHEELS_BOOTSTRAP_COMPLETE'


def extend(variable, folders, in_front):
    """Add folders to a list of folders in the environment."""
    known = [folder for folder in os.environ.get(variable, '').split(os.pathsep) if folder]
    others = [folder for folder in known if folder not in folders]
    os.environ[variable] = os.pathsep.join(folders + others if in_front else others + folders)


if os.path.basename((*sys.orig_argv, '', '')[1]) in PROGRAMS:
    ENDS = _signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP
    _signal.pthread_sigmask(_signal.SIG_BLOCK, ENDS)
if os.environ.get(DONE) != sys.prefix and sys.executable and sys.orig_argv:
    inherited = DONE in os.environ  # else what is on the path was sourced on purpose: an overlay
    site_packages = os.path.dirname(os.path.abspath(__file__))
    wheels = sorted(name for name in os.listdir(site_packages) if name.startswith('ros_'))
    libraries = [os.path.join(site_packages, name) for name in wheels if name.endswith('.libs')]
    extend('LD_LIBRARY_PATH', [os.path.join(sys.prefix, 'lib'), *libraries], inherited)
    extend('AMENT_PREFIX_PATH', [sys.prefix], inherited)
    os.environ[DONE] = sys.prefix
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
