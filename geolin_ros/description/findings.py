# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What there is to say about a description: one list, from reading, from checks and from lint."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from geolin_ros.errors import GeolinError

Severity = Literal['error', 'warning', 'note']
SEVERITIES: tuple[Severity, ...] = ('error', 'warning', 'note')

MOST_NAMED = 3
"""Elements that one sentence names; of the others it gives the number."""


@dataclass(frozen=True)
class Finding:
    """One thing to look at: where (empty: the whole), what, and what to do about it."""

    severity: Severity
    element: str
    problem: str
    fix: str

    @property
    def sentence(self) -> str:
        """Everything but the severity."""
        return f'{self.element + ": " if self.element else ""}{self.problem}; {self.fix}'

    def __str__(self) -> str:
        """Return one line."""
        return f'{self.severity}: {self.sentence}'


class Refused(Exception):  # noqa: N818 - never leaves the package
    """An element cannot be used; raised with a `Finding`, for whoever collects them."""

    def __init__(self, element: str, problem: str, fix: str) -> None:
        super().__init__(problem)
        self.finding = Finding('error', element, problem, fix)


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings with those joined that say the same of several elements, in order."""
    elements: dict[tuple[Severity, str, str], list[str]] = {}
    for found in findings:
        names = elements.setdefault((found.severity, found.problem, found.fix), [])
        if found.element not in names:
            names.append(found.element)
    joined = []
    for (severity, problem, fix), names in elements.items():
        more = len(names) - MOST_NAMED
        where = ', '.join(names[:MOST_NAMED]) + (f' and {more} more' if more > 0 else '')
        joined.append(Finding(severity, where, problem, fix))
    return joined


def raise_errors(source: str, findings: Iterable[Finding], error: type[GeolinError]) -> None:
    """Raise ``error`` with the first error of the findings; it says how many others there are."""
    errors = tuple(found for found in findings if found.severity == 'error')
    if errors:
        more = f' ({len(errors) - 1} more: geolin lint-urdf)' if len(errors) > 1 else ''
        raised = error(f'{source}: {errors[0].sentence}{more}')
        raised.findings = errors
        raise raised
