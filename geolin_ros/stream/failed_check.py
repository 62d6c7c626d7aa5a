# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A linearization that failed its check, as a file of its own: all that is needed to repeat it.

JSON: every number comes back to the last bit, and nothing in it is ever executed.
"""

import dataclasses
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from geolin_ros.errors import GeolinError, InputError
from geolin_ros.linearization.contacts import Contact, Loop
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.linearization_stream import OperatingPoint, linearize
from geolin_ros.stream.parameters.file import default_values
from geolin_ros.stream.parameters.linearizer import MODEL_NAMES, stream_settings
from geolin_ros.stream.parameters.model_reading import from_text, read_model, to_text
from geolin_ros.stream.self_check import Sample, SelfCheck, Verdict, wrong
from geolin_ros.typing import Array
from geolin_ros.verification.certificate import Certificate, Claim

FORMAT = 'geolin failed check 1'
KEPT = (*MODEL_NAMES, 'form', 'dt', 'method', 'reference', 'representation')
"""Parameters that say what A and B are, beside the payload's."""
ARRAYS = 'tau', 'A', 'B', 'nu_dot'


class FailedCheck(NamedTuple):
    """What a file holds."""

    model: TreeModel
    settings: StreamSettings
    sample: Sample
    certificate: Certificate


def save_failed_check(
    folder: Path,
    description: str | Path,
    values: Mapping[str, Any],
    model: TreeModel,
    sample: Sample,
    certificate: Certificate,
) -> Path:
    """Write a file ``failed-check-ROBOT-STAMP.json`` and return its path.

    The folder is made; ROBOT is the robot's name: its letters, digits and ``._-``. ``description``
    and ``values`` of parameters are what the model was read from; files are read now. Raises
    `OSError` if the file cannot be written.
    """
    kept = {name: value for name, value in values.items() if name in KEPT or 'payload.' in name}
    if values['overlay_file']:
        kept |= {'overlay': Path(values['overlay_file']).read_text(), 'overlay_file': ''}
    claim = sample.claim
    content = {
        'format': FORMAT,
        'robot': model.name,
        'model_hash': model.hash,
        'stamp': sample.stamp,
        'certificate': certificate._asdict(),
        'state': _state(claim),
        'wrenches': [dataclasses.asdict(wrench) for wrench in claim.wrenches],
        'contacts': [
            {'is_loop': isinstance(contact, Loop), **dataclasses.asdict(contact)}
            for contact in claim.contacts
        ],
        **{name: getattr(claim, name) for name in ARRAYS},
        'parameters': kept,
        'robot_description': to_text(description, values),
    }
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub('[^A-Za-z0-9._-]', '_', model.name[:60])  # whoever gave it
    path = folder / f'failed-check-{name}-{sample.stamp}.json'
    path.write_text(json.dumps(content, default=lambda value: np.asarray(value).tolist()) + '\n')
    return path


def failed_check_report(sample: Sample, verdict: Verdict) -> str:
    """Return what is wrong, and the state, in words."""
    numbers = _state(sample.claim) | {'tau': sample.claim.tau}
    words = ', '.join(f'{name} = {values.tolist()}' for name, values in numbers.items())
    return (
        f'{wrong(verdict.certificate)} (stamp {sample.stamp} ns, failed check {verdict.failures} '
        f'of {verdict.checks} checks); state {words}'
    )


def load_failed_check(path: Path) -> FailedCheck:
    """Read a file of `save_failed_check`.

    Raises `InputError` if it is none, or its robot is not the one that it names; `OSError` if it
    cannot be read.
    """
    try:
        content = json.loads(path.read_text())
        if content['format'] != FORMAT:
            raise InputError(f'{path} has format {content["format"]!r}, expected {FORMAT!r}')
        values = content['parameters']
        model = read_model(from_text(content['robot_description']), values, lambda sentence: None)
        claim = Claim(
            model.state(**content['state']),
            **{name: np.array(content[name], dtype=np.float64) for name in ARRAYS},
            wrenches=tuple(Wrench(**wrench) for wrench in content['wrenches']),
            contacts=tuple(
                (Loop if contact.pop('is_loop') else Contact)(**contact)
                for contact in content['contacts']
            ),
        )
        sample, found = Sample(content['stamp'], claim), Certificate(**content['certificate'])
    except GeolinError:
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f'{path} is no file of a failed check: {error!r}; expected one that the node wrote'
        ) from error
    if model.hash != content['model_hash']:
        raise InputError(
            f'{path} is about robot {content["robot"]!r} with hash {content["model_hash"]}, but '
            f'its description gives {model.hash}: it was read by another version'
        )
    return FailedCheck(model, stream_settings(default_values() | values), sample, found)


def linearize_again(failed: FailedCheck) -> Claim:
    """Return what this version makes of the same state, efforts, wrenches and contacts."""
    claim = failed.sample.claim
    linearizer, tau = Linearizer(failed.model, claim.contacts), claim.tau
    point = OperatingPoint(0, 0, claim.state, tau, tau, claim.wrenches, linearizer.contacts)
    answer = linearize(point, linearizer, failed.settings)
    return claim._replace(A=answer.A.copy(), B=answer.B.copy(), nu_dot=answer.nu_dot.copy())


def check_again(failed: FailedCheck, claim: Claim) -> Certificate:
    """Certify a claim about the state of a failed check, along the directions taken then."""
    return SelfCheck(failed.model, failed.settings).certify(failed.sample._replace(claim=claim))


def _state(claim: Claim) -> dict[str, Array]:
    return {name: getattr(claim.state, name) for name in ('H', 's', 'v', 'r')}
