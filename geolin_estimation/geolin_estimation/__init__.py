# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What sensors say of a robot: motion of the base, joint torques, external wrenches."""
