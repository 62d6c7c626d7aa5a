# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The flying robot of the demo at another rate [Hz]: the first argument."""

import sys

from geolin_demos.demo import robot, robot_process

if __name__ == '__main__':
    robot_process.PERIOD = round(1e9 / float(sys.argv[1]))
    sys.exit(robot.main(sys.argv[2:]))
