# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Pages with all that they need inside: they open without a network."""

import html
import json
from pathlib import Path
from typing import Any

import numpy as np
from geolin_control.whole_file import whole_file

PAGE = Path(__file__).parent / 'page'


def write_page(output: str | Path, kind: str, title: str, content: Any) -> None:
    """Write a page of a kind, which has an html file of its sections and a script.

    Raises `OSError` if it cannot be written; one that was there before stays.
    """
    text = json.dumps(content, separators=(',', ':'), allow_nan=False)
    files = {file.name: file.read_text() for file in PAGE.iterdir()}
    page = files['page.html']
    for mark, inside in (
        ('{main}', files[f'{kind}.html']),
        ('/* style */', files['uPlot.min.css'] + files['report.css']),
        ('/* charts */', f'/* {files["uPlot.LICENSE"]} */' + files['uPlot.iife.min.js']),
        ('/* script */', files['charts.js'] + files[f'{kind}.js']),
        ('{title}', html.escape(title)),
        ('"content"', text.replace('<', '\\u003c')),  # a name may look like a tag
    ):
        page = page.replace(mark, inside)
    with whole_file(output) as file:
        file.write(page.encode())


def rounded(values: Any, digits: int = 6) -> Any:
    """Return numbers with so many significant digits, for JSON: None where not finite."""
    if isinstance(values, list | tuple | np.ndarray):
        return [rounded(value, digits) for value in values]
    number = float(values)
    return float(f'{number:.{digits}g}') if np.isfinite(number) else None
