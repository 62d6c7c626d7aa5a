# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""All measurements against peers: `results.json`, a picture, the tables of README and docs.

``python -m benchmarks``; the other modules of this folder run by themselves as well.
"""

import argparse
import sys

from benchmarks import (
    along,
    batch,
    clang_peer,
    contacts,
    discretization,
    dynamics,
    first_second,
    growth,
    physical_limit,
    picture,
    results,
    riccati,
    single_state,
    tables,
    torso,
)
from benchmarks.report import line


def measure(rounds: int) -> results.Results:
    """Measure everything."""
    grown = growth.measure(max(1, rounds // 5))
    return results.Results(
        rows=[
            *single_state.measure([], rounds),
            *clang_peer.measure([*clang_peer.ROBOTS], rounds),
            *dynamics.measure(rounds),
            *torso.measure(rounds),
            *contacts.measure(rounds),
            *discretization.measure(rounds),
            *along.measure(max(1, rounds // 4)),  # 25 intervals each
            *riccati.measure(rounds),
            *batch.measure(max(1, rounds // 10)),
        ],
        figures=[
            *single_state.added(rounds),
            *batch.second_thread(max(1, rounds // 10)),
            *growth.exponents(grown),
            *first_second.measure(),
        ],
        growth=grown,
        core=physical_limit.measure(rounds),
    )


def main() -> int:
    """Measure, print and write; return 1 if a limit is exceeded.

    Without the strongest peer nothing is written: tables and picture would lose it.
    """
    parser = argparse.ArgumentParser(prog='python -m benchmarks', description=__doc__)
    parser.add_argument('--rounds', type=int, default=100, help='blocks in turns of each row')
    parser.add_argument(
        '--render', action='store_true', help='measure nothing: tables and picture once more'
    )
    options = parser.parse_args()
    missing = clang_peer.missing()
    found = results.read() if options.render else measure(options.rounds)
    if options.render or not missing:
        results.write(found)
        tables.publish(found)
        picture.draw(found.rows)
    else:
        print(f'{missing}: results.json, tables and picture stay as they are')
    print(f'{len(found.rows) + len(found.figures)} figures, {len(found.exceeded)} beyond a limit')
    for beyond in found.exceeded:
        print(line(beyond))
    return 1 if found.exceeded else 0


if __name__ == '__main__':
    sys.exit(main())
