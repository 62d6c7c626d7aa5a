# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A and B of any system gdot = g lambda(g, u) on a Lie group [Bos 2022, section 2.4].

The error z = log(g^-1 g') to a neighbouring motion obeys zdot = A z + B w to first order, with

    A = D_1 lambda(g, u) o DL_g(e) - ad_lambda(g,u)                                      (12)
    B = D_2 lambda(g, u)                                                                 (13)

Groups are made of `SO3`, `SE3` and `euclidean` by `product`. `Linearizer` is this for a robot's
forward dynamics on SE(3) x R^n x R^6 x R^n.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.errors import ConfigurationError, NotFiniteError, ShapeError
from geolin_ros.spatial import se3
from geolin_ros.typing import Array

Element = Any
Field = Callable[[Element, Array], ArrayLike]
Derivatives = Callable[[Element, Array], tuple[ArrayLike, ArrayLike]]


@dataclass(frozen=True)
class LieGroup:
    """A Lie group with elements of any type, and its algebra as R^k.

    Attributes
    ----------
    name
        For messages.
    dimension
        k.
    retract
        ``retract(g, z)`` is g exp(z^).
    difference
        ``difference(g, h)`` is log(g^-1 h) (k,), the smallest z with ``retract(g, z)`` equal to h.
    ad
        ``ad(z)`` (k, k) with (ad(x) y)^ = [x^, y^].
    """

    name: str
    dimension: int
    retract: Callable[[Element, Array], Element]
    difference: Callable[[Element, Element], Array]
    ad: Callable[[Array], Array]


def euclidean(n: int) -> LieGroup:
    """Return R^n under addition; elements are arrays (n,)."""
    return LieGroup(
        name=f'R^{n}',
        dimension=n,
        retract=lambda g, z: np.asarray(g) + z,
        difference=lambda g, h: np.asarray(h) - np.asarray(g),
        ad=lambda z: np.zeros((n, n)),
    )


def product(*groups: LieGroup) -> LieGroup:
    """Return the direct product; elements are tuples of the groups' elements."""
    ends = list(itertools.accumulate(group.dimension for group in groups))
    parts = [slice(end - group.dimension, end) for group, end in zip(groups, ends, strict=True)]

    def retract(g: Element, z: Array) -> Element:
        return tuple(
            group.retract(own, z[part]) for group, own, part in zip(groups, g, parts, strict=True)
        )

    def difference(g: Element, h: Element) -> Array:
        return np.concatenate(
            [group.difference(*pair) for group, *pair in zip(groups, g, h, strict=True)]
        )

    def ad(z: Array) -> Array:
        blocks = np.zeros((z.size, z.size))
        for group, part in zip(groups, parts, strict=True):
            blocks[part, part] = group.ad(z[part])
        return blocks

    name = ' x '.join(group.name for group in groups)
    return LieGroup(name, sum(group.dimension for group in groups), retract, difference, ad)


def _turn(R: Element, w: Array) -> Array:
    turned: Array = np.asarray(R) @ se3.exp([0.0, 0.0, 0.0, *w])[:3, :3]
    return turned


def _turn_between(R: Element, Q: Element) -> Array:
    H = np.eye(4)
    H[:3, :3] = np.asarray(R).T @ np.asarray(Q)
    return se3.log(H)[3:]


SO3 = LieGroup('SO(3)', 3, retract=_turn, difference=_turn_between, ad=se3.cross3)
"""Rotations R (3, 3)."""

SE3 = LieGroup(
    name='SE(3)',
    dimension=6,
    retract=lambda H, z: np.asarray(H) @ se3.exp(z),
    difference=lambda H, G: se3.log(se3.relative(H, G)),
    ad=se3.cross,
)
"""Poses H (4, 4), twists [linear; angular]."""


def linearize(
    group: LieGroup,
    field: Field,
    g: Element,
    u: ArrayLike,
    derivatives: Derivatives | None = None,
    step: float = 1e-2,
) -> tuple[Array, Array]:
    """Return A (k, k) and B (k, n_u) of gdot = g field(g, u)^ about (g, u).

    [Bos 2022, Eqs. (8)-(13)].

    Parameters
    ----------
    group
        Where g lives.
    field
        ``field(g, u)`` is the left-trivialized vector field lambda (k,), g^-1 gdot; of a system
        that depends on time, at the time of interest.
    g, u : element of the group, (n_u,)
        State and input.
    derivatives
        ``derivatives(g, u)`` returns d lambda(g exp(z^), u)/dz at z = 0 (k, k) and
        d lambda/du (k, n_u): A and B are then exact. Without it they are central differences at
        ``step``, ``step / 2`` and ``step / 4``, extrapolated to an error of order step^6.
    step
        In each unit of z and u.

    Raises
    ------
    ShapeError
        If the field or a derivative has another shape.
    NotFiniteError
        If a result holds NaN or inf.
    ConfigurationError
        If step is not positive.

    Examples
    --------
    >>> A, B = linearize(SO3, lambda R, w: w, np.eye(3), [0.0, 0.0, 2.0])  # Rdot = R w^
    >>> A.round(9) + 0.0
    array([[ 0.,  2.,  0.],
           [-2.,  0.,  0.],
           [ 0.,  0.,  0.]])
    """
    if not 0.0 < step < np.inf:
        raise ConfigurationError(f'step is {step!r}, expected a positive number')
    k, at = group.dimension, np.asarray(u, dtype=np.float64)

    def rate(at_g: Element, at_u: Array) -> Array:
        return _shaped('field', field(at_g, at_u), (k,), group)

    if derivatives is None:
        by_g = _differences(lambda z: rate(group.retract(g, z), at), np.zeros(k), step)
        by_u = _differences(lambda w: rate(g, w), at, step)
    else:
        exact = derivatives(g, at)
        by_g = _shaped('derivative by g', exact[0], (k, k), group)
        by_u = _shaped('derivative by u', exact[1], (k, at.size), group)
    A, B = by_g - group.ad(rate(g, at)), by_u.reshape(k, at.size)
    if not (np.isfinite(A).all() and np.isfinite(B).all()):
        raise NotFiniteError(f'A or B on {group.name} holds NaN or inf, expected a smooth field')
    return A, B


def derivative(function: Callable[[float], Array], step: float, halvings: int = 2) -> Array:
    """Return df/dh at 0 [Richardson 1911].

    D(h) = (f(h) - f(-h)) / (2 h); with h halved the errors of order h^2 cancel in
    (4 D(h/2) - D(h)) / 3, halved again those of order h^4, and so on.
    """
    steps = [step * 0.5**k for k in range(halvings + 1)]
    slopes = [(function(h) - function(-h)) / (2.0 * h) for h in steps]
    for k in range(1, halvings + 1):
        pairs = itertools.pairwise(slopes)
        slopes = [(4**k * fine - coarse) / (4**k - 1) for coarse, fine in pairs]
    return slopes[0]


def _differences(function: Callable[[Array], Array], x: Array, step: float) -> Array:
    """Return the Jacobian of ``function`` at x."""

    def column(e: Array) -> Array:
        return derivative(lambda h: function(x + h * e), step)

    return np.array([column(e) for e in np.eye(x.size)]).T


def _shaped(what: str, value: ArrayLike, shape: tuple[int, ...], group: LieGroup) -> Array:
    array = np.asarray(value, dtype=np.float64)
    if array.shape != shape:
        raise ShapeError(f'{what} on {group.name} has shape {array.shape}, expected {shape}')
    return array
