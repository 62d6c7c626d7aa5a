# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""All that `make bench` found, in `results.json`."""

import datetime
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.measure import environment
from benchmarks.report import Figure, Row, Work

STORED = Path(__file__).with_name('results.json')


def today() -> str:
    """Return the date of a measurement."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


@dataclass(frozen=True)
class Results:
    """Measurements of one machine in one run."""

    rows: list[Row]
    figures: list[Figure]
    growth: list[Row]
    """A row for each size of a kind of tree."""
    core: list[Work]
    date: str = field(default_factory=today)
    environment: dict[str, str] = field(default_factory=environment)

    @property
    def exceeded(self) -> list[Row | Figure]:
        """What is beyond its limit."""
        return [found for found in (*self.rows, *self.figures) if not found.passes]


def write(results: Results, path: Path = STORED) -> None:
    """Write results as JSON."""
    path.write_text(f'{json.dumps(asdict(results), indent=1)}\n', encoding='utf-8')


def read(path: Path = STORED) -> Results:
    """Return results that were written."""
    content = json.loads(path.read_text(encoding='utf-8'))
    kinds = {'rows': Row, 'figures': Figure, 'growth': Row, 'core': Work}
    lists = {name: [kind(**each) for each in content.pop(name)] for name, kind in kinds.items()}
    return Results(**lists, **content)
