# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From URDF (text, file or parsed object) to a `Description`; the only package that sees XML."""

from geolin_ros.urdf.reader import examine, read, read_text

__all__ = ['examine', 'read', 'read_text']
