# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether a text or a file is MJCF; needs no MuJoCo."""

import re
from pathlib import Path

from geolin_ros.errors import ConfigurationError

_MUJOCO = re.compile(r'\s*<mujoco(include)?(?![\w:.-])')
_BEFORE = re.compile(r'\s*(<!--.*?-->|<\?.*?\?>|<!(?!--).*?>)', re.DOTALL)


def is_mjcf(source: object) -> bool:
    """Whether a path or a text is one of MJCF, by its first element."""
    if isinstance(source, str) and source.lstrip('\ufeff \t\r\n').startswith('<'):
        text = source
    elif isinstance(source, str | Path) and Path(source).suffix in ('.xml', '.mjcf'):
        try:
            text = Path(source).read_text('utf-8', 'replace')
        except OSError:
            return False
    else:
        return False
    at = len(text) - len(text.lstrip('\ufeff'))
    while skipped := _BEFORE.match(text, at):  # comments, however long
        at = skipped.end()
    return _MUJOCO.match(text, at) is not None


def check_no_root(source: object, root: str | None) -> None:
    """Raise `ConfigurationError` if a root is named in a file that is no MJCF."""
    if root:
        raise ConfigurationError(
            f'root is {root!r}, but {source} is no MJCF, which alone may hold several trees; '
            'leave it out'
        )
