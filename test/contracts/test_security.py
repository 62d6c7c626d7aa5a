# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The SROS 2 policies: of the published form, and nothing broader than names.

The form is that of policy.xsd 0.2.0 of the sros2 package, with which the files were checked too.
That names are those of the nodes is test/ros/test_security.py.
"""

import re
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from geolin_ros.stream.parameters.tables import ALL

ROOT = Path(__file__).resolve().parents[2]
POLICIES = sorted((ROOT / 'config' / 'security').glob('*.xml'))

# Of each element: what it holds, and its attributes.
FORM = {
    'policy': ({'enclaves'}, {'version'}),
    'enclaves': ({'enclave'}, set()),
    'enclave': ({'profiles'}, {'path'}),
    'profiles': ({'profile'}, set()),
    'profile': ({'topics', 'services'}, {'ns', 'node'}),
    'topics': ({'topic'}, {'publish', 'subscribe'}),
    'services': ({'service'}, {'reply', 'request'}),
    'topic': (set(), set()),
    'service': (set(), set()),
}
NAME = re.compile(r'(~/|/)?[a-z][a-z0-9_]*(/[a-z][a-z0-9_]*)*')


@pytest.fixture(params=POLICIES, ids=lambda path: path.name)
def policy(request):
    return fromstring(request.param.read_text())


def test_every_node__has_a_policy_of_its_own():
    assert [path.name for path in POLICIES] == sorted(f'{n}.policy.xml' for n in ALL)
    for path in POLICIES:
        root, node = fromstring(path.read_text()), path.name.partition('.')[0]
        (enclave,) = root.iter('enclave')
        (profile,) = root.iter('profile')
        assert enclave.attrib == {'path': f'/geolin/{node}'}
        assert profile.attrib == {'ns': '/', 'node': node}


def test_policy__has_the_published_form(policy):
    assert policy.attrib == {'version': '0.2.0'}
    for element in policy.iter():
        children, attributes = FORM[element.tag]
        assert {child.tag for child in element} <= children
        assert set(element.attrib) <= attributes
        assert len(element) > 0 or not children  # no list may be empty
    for rules in (*policy.iter('topics'), *policy.iter('services')):
        assert list(rules.attrib.values()) == ['ALLOW']  # all else is denied


def test_policy__allows_names_and_no_patterns(policy):
    for element in (*policy.iter('topic'), *policy.iter('service')):
        assert NAME.fullmatch(element.text), element.text


def test_walking_alone__calls_a_service(policy):
    called = [
        service.text
        for rules in policy.iter('services')
        if 'request' in rules.attrib
        for service in rules
    ]
    walks = policy.find('.//profile').get('node') == 'walking_node'
    assert called == (['linearizer/linearize_along'] if walks else [])
