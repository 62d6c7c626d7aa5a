# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Print docs/licences.csv: the licences of what this package needs, as installed here."""

import csv
import re
import sys
from importlib import metadata

from packaging.markers import default_environment
from packaging.requirements import Requirement


def normal(name: str) -> str:
    """Return a name as package indices compare it."""
    return re.sub(r'[-_.]+', '-', name.lower())


def licence(package: metadata.Distribution) -> str:
    """Return the licence that a package declares."""
    data = package.metadata
    if data['License-Expression']:
        return str(data['License-Expression'])
    classified = [
        entry.rpartition(' :: ')[2]
        for entry in data.get_all('Classifier') or []
        if entry.startswith('License :: ')
    ]
    declared = (data['License'] or '').strip().splitlines()
    return ', '.join(classified) or (declared[0][:60] if declared else 'not declared')


def collect(name: str, extras: set[str], reason: str, found: dict[str, set[str]]) -> None:
    """Note what a package needs, and what that needs."""
    try:
        package = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return
    for text in package.requires or []:
        requirement = Requirement(text)
        environments = [dict(default_environment(), extra=extra) for extra in extras or {''}]
        if requirement.marker and not any(map(requirement.marker.evaluate, environments)):
            continue
        inner = normal(requirement.name)
        if reason in found.setdefault(inner, set()):
            continue
        found[inner].add(reason)
        collect(inner, set(requirement.extras) | {''}, reason, found)


def main() -> None:
    """Print the table."""
    found: dict[str, set[str]] = {}
    extras = metadata.metadata('geolin_ros').get_all('Provides-Extra') or []
    collect('geolin_ros', {''}, 'geolin_ros', found)
    for extra in set(extras) - {'test', 'dev', 'docs'}:
        collect('geolin_ros', {extra}, extra, found)
    rows = csv.writer(sys.stdout, lineterminator='\n')
    rows.writerow(('package', 'licence', 'required by'))
    for name, reasons in sorted(found.items()):
        if name == 'geolin-ros':
            continue
        by = 'geolin_ros' if 'geolin_ros' in reasons else ', '.join(sorted(reasons))
        try:
            rows.writerow((name, licence(metadata.distribution(name)), by))
        except metadata.PackageNotFoundError:
            rows.writerow((name, 'not installed here', by))


if __name__ == '__main__':
    main()
