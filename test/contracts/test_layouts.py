# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The layouts of PlotJuggler and Foxglove against the messages that they plot."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAYOUTS = ROOT / 'config' / 'layouts'
TOPIC = '/linearizer/summary'
SUMMARY = (ROOT / 'geolin_msgs' / 'msg' / 'LinearizationSummary.msg').read_text(encoding='utf-8')
FIELDS = set(re.findall(r'^(?:float64|uint\d+) (\w+)', SUMMARY, re.MULTILINE))


def curves() -> list[str]:
    root = ET.parse(LAYOUTS / 'plotjuggler.xml').getroot()
    return [curve.attrib['name'] for curve in root.iter('curve')]


def plotjuggler() -> list[tuple[str, str, str]]:
    return [name.rpartition('/') for name in curves() if not name.startswith('/diagnostics')]


def foxglove() -> dict:
    return json.loads((LAYOUTS / 'foxglove.json').read_text(encoding='utf-8'))


def test_curves_of_plotjuggler__are_fields_of_the_summary():
    curves = plotjuggler()
    assert {topic for topic, _, _ in curves} == {TOPIC}
    assert {field for _, _, field in curves} <= FIELDS


def test_diagnostics_of_plotjuggler__are_numbers_that_the_node_says():
    """PlotJuggler names a number /diagnostics/HARDWARE_ID/NAME/KEY."""
    pytest.importorskip('rclpy')
    from rclpy.time import Time

    from geolin_ros.ros.diagnostics import Diagnostics
    from geolin_ros.stream.topics import Counts

    name = 'linearizer'
    diagnostics = Diagnostics(f'/{name}', name, 'linearizations', 'odometry')
    diagnostics.latencies.add(1e-4)
    diagnostics.ages.add(1e-3)
    (status,) = diagnostics.report(Time(), None, Counts(), None).status
    numbers = {
        f'/diagnostics/{status.hardware_id}/{status.name}/{one.key}': float(one.value)
        for one in status.values
    }
    drawn = [curve for curve in curves() if curve.startswith('/diagnostics')]
    assert len(drawn) == 8
    assert set(drawn) <= set(numbers)


def test_paths_of_foxglove__are_fields_of_the_summary():
    panels = foxglove()['configById']
    paths = [path['value'] for panel in panels.values() for path in panel.get('paths', [])]
    assert {path.rpartition('.')[0] for path in paths} == {TOPIC}
    assert {path.rpartition('.')[2] for path in paths} <= FIELDS
