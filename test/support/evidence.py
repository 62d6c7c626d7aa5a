# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Results that are kept: tables in docs/evidence, with the date and the commit they are of."""

import datetime
import subprocess
from pathlib import Path


def provenance():
    """Return a sentence that says when and of which commit."""

    def git(*arguments):
        run = subprocess.run(
            ['git', *arguments],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        )
        return run.stdout.strip()

    changed = ' with changes' if git('status', '--porcelain', '--untracked-files=no') else ''
    today = datetime.datetime.now(datetime.timezone.utc).date()
    return f'Of {today}, commit {git("rev-parse", "--short", "HEAD")}{changed}.'


def table(head, rows):
    """Return a table as lines of Markdown."""
    return [f'| {" | ".join(map(str, row))} |' for row in (head, ['---'] * len(head), *rows)]


def of_accounts(accounts):
    """Return the table of faults."""
    rows = [
        (
            account.fault,
            account.sent,
            account.lost,
            account.answered,
            ', '.join(f'{count} {cause}' for cause, count in sorted(account.dropped.items())),
            f'{account.recovery * 1e3:.1f}',
        )
        for account in accounts
    ]
    head = 'fault', 'sent', 'never came', 'answered', 'dropped', 'recovery [ms]'
    return table(head, rows)


def write(path, title, text, lines):
    """Write a file of evidence."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text('\n'.join([f'# {title}', '', provenance(), '', text, '', *lines, '']))
