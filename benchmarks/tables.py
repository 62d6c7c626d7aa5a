# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The tables of README and of docs/speed.md, written from the results alone."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.report import Figure, Row
from benchmarks.results import Results

ROOT = Path(__file__).resolve().parents[1]
README, SPEED = ROOT / 'README.md', ROOT / 'docs' / 'speed.inc'
LISTED = 2  # cases named in a table; more are counted
NAMED = 8  # robots named below it
HEADLINES = (
    'A and B',
    'A and B, strongest peer',
    'A, B and contact wrenches',
    'A and B, 1000 states in one call, memory reused',
    'zoh of 1 ms, 68 states or more',
    'LQR gain of humanoids, warm',
)


def publish(results: Results) -> None:
    """Replace the tables between their markers."""
    for path in (README, SPEED):
        text = path.read_text(encoding='utf-8')
        path.write_text(renewed(text, results), encoding='utf-8')


def renewed(text: str, results: Results) -> str:
    """Return a text with every table that it marks replaced."""
    for name, table in TABLES.items():
        begin, end = f'<!-- begin {name}: make bench -->', f'<!-- end {name} -->'
        if begin in text:
            head, rest = text.split(begin)
            text = f'{head}{begin}\n{table(results)}\n{end}{rest.split(end)[1]}'
    return text


def headline(results: Results) -> str:
    """Return the few times that a newcomer asks for."""
    head = '', 'peer', 'ours [us]', 'peer [us]', 'ours / peer'
    lines = {group[0]: _times(*group, own) for group, own in _groups(results)}
    found = [lines[what] for what in HEADLINES if what in lines]  # without clang, one is missing
    own = ((what, peer, *times) for what, peer, _, *times, _ in found)
    return table(head, list(own))


def summary(results: Results) -> str:
    """Return times beside a peer's, a line a quantity over its cases, and figures."""
    groups = dict(_groups(results))
    head = 'ours', 'peer', 'measured on', 'ours [us]', 'peer [us]', 'ours / peer', 'limit'
    times = table(head, [_times(*group, own) for group, own in groups.items()])
    named: dict[tuple[str, ...], list[str]] = {}
    for (what, *_), own in groups.items():
        if LISTED < len(own) <= NAMED:
            named.setdefault(tuple(row.case for row in own), []).append(what)
    names = [f'{"; ".join(what)}: {", ".join(cases)}.' for cases, what in named.items()]
    head = ('', 'measured on', 'ours', 'beside it', 'limit')
    figures = table(head, [_figure(figure) for figure in results.figures])
    return '\n'.join(
        (
            times,
            '',
            'Time of one call, or a state; smallest to largest over the robots:',
            '',
            *(f'- {name}' for name in names),
            '',
            figures,
            '',
            measured(results),
        )
    )


def growth(results: Results) -> str:
    """Return times over the number of joints, a row a number."""
    shapes = list(dict.fromkeys(row.what for row in results.growth))
    parts = [(f'{shape} [us]', 'Pinocchio', 'ratio') for shape in shapes]
    lines: dict[str, tuple[str, ...]] = {}
    for row in results.growth:
        joints = row.case.partition(' ')[0]
        cells = f'{row.ours_us:.1f}', f'{row.peer_us:.0f}', f'{row.ratio:.2f}'
        lines[joints] = (*lines.get(joints, (joints,)), *cells)
    return table(('joints', *(cell for part in parts for cell in part)), list(lines.values()))


def core(results: Results) -> str:
    """Return how near the linearization is to the peak of the core."""
    head = 'robot', 'operations', 'doubles moved', 'at peak [us]', 'measured [us]', 'of peak'
    lines = [
        (
            work.robot,
            f'{work.operations:,}'.replace(',', ' '),
            f'{work.doubles_moved:,}'.replace(',', ' '),
            f'{work.at_peak_us:.2f}',
            f'{work.measured_us:.1f}',
            f'{100 * work.at_peak_us / work.measured_us:.0f} %',
        )
        for work in results.core
    ]
    peaks = {f'{1e-3 * work.operations / work.at_peak_us:.0f}' for work in results.core}
    return f'{table(head, lines)}\n\nPeak: {", ".join(sorted(peaks))} Gflop/s in registers.'


def measured(results: Results) -> str:
    """Return how, when and where."""
    versions = ', '.join(f'{name} {version}' for name, version in results.environment.items())
    return f'Medians of blocks of calls that take turns, {results.date}: {versions}.'


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    rule = ['---'] * len(head)
    return '\n'.join(f'| {" | ".join(cells)} |' for cells in (head, rule, *lines))


def _groups(results: Results) -> list[tuple[tuple[str, str, str], list[Row]]]:
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in results.rows:
        groups.setdefault((row.what, row.peer, row.bound), []).append(row)
    return list(groups.items())


def _times(what: str, peer: str, bound: str, own: Sequence[Row]) -> tuple[str, ...]:
    cases = '; '.join(row.case for row in own) if len(own) <= LISTED else f'{len(own)} robots'
    ours, peers, ratios = (
        _span([getattr(row, name) for row in own], digits)
        for name, digits in (('ours_us', 1), ('peer_us', 1), ('ratio', 2))
    )
    return what, peer, cases, ours, peers, ratios, bound


def _figure(figure: Figure) -> tuple[str, ...]:
    beside = '' if figure.peer is None else f'{figure.peer}: {figure.peer_value:.3g}'
    bound = 'at least' if figure.at_least else 'at most'
    value = f'{figure.value:.3g} {figure.unit}'.strip()
    return figure.what, figure.case, value, beside, f'{bound} {figure.limit:.3g}'


def _span(values: Sequence[float], digits: int) -> str:
    low, high = (f'{value:.{digits}f}' for value in (min(values), max(values)))
    return low if low == high else f'{low} to {high}'


TABLES = {'headline': headline, 'speed': summary, 'growth': growth, 'core': core}
