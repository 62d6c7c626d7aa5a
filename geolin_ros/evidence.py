# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Results that are kept: tables in docs/evidence, with the date and the commit they are of."""

import datetime
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from geolin_ros.errors import ConfigurationError

PACKAGE = Path(__file__).resolve().parent
OTHERS = ':(top,exclude)docs/evidence'
"""What changes while results are kept."""


def provenance(package: Path = PACKAGE) -> str:
    """Return a sentence that says when and of which commit.

    Raises
    ------
    ConfigurationError
        If the package is not that of a git checkout.
    """

    def git(*arguments: str) -> str:
        command = ['git', '-C', str(package), *arguments]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        return run.stdout.strip()

    try:
        is_ours = Path(git('rev-parse', '--show-toplevel')).resolve() == package.parent
        commit = git('rev-parse', '--short', 'HEAD')
        changes = git('status', '--porcelain', '--untracked-files=no', ':/', OTHERS)
    except (OSError, subprocess.CalledProcessError):
        is_ours = False
    if not is_ours:
        raise ConfigurationError(
            f'{package} is not of a git checkout, whose commit results are kept with; run a '
            'checkout, or keep none'
        )
    today = datetime.datetime.now(datetime.timezone.utc).date()
    return f'Of {today}, commit {commit}{" with changes" if changes else ""}.'


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return a table as lines of Markdown."""
    return [f'| {" | ".join(map(str, row))} |' for row in (head, ['---'] * len(head), *rows)]


def write(
    path: str | Path, title: str, text: str, lines: Iterable[str], begun: str | None = None
) -> None:
    """Write a file of evidence.

    Parameters
    ----------
    path, title, text, lines
        Where to, and what.
    begun
        `provenance` when the run began; if the checkout has changed since, both are said.

    Raises
    ------
    ConfigurationError
        If there is no commit to be named.
    OSError
        If the file cannot be written.
    """
    of = provenance()
    if begun not in (None, of):
        of = f'Begun: {begun} Ended: {of}'
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text('\n'.join([f'# {title}', '', of, '', text, '', *lines, '']))
