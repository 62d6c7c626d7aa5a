# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What every node takes: loaded by its import, in the process that they are forked off."""

import gc
import importlib

from geolin_ros.stream.warm_up import warm_up
from support.environment import PROGRAMS

for module in PROGRAMS.values():
    importlib.import_module(module)
warm_up()
gc.collect()
gc.freeze()
