# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The console script of the node: it answers signals before it imports what takes seconds."""

from geolin_ros.ros.programs import run_program


def lqr_node() -> int:
    """Run the LQR node; return the exit status."""
    return run_program('lqr_node', 'geolin_control.lqr_node')
