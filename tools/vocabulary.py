# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Words that a robotics engineer would not look for, and those of the field instead.

python tools/vocabulary.py [FILE...]     (all tracked files; exit status 1 if one has such a word)
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
KINDS = {'.cpp', '.html', '.hpp', '.js', '.md', '.msg', '.py', '.rst', '.srv', '.toml', '.yaml'}
NOT_READ = ('docs/evidence/', 'test/bags/', 'tools/vocabulary.py')


class Word(NamedTuple):
    """A word, as a regular expression without case, and what to write instead."""

    pattern: str
    instead: str
    within: tuple[str, ...] = ('',)
    """Folders and files where it is looked for."""


PRODUCT = (
    *('README.md', 'benchmarks/', 'config/', 'docs/', 'examples/', 'geolin_', 'launch/'),
    'tools/',
)
ALL_BUT_SIMULATORS = ('README.md', 'config/', 'docs/', 'geolin_msgs/', 'geolin_ros/', 'launch/')
WORDS = (
    Word(
        r'\bheld\b',
        'contact-constrained, locked, constant over a step, by what is meant',
        ALL_BUT_SIMULATORS,
    ),
    Word(r'breach', 'failed check'),
    Word(r'doubt', 'warning'),
    Word(r'culprit', 'source'),
    Word(r'rehears', 'warm up'),
    Word(r'farewell', 'shutdown, ramp down'),
    Word(r'lets? the joints go', 'ramp efforts down'),
    Word(r'moves no inertia', 'singular mass matrix'),
    Word(r'motions that are left', 'reduced dynamics'),
    Word(r'prepared, not run', 'untested'),
    Word(r'so many requests', 'maximum rate of requests'),
    Word(r'one (?:in|of) so many\b', 'every N-th'),
    Word(r'\bsaid once\b', 'logged once'),
    Word(r'\bmend\b', 'fix'),
    Word(r'made beforehand', 'designed offline'),
    Word(r'\bfor machines\b', 'as JSON'),
    Word(
        r'(?<![a-z])(?:told|hears?|heard|feels?|felt|(?<!has\x20)said|_tell)(?![a-z])',
        'given, reported, received, measured or acting',
        PRODUCT,
    ),
    Word(r'\bwhoever\b', 'the user, node or caller', ('README.md', 'config/', 'docs/')),
)


class Found(NamedTuple):
    """A word in a file."""

    path: str
    line: int
    text: str
    word: Word


def search(path: str, text: str) -> Iterator[Found]:
    """Yield the words of a text that have better ones; a phrase may go over the end of a line."""
    for word in WORDS:
        if path.startswith(word.within):
            pattern = word.pattern.replace(' ', r'\s+(?:[#*"\'>]+\s+)?')
            for match in re.finditer(pattern, text, re.IGNORECASE):
                yield Found(path, text.count('\n', 0, match.start()) + 1, match.group(), word)


def tracked() -> list[str]:
    """Return the paths of all files that are read."""
    listed = subprocess.check_output(['git', 'ls-files'], cwd=ROOT, text=True).splitlines()
    return [
        path
        for path in listed
        if Path(path).suffix in KINDS
        and not path.startswith(NOT_READ)
        and (ROOT / path).is_file()  # not one that is being removed
    ]


def main(paths: list[str]) -> int:
    """Print what was found; 1 if anything was."""
    status = 0
    for path in paths or tracked():
        for found in search(path, (ROOT / path).read_text(encoding='utf-8')):
            status = 1
            print(f'{path}:{found.line}: {found.text!r}, expected {found.word.instead}')
    return status


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
