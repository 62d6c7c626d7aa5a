# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Look for bytes that break a reader, guided by the lines of geolin_ros that they reach.

    python tools/fuzz.py [--seconds 60] [TARGET ...]

Needs atheris, of .venv/checks. What breaks a target of test/support/fuzz_targets.py, takes longer
than five seconds or 2 GB, is kept in test/fuzz/crashes/TARGET, where the tests try it again ever
after. A run of all targets is written into docs/evidence/faults.md.
"""

import argparse
import importlib
import pkgutil
import re
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CRASHES = ROOT / 'test' / 'fuzz' / 'crashes'
EVIDENCE = ROOT / 'docs' / 'evidence' / 'faults.md'
LIMITS = '-timeout=5', '-rss_limit_mb=2048', '-print_final_stats=1'
TEXT = """\
`make fuzz`: libFuzzer on each target of test/support/fuzz_targets.py, from valid files and
messages; *edges* are lines reached.
"""
HEAD = 'target', 'seconds', 'executions', 'edges', 'found'

sys.path[:0] = [str(ROOT), str(ROOT / 'test')]
# Behind everything else: the product's own packages come first.
sys.path.append(sysconfig.get_path('platlib', vars={'platbase': str(ROOT / '.venv' / 'checks')}))


def fuzz(name: str, arguments: list[str]) -> None:
    """Fuzz one target in this process until libFuzzer ends it."""
    import atheris

    from geolin_ros import kernels

    # Numba compiles nothing that is instrumented: these are imported before.
    for module in pkgutil.walk_packages(kernels.__path__, 'geolin_ros.kernels.'):
        importlib.import_module(module.name)
    with atheris.instrument_imports(include=['geolin_ros', 'rosbags', 'yaml']):
        from support.fuzz_targets import TARGETS

    target = TARGETS[name]
    seeds = target.seeds()
    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate(seeds):
            (Path(corpus) / str(number)).write_bytes(seed)
            target(seed)  # what is compiled or imported only now
        longest = 2 * max(map(len, seeds))
        atheris.Setup([sys.argv[0], *arguments, f'-max_len={longest}', corpus], target)
        atheris.Fuzz()


def watch(name: str, seconds: int) -> tuple[object, ...]:
    """Fuzz one target in a process of its own; return a row of the table."""
    command = [sys.executable, __file__, '--inside', '--seconds', str(seconds), name]
    before = set(CRASHES.glob(f'{name}/*'))
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    log = done.stdout.decode(errors='replace')
    found = ', '.join(sorted(file.name for file in set(CRASHES.glob(f'{name}/*')) - before))
    if done.returncode:
        sys.stdout.write(log)
        found = found or f'ended with status {done.returncode}'

    def last(pattern: str) -> str:
        return (re.findall(pattern, log) or ['?'])[-1]

    runs = last(r'stat::number_of_executed_units: (\d+)')
    return (
        name,
        last(r'Done \d+ runs in (\d+) second'),
        runs,
        last(r' cov: (\d+)'),
        found or 'nothing',
    )


def main() -> int:
    """Fuzz the targets one after the other."""
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
    from support.fuzz_targets import TARGETS

    from tools import evidence

    rows, begun = [], evidence.provenance()
    for name in options.target or TARGETS:
        rows.append(watch(name, options.seconds))
        sys.stdout.write('\n'.join(evidence.table(HEAD, rows[-1:])[2 * (len(rows) > 1) :]) + '\n')
        sys.stdout.flush()
    if not options.target:
        evidence.write(EVIDENCE, 'Fuzzing', TEXT, evidence.table(HEAD, rows), begun)
    return int(any(row[-1] != 'nothing' for row in rows))


if __name__ == '__main__':
    sys.exit(main())
