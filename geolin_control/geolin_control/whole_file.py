# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Files that are there as a whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def whole_file(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes its place when it is finished.

    Until then, and after an exception, what was there before stays. Pipes and devices are written
    as they are. Raises `OSError` if it cannot be written.
    """
    path = Path(path).resolve()
    if path.exists() and not path.is_file():
        with path.open('wb') as file:
            yield file
        return
    unfinished = path.with_name(f'.{path.name}.{os.getpid()}')
    try:
        with unfinished.open('wb') as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # a full disk may show only here
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
