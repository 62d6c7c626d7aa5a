# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Write requirements/constraints.txt: one version of everything for each Python given.

    python tools/lock.py python3.10 python3.11 ...     (ascending)

Versions that constraints.txt names already are kept where that Python has them.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / 'requirements' / 'constraints.txt'
HEADER = """\
# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
# The versions that `make setup` installs. Written by tools/lock.py.
"""


def resolve(python: str) -> tuple[str, dict[str, str]]:
    """Return the Python's version and what pip would install for it."""
    version = subprocess.check_output(
        [python, '-c', 'import sys; print("%d.%d" % sys.version_info[:2])'], text=True
    ).strip()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, '-m', 'venv', folder], check=True)
        pip = [f'{folder}/bin/python', '-m', 'pip']
        subprocess.run([*pip, 'install', '-q', '--upgrade', 'pip'], check=True)
        report = subprocess.check_output(
            [
                *pip, 'install', '-q', '--dry-run', '--ignore-installed', '--report', '-',
                *('-c', str(CONSTRAINTS)) * CONSTRAINTS.exists(),
                '-r', str(ROOT / 'requirements' / 'ros-kilted.txt'),
                '-r', str(ROOT / 'requirements' / 'build.txt'),
                '-r', str(ROOT / 'requirements' / 'checks.txt'),
                f'{ROOT}[s3,test,dev,docs]',
            ],
            text=True,
        )  # fmt: skip
    chosen = (item['metadata'] for item in json.loads(report)['install'])
    return version, {
        re.sub(r'[-_.]+', '-', item['name'].lower()): item['version'] for item in chosen
    }


def main(pythons: list[str]) -> None:
    """Merge the versions of all Pythons into lines with markers."""
    resolved = dict(resolve(python) for python in pythons)
    versions = list(resolved)
    lines = []
    for name in sorted({name for found in resolved.values() for name in found} - {'geolin-ros'}):
        runs: list[list[str | None]] = []  # [version, first Python, first Python after]
        for python in versions:
            found = resolved[python].get(name)
            if found and (not runs or runs[-1][0] != found or runs[-1][2]):
                if runs and not runs[-1][2]:
                    runs[-1][2] = python
                runs.append([found, python if python != versions[0] else None, None])
            elif not found and runs and not runs[-1][2]:
                runs[-1][2] = python
        for found, first, after in runs:
            marker = [f'python_version >= "{first}"'] * bool(first)
            marker += [f'python_version < "{after}"'] * bool(after)
            lines.append(f'{name}=={found}' + ' ; ' * bool(marker) + ' and '.join(marker))
    CONSTRAINTS.write_text(HEADER + '\n'.join(lines) + '\n')


if __name__ == '__main__':
    main(sys.argv[1:])
