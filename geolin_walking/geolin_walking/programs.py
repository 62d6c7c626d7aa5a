# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The console script of the node: it answers signals before it imports what takes seconds."""

from functools import partial

from geolin_ros.ros.programs import run_program

walking_node = partial(run_program, 'walking_node', 'geolin_walking.walking_node')
