# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Look for bytes that break a reader, guided by the lines of geolin_ros that they reach.

    python tools/fuzz.py [--seconds 60] [TARGET ...]

Needs atheris. What breaks a target of test/support/fuzz_targets.py, takes longer than two seconds
or 2 GB, is kept in test/fuzz/crashes/TARGET, where the tests try it again ever after.
"""

import argparse
import importlib
import pkgutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CRASHES = ROOT / 'test' / 'fuzz' / 'crashes'
LIMITS = '-timeout=2', '-rss_limit_mb=2048', '-max_len=20000', '-verbosity=0'


def fuzz(name: str, arguments: list[str]) -> None:
    """Fuzz one target in this process until libFuzzer ends it."""
    import atheris

    sys.path[:0] = [str(ROOT), str(ROOT / 'test')]
    from geolin_ros import kernels
    from geolin_ros.demo import integrator  # noqa: F401

    # Numba compiles nothing that is instrumented: these are imported before.
    for module in pkgutil.walk_packages(kernels.__path__, 'geolin_ros.kernels.'):
        importlib.import_module(module.name)
    with atheris.instrument_imports(include=['geolin_ros', 'rosbags', 'yaml']):
        from support.fuzz_targets import TARGETS

    target, seeds = TARGETS[name]
    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate(seeds()):
            (Path(corpus) / str(number)).write_bytes(seed)
            target(seed)  # what is compiled or imported only now
        atheris.Setup([sys.argv[0], *arguments, corpus], target)
        atheris.Fuzz()


def main() -> int:
    """Fuzz the targets one after the other, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seconds', type=int, default=60, help='for each target')
    parser.add_argument('--inside', action='store_true', help=argparse.SUPPRESS)
    parser.add_argument('target', nargs='*')
    options = parser.parse_args()
    if options.inside:
        (name,) = options.target
        folder = CRASHES / name
        folder.mkdir(parents=True, exist_ok=True)
        fuzz(name, [*LIMITS, f'-max_total_time={options.seconds}', f'-artifact_prefix={folder}/'])
        return 0
    sys.path[:0] = [str(ROOT), str(ROOT / 'test')]
    from support.fuzz_targets import TARGETS

    broken = []
    for name in options.target or TARGETS:
        command = [sys.executable, __file__, '--inside', '--seconds', str(options.seconds), name]
        sys.stdout.write(f'--- {name}\n')
        sys.stdout.flush()
        if subprocess.run(command, check=False).returncode:
            broken.append(name)
    sys.stdout.write(f'broken: {", ".join(broken) or "none"}\n')
    return int(bool(broken))


if __name__ == '__main__':
    sys.exit(main())
