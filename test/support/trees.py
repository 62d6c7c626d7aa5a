# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Random robots as descriptions, and trees whose bodies are numbered in another order."""

import numpy as np
from hypothesis import strategies as st

from geolin_ros import Description, Joint, Link, TreeModel
from geolin_ros.model.joint_kinds import CHAINS
from support.finite_difference import exp

KINDS = ('revolute', 'prismatic', 'helical')
ALL_KINDS = (*KINDS, 'spherical', 'cylindrical', 'se2', 'universal', 'floating')
SHAPES = ('chain', 'star', 'branched')
TILTED_GRAVITY = (1.0, -2.0, -9.0)  # no axis to hide behind


def steps(joint):
    """Return the names of the joints that a joint is."""
    return [f'{joint.name}/{suffix}' for suffix in CHAINS.get(joint.kind, ())] or [joint.name]


def random_pose(rng, reach=0.5):
    """Return a pose with any rotation and a translation within ``reach``."""
    H = exp(np.concatenate((np.zeros(3), rng.uniform(-3.0, 3.0, 3))))
    H[:3, 3] = rng.uniform(-reach, reach, 3)
    return H


def physical_link(rng, name):
    """Return a link that a solid body could have: mass, its centre and spread are random."""
    mass = rng.uniform(0.5, 3.0)
    axes = rng.normal(size=(3, 3)) * 0.2
    second_moment = mass * (axes @ axes.T + 0.01 * np.eye(3))
    rotational = np.trace(second_moment) * np.eye(3) - second_moment
    return Link.from_mass(name, mass, rng.uniform(-0.2, 0.2, 3), rotational)


def gram_link(rng, name):
    """Return a link whose inertia is any positive definite matrix, physical or not."""
    root = rng.uniform(0.0, 1.0, (6, 6))
    return Link(name, root @ root.T)


def tree_description(rng, parents, kinds, make_link=physical_link, damping=0.0):
    """Return a robot with joint i (1, 2, ...) from link ``parents[i - 1]`` < i to link i."""
    links = tuple(make_link(rng, f'link{i}') for i in range(len(parents) + 1))
    joints = tuple(
        Joint(
            name=f'joint{i}',
            kind=kind,
            parent=f'link{parent}',
            child=f'link{i}',
            placement=random_pose(rng),
            axis=rng.normal(size=3),
            pitch=rng.uniform(-0.5, 0.5) if kind == 'helical' else 0.0,
            damping=damping * rng.uniform(0.0, 1.0),
            second_axis=rng.normal(size=3) if kind == 'universal' else np.array([0.0, 1.0, 0.0]),
        )
        for i, (parent, kind) in enumerate(zip(parents, kinds, strict=True), start=1)
    )
    return Description('random tree', links, joints)


def random_parents(rng, count, shape='branched'):
    """Return the parent of each of the links 1..count; numbers are not depth-first."""
    if shape == 'chain':
        return list(range(count))
    if shape == 'star':
        return [0] * count
    return [int(rng.integers(0, i)) for i in range(1, count + 1)]


def random_description(
    rng, count, shape='branched', kinds=KINDS, make_link=physical_link, damping=0.0
):
    """Return a random robot with ``count`` joints; see `SHAPES` and `KINDS`."""
    drawn = [str(kind) for kind in rng.choice(kinds, count)]
    return tree_description(rng, random_parents(rng, count, shape), drawn, make_link, damping)


def every_kind_description(rng, shape='branched', kinds=ALL_KINDS, damping=0.0):
    """Return a random robot with a joint of each kind, and a second one of the first."""
    drawn = [str(kind) for kind in rng.permutation([*kinds, kinds[0]])]
    return tree_description(rng, random_parents(rng, len(drawn), shape), drawn, damping=damping)


def random_model(rng, count, shape='branched', base='floating', gravity=TILTED_GRAVITY, **options):
    """Return description and model of a random robot with its coordinates in random order."""
    description = random_description(rng, count, shape, **options)
    names = [joint.name for joint in description.joints]
    order = [names[i] for i in rng.permutation(count)]
    return description, TreeModel.from_description(
        description, base=base, gravity=gravity, joints=order
    )


@st.composite
def descriptions(draw, max_joints=10, kinds=KINDS, damping=0.0):
    """Draw a random robot; topology and joint kinds shrink, numbers come from a drawn seed."""
    count = draw(st.integers(1, max_joints))
    parents = [draw(st.integers(0, i - 1)) for i in range(1, count + 1)]
    drawn = [draw(st.sampled_from(kinds)) for _ in range(count)]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return tree_description(rng, parents, drawn, damping=damping)


def breadth_first(tree):
    """Return an order of the bodies of a tree by depth, deepest last: not depth-first."""
    depth = np.zeros(tree.parent.size, dtype=int)
    for i in range(1, tree.parent.size):
        depth[i] = depth[tree.parent[i]] + 1
    return np.argsort(depth, kind='stable')


def renumber_bodies(tree, order):
    """Return the same robot with body ``order[i]`` numbered i; coordinates keep their places."""
    new_number = np.argsort(order)
    parent = np.array([-1] + [int(new_number[tree.parent[b]]) for b in order[1:]])
    assert order[0] == 0, 'the base keeps number 0'
    assert np.all(parent < np.arange(parent.size)), 'parents come before their children'
    names = 'kind', 'q_start', 'q_size', 'v_start', 'v_size', 'rotation', 'translation', 'inertia'
    moved = {name: getattr(tree, name)[order] for name in names}
    renumbered = tree._replace(parent=parent, **moved)
    for array in renumbered:
        array.setflags(write=False)
    return renumbered


def gimbal(base, order, line=2):
    """Return a tool behind three axes with no mass between them, joints in the given order.

    Pan is about the axis x (0), y or z (2) of the base, and so is roll where they are in line.
    """

    body = Link.from_mass('body', 3.0, np.zeros(3), 0.1 * np.eye(3))
    tool = Link.from_mass('tool', 1.0, np.array([0.1, 0.2, 0.0]), np.diag([0.02, 0.03, 0.04]))
    first, above = np.eye(4), exp(np.array([0.0, 0.0, 0.1, 0.0, 0.0, 0.0]))
    first[:3, :3] = np.roll(np.eye(3), line - 2, axis=0)
    joints = [
        Joint(name, 'revolute', parent, child, place, np.array(axis))
        for name, parent, child, place, axis in (
            ('pan', 'body', 'a', first, (0.0, 0.0, 1.0)),
            ('tilt', 'a', 'b', above, (1.0, 0.0, 0.0)),
            ('roll', 'b', 'tool', above, (0.0, 0.0, 1.0)),
        )
    ]
    description = Description('gimbal', (body, Link('a'), Link('b'), tool), tuple(joints))
    return TreeModel.from_description(description, base=base, joints=order)
