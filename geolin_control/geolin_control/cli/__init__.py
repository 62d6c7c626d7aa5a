# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommands of ``geolin``: one file each, as in `geolin_ros.cli`."""

COMMANDS = {
    'gain-bank': 'design gains of a standing robot for heights and contacts, into a file',
    'gains': 'design gains for the contacts and postures in a bag',
}
WARM_UP = ('geolin_control.stages:warm_up',)
