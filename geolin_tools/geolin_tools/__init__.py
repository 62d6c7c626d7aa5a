# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What is done with geolin_ros beside a robot: page, C library, identification, logs, reports."""
