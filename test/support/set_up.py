# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What tools/setup.sh installs for a part, and an environment that holds exactly that."""

import os
import re
import shutil
import subprocess
import sys
import venv
from importlib.metadata import PackageNotFoundError, distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]


(LINE,) = re.findall(r'step kernels (.*?) &\n', (ROOT / 'tools' / 'setup.sh').read_text())
SOURCES = [name for name in LINE.split() if not name.endswith('.py')]
PIP = """#!/bin/sh
case "$*" in
    *"import numpy"*) echo 2.0 ;;
    *get_paths*) echo "$PWD/site" ;;
    *"-m venv"*) mkdir -p .venv/bin site; cp fake .venv/bin/python ;;
    *) echo "ran $*" ;;
esac
"""


def setup_of(folder, *what, **variables):
    """Return what tools/setup.sh installs and compiles; its Python only prints."""
    if not (folder / 'tools').exists():
        for name in ('tools', 'requirements', 'geolin_msgs'):
            shutil.copytree(ROOT / name, folder / name)
        (folder / 'tools' / 'check_packages.sh').write_text('#!/bin/sh\n')
        for name in ('setup.py', 'setup.cfg'):
            shutil.copy(ROOT / name, folder)
        for name in SOURCES:
            (folder / name).mkdir(parents=True)
            (folder / name / 'some.py').touch()
        for name in (path.parent.name for path in ROOT.glob('geolin_*/setup.py')):
            (folder / name).mkdir(exist_ok=True)
            shutil.copy(ROOT / name / 'setup.py', folder / name)
        (folder / 'fake').write_text(PIP)
        (folder / 'fake').chmod(0o755)
    environment = {'PATH': os.environ['PATH'], 'PYTHON': './fake', **variables}
    done = subprocess.run(
        ['bash', 'tools/setup.sh', *what],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    ran = [line for line in done.stdout.splitlines() if line.startswith('ran ')]
    return done, ran


def requirements_of(folder, *part):
    """Yield what pip is asked for when a part is set up."""
    done, ran = setup_of(folder, *part)
    assert done.returncode == 0, done.stderr
    for line in ran:
        words = iter(line.partition(' pip install ')[2].split())
        for word in words:
            if word == '-r':
                for asked in (ROOT / next(words)).read_text().splitlines():
                    if asked.partition('#')[0].strip():
                        yield asked.partition('#')[0].strip()
            elif word == '-c':
                next(words)
            elif word.startswith('./'):
                yield distribution(Path(word).name).name
            elif word.startswith('.'):
                yield 'geolin_ros' + word[1:]
            elif not word.startswith('-'):
                yield word


def closure(requirements):
    """Return the names of the distributions that requirements install here."""
    found, waiting = {}, [Requirement(line) for line in requirements]
    while waiting:
        asked = waiting.pop()
        name = canonicalize_name(asked.name)
        extras = found.setdefault(name, set())
        new = {'', *asked.extras} - extras
        try:
            lines = distribution(name).requires or [] if new else []
        except PackageNotFoundError:
            continue  # of another Python or machine
        extras |= new
        for further in map(Requirement, lines):
            marker = further.marker
            if marker is None or any(marker.evaluate({'extra': extra}) for extra in new):
                waiting.append(further)
    return set(found)


def environment_of(folder, *parts):
    """Make ``folder/.venv``, of what parts install alone: links into this environment."""
    kept = closure(line for part in parts for line in requirements_of(folder / 'set-up', part))
    target = folder / '.venv'
    venv.create(target, symlinks=True)
    here = Path(sys.prefix)
    for found in distributions():
        if canonicalize_name(found.name) in kept:
            for file in found.files or ():
                _link(Path(os.path.abspath(found.locate_file(file))), here, target)
    site = Path(distribution('pip').locate_file('')).relative_to(here)
    own = [*(here / site).glob('geolin_*'), *here.glob('lib/libgeolin*')]
    for file in (*own, *here.glob('share/geolin_msgs')):
        _link(file, here, target)
    return target


def _link(source, here, target):
    place = target / source.relative_to(here) if source.is_relative_to(here) else None
    if place is None or place.exists() or not source.exists():
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.parent.name == 'bin' and source.read_bytes()[:2] == b'#!':
        text = source.read_text().replace(str(here / 'bin'), str(place.parent), 1)
        place.write_text(text)
        place.chmod(0o755)
    else:
        place.symlink_to(source)
