# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin identify``: masses, rotors, friction and springs from recordings, as an overlay."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from geolin_control.whole_file import whole_file

from geolin_ros.cli._options import (
    Progress,
    add_bag_arguments,
    add_output_arguments,
    open_bags,
    show,
)
from geolin_ros.description.safe_yaml import read_yaml
from geolin_ros.errors import ConfigurationError
from geolin_ros.offline.recording import runs
from geolin_ros.robots import locate
from geolin_ros.stream.parameters.model_reading import from_text, is_stored
from geolin_tools.identification import (
    Change,
    Deviations,
    Identification,
    Prior,
    choose_prior,
    deviations,
    identify,
    overlay_of,
    rooms_of,
)
from geolin_tools.identification.joint_log import joint_signals
from geolin_tools.urdf_writer import write

CERTAIN = 3.0  # quantities that moved by more standard deviations are printed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_bag_arguments(parser)
    add = parser.add_argument
    file: dict[str, Any] = {'type': Path, 'metavar': 'FILE'}
    many: dict[str, Any] = {'action': 'append', 'default': []}
    overlay = Path('overlay.yaml')
    add('-o', '--output', type=Path, default=overlay, help='overlay to write (%(default)s)')
    add('--urdf-out', **file, help='write the URDF too, with masses, damping and friction')
    about = 'write a page too: efforts over time, what moved, what is determined'
    add('--report', **file, help=about)
    about = (
        'write A, B and poles too, at rest in the mean posture, with deviations (npz); nan for '
        'poles too near each other'
    )
    add('--matrices', **file, help=about)
    about = 'bag for validation (default: of several each, by the others; else the last quarter)'
    add('--aside', **many, type=Path, metavar='BAG', help=about)
    add('--cutoff', type=float, metavar='HZ', help='of the filter (default: from the motion)')
    about = 'delay of the efforts behind the motion, or auto: that on which joints agree (0)'
    add('--delay', type=_delay, default=0.0, metavar='SECONDS', help=about)
    about = (
        'relative standard deviation of the inertias in the description (default: 0.3; of several '
        'bags 0.1, 0.3 or 1, which leaves least of efforts kept aside), or that of one link'
    )
    add('--trust', **many, type=_trust, metavar='[LINK=]VALUE', help=about)
    about = 'whether joints have springs (default: they do; of several bags as trust)'
    add('--springs', action=argparse.BooleanOptionalAction, help=about)
    about = 'joint whose efforts have a factor to find, the gain of its drive (A to N m), or all'
    add('--scale', **many, metavar='JOINT', help=about)
    add('--only', **many, metavar='LINK|JOINT', help='identify these alone')
    about = (
        'identify the load on this link alone; best over an overlay that was identified without '
        'load (-p overlay_file:=FILE)'
    )
    add('--payload', default='', metavar='LINK', help=about)
    add_output_arguments(parser)


def _trust(text: str) -> tuple[str, float]:
    link, _, value = text.rpartition('=')
    return link, float(value)


def _delay(text: str) -> float | None:
    return None if text == 'auto' else float(text)


def run(options: argparse.Namespace) -> int:
    """Identify, and write the overlay; 1 without one if the recordings cannot tell."""
    for link, value in options.trust:
        if not value > 0.0:
            raise ConfigurationError(
                f'--trust{" of " if link else ""}{link} is {value:g}, expected more than 0, as 0.3'
            )
    trusts = dict(options.trust)
    trust = trusts.pop('', None)
    # a floating base is set by -p base:=floating; its odometry is best taken between its messages
    defaults = ['base:=fixed', 'pairing:=interpolate']
    options.values = [*defaults, *options.values, 'coulomb_friction:=true']
    bags, recordings = runs(options.bags), []
    for run in (*bags, *(runs(options.aside) if options.aside else ())):
        options.bags = run
        with open_bags(options) as source:
            recordings.append(joint_signals(source, Progress(options)))
            model, description, values = source.model, source.description, source.values
    if options.urdf_out is not None and is_stored(description):
        raise ConfigurationError(
            f'--urdf-out is {options.urdf_out}, but the robot is of an MJCF file, expected a '
            'URDF; leave it out: the overlay serves MJCF files too'
        )
    finds_efforts = not options.payload and (
        not options.only or set(options.only) & set(model.joint_names)
    )
    if model.effort_scale and finds_efforts:
        raise ConfigurationError(
            'the overlay of the parameters has effort_scale or effort_offset, expected none: they '
            'are what is to be found; leave the overlay out, or identify --only links or a '
            '--payload'
        )
    shapes = description if options.urdf is None else locate(options.urdf)
    prior = Prior(
        scales=model.joint_names if options.scale == ['all'] else tuple(options.scale),
        trusts=tuple(trusts.items()),
        only=tuple(options.only),
        payload=options.payload,
        rooms=None if is_stored(str(shapes)) else rooms_of(model, shapes),
    )
    given, aside, cutoff = recordings[: len(bags)], recordings[len(bags) :], options.cutoff
    set_by_hand = {'trust': trust, 'springs': options.springs}
    is_chosen = None in set_by_hand.values()
    if is_chosen and not options.payload:
        watch = Progress(options, ' bags kept aside')
        prior = choose_prior(model, given, prior, cutoff=cutoff, watch=watch)
    prior = prior._replace(**{k: v for k, v in set_by_hand.items() if v is not None})
    watch = Progress(options, ' rounds')
    found = identify(
        *(model, given, aside), prior=prior, cutoff=cutoff, delay=options.delay, watch=watch
    )
    earlier = values['overlay_file'] if options.payload or options.only else ''
    overlay = overlay_of(found, from_text(description), read_yaml(earlier) if earlier else None)
    text = yaml.safe_dump(overlay, sort_keys=False, default_flow_style=None, width=99)
    with whole_file(options.output) as file:
        file.write(text.encode())
    lines = [f'trust {prior.trust:g}, {"springs" if prior.springs else "no springs"}']
    if len(bags) > 1 and is_chosen:
        lines[0] += ', by what is left of efforts kept aside'
    if options.delay is None and not found.delay:
        lines.append('no delay of efforts was taken out: joints do not agree, or it is no better')
    if len(bags) > 1 and not (aside or found.folds):
        lines.append('no bag is predicted by the others: validated on the last quarter of each')
    lines += _lines(found)
    if options.matrices is not None:
        posture = found.trained.position.mean(axis=0)
        rest = model.state(np.eye(4), posture, np.zeros(6), np.zeros(model.n))
        known = deviations(found, rest)
        with whole_file(options.matrices) as file:
            np.savez(file, posture=posture, **known._asdict())
        lines.append(f'{options.matrices}: A and B at rest in the mean posture; poles [1/s]:')
        lines += _pole_lines(known)
    lines.append(
        f'{options.output}: for overlay_file of the nodes, with coulomb_friction: true for '
        'friction to act'
    )
    if options.urdf_out is not None:
        with whole_file(options.urdf_out) as file:
            file.write(write(description, overlay).encode())
        lines.append(
            f'{options.urdf_out}: what a URDF can hold of it; the overlay still goes with it'
        )
    if options.report is not None:
        from geolin_tools.cli.report import write_identification

        write_identification(found, [s.name for s in given], options.report)
    chosen = {'trust': prior.trust, 'springs': prior.springs, 'output': str(options.output)}
    show(options, _report(found) | chosen, '\n'.join(lines))
    return 0


