# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Results that are kept: sections of pages in docs/evidence, with their date and commit.

    python tools/evidence.py PAGE TITLE COMMAND ...

runs a command with --table and another file behind it, which it writes, and keeps that as the
section TITLE of PAGE whatever came of it; the exit status is the command's.
"""

import datetime
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OTHERS = (':(top,exclude)docs/evidence', ':(top,exclude)docs/papers.json')
"""What changes while results are kept."""


def provenance():
    """Return a sentence that says when and of which commit."""

    def git(*arguments):
        command = ['git', '-C', str(ROOT), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    changes = git('status', '--porcelain', '--untracked-files=no', ':/', *OTHERS)
    changed = ' with changes' if changes else ''
    today = datetime.datetime.now(datetime.timezone.utc).date()
    return f'Of {today}, commit {git("rev-parse", "--short", "HEAD")}{changed}.'


def table(head, rows):
    """Return a table as lines of Markdown."""
    return [f'|{"|".join(map(str, row))}|' for row in (head, ['---'] * len(head), *rows)]


def write(path, title, text, lines, begun=None):
    """Write a section of a page; if ``begun`` elsewhere than the checkout is now, say both."""
    of, path = provenance(), Path(path)
    if begun not in (None, of):
        of = f'Begun {begun.removeprefix("Of ").rstrip(".")}; ended {of.removeprefix("Of ")}'
    path.parent.mkdir(parents=True, exist_ok=True)
    page = path.read_text() if path.exists() else f'# {path.stem.capitalize()}\n'
    section = '\n'.join([f'## {title}', '', of, '', text.strip(), '', *lines, ''])
    pattern = rf'^## {re.escape(title)}\n.*?(?=\n## |\Z)'
    page, written = re.subn(pattern, lambda _: section, page, flags=re.MULTILINE | re.DOTALL)
    path.write_text(page if written else f'{page}\n{section}')


def main(path, title, *command):
    """Run a command and keep its table; return its exit status."""
    begun = provenance()
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder, 'table.md')
        process = subprocess.Popen([*command, '--table', str(found)])
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the command's to answer
        status = process.wait()
        if found.exists():
            text, _, lines = found.read_text().strip().partition('\n\n|')
            lines = re.sub(r' *\| *', '|', f'|{lines}')  # pages are short
            write(path, title, text, lines.splitlines(), begun)
            print(f'kept      {path}', flush=True)
    return status


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
