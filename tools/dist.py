# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Build wheels and sdists into dist/, the same bytes from the same commit wherever it is done."""

import gzip
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BESIDE = 'control', 'estimation', 'tools', 'walking', 'demos'
PACKAGES = '.', *(f'geolin_{name}' for name in BESIDE)


def commit_time() -> int:
    """Return when the commit was made [s]: the time of every file of a release."""
    command = ['git', '-C', str(ROOT), 'log', '-1', '--format=%ct']
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def export(folder: Path) -> None:
    """Write the files of the commit, and nothing that lies beside them, into a folder."""
    command = ['git', '-C', str(ROOT), 'archive', '--format=tar', 'HEAD']
    archive = subprocess.run(command, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(folder, filter='data')


def normalize(sdist: Path, time: int) -> None:
    """Rewrite a .tar.gz with one time, owner and order for all."""
    with tarfile.open(sdist) as source:
        members = sorted(source.getmembers(), key=lambda member: member.name)
        contents = {m.name: source.extractfile(m).read() for m in members if m.isfile()}  # type: ignore[union-attr]
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode='w', format=tarfile.PAX_FORMAT) as target:
        for member in members:
            member.mtime, member.uid, member.gid, member.uname, member.gname = time, 0, 0, '', ''
            member.mode, member.pax_headers = 0o755 if member.isdir() else 0o644, {}
            data = contents.get(member.name)
            target.addfile(member, io.BytesIO(data) if data is not None else None)
    with sdist.open('wb') as file, gzip.GzipFile('', 'wb', 9, file, mtime=time) as packed:
        packed.write(inner.getvalue())


def main() -> None:
    """Build, and print a checksum of each file."""
    target = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / 'dist')
    target.mkdir(parents=True, exist_ok=True)
    time = commit_time()
    environment = os.environ | {'SOURCE_DATE_EPOCH': str(time), 'PYTHONHASHSEED': '0'}
    os.umask(0o022)
    with tempfile.TemporaryDirectory() as folder:
        export(Path(folder))
        build = [sys.executable, '-m', 'build', '--no-isolation', '--outdir', str(target)]
        for package in PACKAGES:
            command = [*build, str(Path(folder, package))]
            subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    for file in sorted(target.iterdir()):
        if file.name.endswith('.tar.gz'):
            normalize(file, time)
        print(f'{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}')


if __name__ == '__main__':
    main()
