# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""All measurements against peers: the table, `results.json`, a picture, and README's table.

``python -m benchmarks``; the other modules of this folder run by themselves as well.
"""

import argparse
import sys

from benchmarks import (
    batch,
    contacts,
    discretization,
    dynamics,
    growth,
    report,
    riccati,
    single_state,
)


def main() -> int:
    """Measure, print and write; return 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks', description=__doc__)
    parser.add_argument('--rounds', type=int, default=200, help='interleaved blocks a row')
    rounds = parser.parse_args().rounds
    rows = [
        *single_state.measure([], rounds),
        *dynamics.measure(rounds),
        *contacts.measure(rounds),
        *discretization.measure(rounds),
        *riccati.measure(rounds),
        *batch.measure(max(1, rounds // 10)),
        *growth.measure(),
    ]
    report.write(rows)
    report.draw(rows)
    text = report.README.read_text(encoding='utf-8')
    table = report.markdown(*report.read())
    report.README.write_text(report.readme_with(table, text), encoding='utf-8')
    exceeded = [row for row in rows if not row.passes]
    print(f'{len(rows)} rows, {len(exceeded)} beyond their limit')
    for row in exceeded:
        print(report.line(row))
    return 1 if exceeded else 0


if __name__ == '__main__':
    sys.exit(main())
