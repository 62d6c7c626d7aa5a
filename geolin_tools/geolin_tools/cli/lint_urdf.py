# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin lint-urdf``: what is wrong, or odd, in a robot description."""

import argparse
import dataclasses
import json

from geolin_ros.cli._robots import add_file_arguments
from geolin_ros.description import SEVERITIES
from geolin_ros.robots import locate
from geolin_tools.lint import Report, lint


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('file', help='a URDF, xacro or MJCF file, or a bundled robot')
    add_file_arguments(parser)
    parser.add_argument('--json', action='store_true', help='print the findings as JSON')
    parser.add_argument(
        '--strict', action='store_true', help='exit with status 1 also for warnings'
    )


def run(options: argparse.Namespace) -> int:
    """Print the findings, worst first; return 1 if the file should not be used as it is."""
    report = lint(locate(options.file), options.root)
    print(as_json(report) if options.json else as_text(report))
    return int(report.count('error') > 0 or (options.strict and report.count('warning') > 0))


def as_text(report: Report) -> str:
    """Return a line a finding, then totals."""
    lines = [str(finding) for finding in report.findings]
    lines.append(', '.join(f'{report.count(severity)} {severity}s' for severity in SEVERITIES))
    if report.model is not None:
        lines.append(report.model.summary().splitlines()[0])
    return '\n'.join(lines)


def as_json(report: Report) -> str:
    """Return findings and totals as one JSON object."""
    model = report.model
    totals = None
    if model is not None:
        totals = {
            'name': model.name,
            'hash': model.hash,
            'joint_coordinates': model.n,
            'links': len(model.link_names),
            'bodies': len(model.body_names),
            'total_mass_kg': model.total_mass,
        }
    findings = [dataclasses.asdict(finding) for finding in report.findings]
    return json.dumps({'source': report.source, 'totals': totals, 'findings': findings}, indent=2)
