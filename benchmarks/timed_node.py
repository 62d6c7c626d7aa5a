# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The linearization node with a clock at its parts: ``python -m benchmarks.timed_node FILE``.

At its end it writes the median of each [us], by name, as JSON. The kernel is the compiled call
alone, with the caches as the rest of a cycle leaves them; reading, pairing and checking the
inputs is conversion.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from geolin_ros.linearization.workspace import Workspace
from geolin_ros.ros.linearizer import main
from geolin_ros.stream.linearization_stream import LinearizationStream
from geolin_ros.stream.outputs.messages import LinearizationWriter, SummaryWriter

PARTS = 'conversion', 'kernel', 'fill', 'publish'
spent: dict[str, list[float]] = {name: [] for name in ('stream', 'kernel', 'fill', 'all')}


def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that also notes its time."""

    def call(*arguments: Any) -> Any:
        start = time.perf_counter()
        result = function(*arguments)
        spent[name].append(time.perf_counter() - start)
        return result

    return call


def medians() -> dict[str, float]:
    """Return the median of each part, of the joint states that were answered [us]."""
    count = min(len(times) for times in spent.values())
    stream, kernel, fill, whole = (times[-count:] for times in spent.values())
    parts = (
        [a - b for a, b in zip(stream, kernel, strict=True)],
        kernel,
        fill,
        [a - b - c for a, b, c in zip(whole, stream, fill, strict=True)],
    )
    return {name: 1e6 * statistics.median(times) for name, times in zip(PARTS, parts, strict=True)}


def with_clocks() -> None:
    """Put clocks at the parts; what comes after the linearization is published is left out."""
    write = SummaryWriter.write

    def note_latency(writer: Any, answer: Any, counts: Any, latency: float) -> Any:
        spent['all'].append(latency)
        return write(writer, answer, counts, latency)

    SummaryWriter.write = note_latency  # type: ignore[method-assign]
    bind = Workspace.bind
    Workspace.bind = lambda *about: timed('kernel', bind(*about))  # type: ignore[method-assign]
    for kind, method, name in (
        (LinearizationStream, '_take_joint_state', 'stream'),
        (LinearizationWriter, 'write', 'fill'),
    ):
        setattr(kind, method, timed(name, getattr(kind, method)))


if __name__ == '__main__':
    file = Path(sys.argv.pop(1))
    with_clocks()
    status = main()
    file.write_text(json.dumps(medians()), encoding='utf-8')
    sys.exit(status)
