# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommands of ``geolin``: one file each, as in `geolin_ros.cli`."""

COMMANDS = {
    'estimate': 'estimate the base of a walking robot from IMU, joints and contacts in a bag'
}
WARM_UP = ('geolin_estimation.base_stream:warm_up', 'geolin_estimation.torque_stream:warm_up')
