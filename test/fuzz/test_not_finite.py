# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""NaN and inf in each number of each message of each node: refused, or of no effect."""

import copy
import itertools
from collections import Counter
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

pytest.importorskip('rosbags')
from support.bags import START
from support.fuzz_nodes import LATER, NODES, heard

from geolin_ros.stream.topic_stream import Cause

CAUSES = Cause.NOT_FINITE, Cause.CONTACT, Cause.REFERENCE, Cause.QUATERNION, Cause.COVARIANCE


def numbers(part, name):
    """Yield the name of each number of a message, and what replaces it: gives back what it was."""
    if isinstance(part, np.ndarray) and part.dtype.kind == 'f':
        for k in np.unique([0, part.size // 2, part.size - 1]) if part.size else ():
            yield name, lambda value, k=k: exchange(part, k, value)
    elif isinstance(part, list):
        for k, inner in enumerate(part):
            yield from numbers(inner, f'{name}.{k}')
    elif is_dataclass(part):
        for field in fields(part):
            inner = getattr(part, field.name)
            if isinstance(inner, float):
                yield (
                    f'{name}.{field.name}',
                    lambda value, f=field: exchange(part.__dict__, f.name, value),
                )
            else:
                yield from numbers(inner, f'{name}.{field.name}')


def exchange(values, key, value):
    before, values[key] = values[key], value
    return before


@pytest.mark.parametrize('name', sorted(set(NODES) - {'consumer'}))
def test_number_that_is_none__is_refused_or_changes_no_answer(name):
    node, found = NODES[name], Counter()
    messages = [(topic, copy.deepcopy(message)) for topic, message in node.good(START)]
    _, usual, expected = heard(node.make(), messages)
    assert expected is not None
    spoilt = itertools.cycle((np.nan, np.inf, -np.inf))
    for topic, message in messages:
        for where, put in numbers(message, topic):
            inputs, good = node.make(), put(next(spoilt))
            _, refused, answer = heard(inputs, messages)
            put(good)
            is_refused = len(refused) > len(usual)
            found[topic] += is_refused
            if is_refused:
                errors = [error for name, error in refused if name == topic]
                assert any(getattr(e, 'cause', CAUSES[0]) in CAUSES for e in errors), where
                assert heard(inputs, node.good(LATER))[2] is not None, where
            else:
                assert np.array_equal(answer, expected), where
    assert found.total() > 10, found
