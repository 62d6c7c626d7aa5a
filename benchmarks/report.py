# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a measurement says: rows of ours against a peer, as text, JSON, Markdown and a picture."""

import datetime
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.measure import environment, interleaved_medians

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).with_name('results.json')
PICTURE = ROOT / 'docs' / 'speed.svg'
README = ROOT / 'README.md'
ATTEMPTS = 3  # load on the machine is no property of the code
BEGIN, END = '<!-- begin speed: make bench -->', '<!-- end speed -->'


@dataclass(frozen=True)
class Row:
    """Time of one call of ours and of a peer's, measured in turns."""

    what: str
    case: str
    ours_us: float
    peer: str
    peer_us: float
    limit: float | None = None
    """Largest ratio that is accepted; None where there is no limit."""
    limit_us: float | None = None
    """Longest time of ours that is accepted; None where there is no limit."""

    @property
    def ratio(self) -> float:
        """Ours over the peer's."""
        return self.ours_us / self.peer_us

    @property
    def passes(self) -> bool:
        """Whether ratio and time are within their limits."""
        return (self.limit is None or self.ratio <= self.limit) and (
            self.limit_us is None or self.ours_us <= self.limit_us
        )

    @property
    def bound(self) -> str:
        """The limits as text, empty where there are none."""
        ratio = [] if self.limit is None else [f'{self.limit:.2f}']
        time = [] if self.limit_us is None else [f'{self.limit_us / 1e3:g} ms']
        return ', '.join(ratio + time)

    @property
    def key(self) -> str:
        """What and case."""
        return f'{self.what}: {self.case}'


def compare(
    what: str,
    case: str,
    ours: Callable[[], object],
    peer: str,
    theirs: Callable[[], object],
    rounds: int,
    limit: float | None = None,
    limit_us: float | None = None,
) -> Row:
    """Time both in turns and print the row; once more, twice at most, if beyond its limit."""
    for _ in range(ATTEMPTS):
        times = interleaved_medians({'ours': ours, 'peer': theirs}, rounds)
        both = 1e6 * times['ours'], peer, 1e6 * times['peer']
        row = Row(what, case, *both, limit, limit_us)
        print(line(row), flush=True)
        if row.passes:
            break
    return row


def line(row: Row) -> str:
    """Return a row of the printed table."""
    limit = f'  limit {row.bound}' if row.bound else ''
    mark = '' if row.passes else '  EXCEEDED'
    return (
        f'{row.what:32} {row.case:28} {row.ours_us:9.2f} us {row.peer_us:10.2f} us '
        f'{row.ratio:7.3f}  {row.peer}{limit}{mark}'
    )


def write(rows: Iterable[Row], path: Path = RESULTS) -> None:
    """Write rows, environment and date as JSON."""
    content = {
        'date': datetime.datetime.now(datetime.UTC).date().isoformat(),
        'environment': environment(),
        'rows': [asdict(row) for row in rows],
    }
    path.write_text(f'{json.dumps(content, indent=1)}\n', encoding='utf-8')


def read(path: Path = RESULTS) -> tuple[str, dict[str, str], list[Row]]:
    """Return date, environment and rows that were written."""
    content = json.loads(path.read_text(encoding='utf-8'))
    return content['date'], content['environment'], [Row(**row) for row in content['rows']]


def markdown(date: str, where: dict[str, str], rows: Sequence[Row]) -> str:
    """Return the table of README: a line per quantity, peer and limit, ranges over its cases."""
    lines = ['| | cases | ours [us] | peer [us] | ratio | limit |', '|---|---|---|---|---|---|']
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.what, row.peer, row.bound), []).append(row)
    for (what, peer, bound), own in groups.items():
        names = '; '.join(row.case for row in own) if len(own) <= 8 else f'{len(own)} robots'
        ours, peers, ratios = (
            _span([getattr(row, name) for row in own], digits)
            for name, digits in (('ours_us', 1), ('peer_us', 0), ('ratio', 2))
        )
        lines.append(f'| {what} / {peer} | {names} | {ours} | {peers} | {ratios} | {bound} |')
    versions = ', '.join(f'{name} {version}' for name, version in where.items())
    return '\n'.join((*lines, '', f'Medians of interleaved runs, {date}: {versions}.'))


def _span(values: Sequence[float], digits: int) -> str:
    low, high = (f'{value:.{digits}f}' for value in (min(values), max(values)))
    return low if low == high else f'{low} to {high}'


def readme_with(table: str, text: str) -> str:
    """Return README with its table replaced."""
    head, rest = text.split(BEGIN)
    return f'{head}{BEGIN}\n{table}\n{END}{rest.split(END)[1]}'


def draw(rows: Sequence[Row], path: Path = PICTURE) -> None:
    """Draw every ratio, grouped by quantity, with its limit."""
    import matplotlib as mpl

    mpl.use('svg')
    mpl.rcParams['svg.hashsalt'], mpl.rcParams['svg.fonttype'] = 'geolin_ros', 'none'
    from matplotlib import pyplot as plt

    groups = list(dict.fromkeys((row.what, row.peer, row.limit) for row in rows))
    figure, axes = plt.subplots(figsize=(8.0, 0.45 * len(groups) + 1.2), layout='constrained')
    for height, group in enumerate(groups):
        ratios = [row.ratio for row in rows if (row.what, row.peer, row.limit) == group]
        axes.plot(ratios, np.full(len(ratios), height), 'o', color='C0', alpha=0.6)
        limit = group[2]
        if limit is not None:
            axes.plot([limit, limit], [height - 0.35, height + 0.35], color='C3')
    axes.axvline(1.0, color='0.5', linewidth=0.8)
    axes.set_xscale('log')
    labels = [_label(what, peer, limit) for what, peer, limit in groups]
    axes.set_yticks(range(len(groups)), labels)
    axes.invert_yaxis()
    axes.set_xlabel('time of ours / time of the peer (red: limit)')
    figure.savefig(path, metadata={'Date': None})
    plt.close(figure)


def _label(what: str, peer: str, limit: float | None) -> str:
    """Return what a line of the picture is about."""
    return f'{what} / {peer}' + ('' if limit is None else f', limit {limit:.2f}')
