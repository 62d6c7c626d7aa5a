# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommands of ``geolin``: one file each, as in `geolin_ros.cli`."""

COMMANDS = {'gait-gains': 'design gains along the gait of a walking robot, into a file'}
WARM_UP = ('geolin_walking.walking_stream:warm_up',)
