# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether a file or a text is one of MJCF."""

from pathlib import Path

_HEAD = 4096  # bytes, in which the first element of a file is looked for


def is_mjcf(source: object) -> bool:
    """Whether a path or a text is one of MJCF, by its first element."""
    if isinstance(source, str) and source.lstrip('\ufeff \t\r\n').startswith('<'):
        head = source[:_HEAD]
    elif isinstance(source, str | Path) and Path(source).suffix in ('.xml', '.mjcf'):
        try:
            with Path(source).open('rb') as file:
                head = file.read(_HEAD).decode('utf-8', 'replace')
        except OSError:
            return False
    else:
        return False
    return '<mujoco' in head and '<robot' not in head
