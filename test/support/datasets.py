# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Datasets made of bags, and what their files hold."""

import hashlib

from geolin_ros.offline.linearize import linearize
from geolin_ros.offline.source import open_source


def run(bag, path, values=None, **options):
    """Linearize a bag in this process, in chunks of 64 samples unless told otherwise."""
    options = {'workers': 1, 'chunk': 64, **options}
    with open_source([bag], values=values) as source:
        return linearize(source, str(path), **options)


def content(path):
    """Return a hash of every file below a folder, but those that a killed writer began."""
    return {
        str(file.relative_to(path)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(path.rglob('*'))
        if file.is_file() and file.suffix != '.partial'
    }