def _report(found: Identification) -> dict[str, Any]:
    aside = zip(found.effort.tolist(), found.before.tolist(), found.after.tolist(), strict=True)
    sizes = (dict(zip(('effort', 'before', 'after'), row, strict=True)) for row in aside)
    return {
        'robot': found.model.name,
        'cutoff': found.cutoff,
        'delay': found.delay,
        'samples': len(found.trained.measured),
        'contacts': found.trained.contacts,
        'aside': dict(zip(found.rows, sizes, strict=True)),
        'rank': found.rank,
        'without_shapes': found.parameters.roomless,
        'numbers': found.parameters.count,
        'changes': [
            change._asdict() | {'moved': change.moved, 'surprise': change.surprise}
            for change in found.changes()
        ],
    }


def _lines(found: Identification) -> Iterator[str]:
    yield (
        f'robot {found.model.name}: {len(found.trained.measured)} samples, filtered at '
        f'{found.cutoff:.3g} Hz; {found.rank} of {found.parameters.count} combinations determined '
        'by the data'
    )
    if found.delay:
        yield f'efforts came {found.delay * 1e3:.1f} ms after the motion, which was taken out'
    if found.trained.contacts:
        left = float(found.trained.shares.sum(axis=1).mean())
        yield (
            f'forces on {", ".join(found.trained.contacts)} are not measured: {left:.1f} of '
            f'{found.model.m} equations a sample are free of them, in the mean, and used'
        )
    if found.parameters.roomless:
        yield (
            f'nothing bounds where the mass of {", ".join(found.parameters.roomless)} is: no '
            'shapes of theirs could be read; give the URDF with its meshes by --urdf'
        )
    changes = found.changes()
    far = sorted((c for c in changes if c.surprise > CERTAIN), key=lambda c: -c.surprise)
    if far:
        yield (
            f'{len(far)} are more than {CERTAIN:g} deviations off the description, which is '
            'seldom so: check the units and signs of efforts (geolin inspect --for-identify), '
            'loads, and the links themselves:'
        )
        yield from (f'! {_sentence(c)}, {c.surprise:.1f} deviations off' for c in far)
    kept = 'each bag by a fit of the others' if found.folds else 'data kept aside'
    yield f'on {kept}, root mean square [N m or N]:'
    yield f'  {"":24} {"effort":>9} {"before":>9} {"after":>9}'
    for name, *values in zip(found.rows, found.effort, found.before, found.after, strict=True):
        yield f'  {name:24} ' + ' '.join(f'{value:9.3g}' for value in values)
    moved = sorted((c for c in changes if c.moved > CERTAIN), key=lambda c: -c.moved)
    yield f'{len(moved)} of {len(changes)} quantities moved by more than {CERTAIN:g} deviations:'
    yield from (f'  {_sentence(change)}' for change in moved)


def _pole_lines(known: Deviations) -> Iterator[str]:
    pairs = zip(known.poles, known.poles_deviation, strict=True)
    for pole, off in sorted(pairs, key=lambda pair: -pair[0].real):
        if pole.imag >= 0.0:
            imaginary = f', +-i {pole.imag:.4g} +- {off.imag:.2g}' if pole.imag else ''
            yield f'  {pole.real:.4g} +- {off.real:.2g}{imaginary}'


def _sentence(change: Change) -> str:
    return (
        f'{change.of} {change.name}: {change.before:.4g} -> {change.after:.4g} +- '
        f'{change.deviation:.2g} {change.unit}'.rstrip()
    )
