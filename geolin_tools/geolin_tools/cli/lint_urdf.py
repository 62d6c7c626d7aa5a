# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin lint-urdf``: what is wrong, or odd, in a robot description."""

import argparse
import dataclasses
import json

from geolin_ros.cli._robots import add_file_arguments
from geolin_ros.description import SEVERITIES
from geolin_ros.robots import locate
from geolin_tools.lint import lint


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('file', help='a URDF, xacro or MJCF file, or a bundled robot')
    add_file_arguments(parser)
    parser.add_argument('--json', action='store_true', help='print the findings as JSON')
    about = 'exit with status 1 also for warnings'
    parser.add_argument('--strict', action='store_true', help=about)


def run(options: argparse.Namespace) -> int:
    """Print the findings, worst first; return 1 if the file should not be used as it is."""
    report = lint(locate(options.file), options.root)
    model, counts = report.model, {severity: report.count(severity) for severity in SEVERITIES}
    if options.json:
        totals = model and {
            'name': model.name,
            'hash': model.hash,
            'joint_coordinates': model.n,
            'links': len(model.link_names),
            'bodies': len(model.body_names),
            'total_mass_kg': model.total_mass,
        }
        findings = [dataclasses.asdict(finding) for finding in report.findings]
        result = {'source': report.source, 'totals': totals, 'findings': findings}
        print(json.dumps(result, indent=2))
    else:
        for finding in report.findings:
            print(finding)
        print(', '.join(f'{count} {severity}s' for severity, count in counts.items()))
        if model is not None:
            print(model.summary().splitlines()[0])
    return int(counts['error'] > 0 or (options.strict and counts['warning'] > 0))
