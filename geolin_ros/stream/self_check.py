# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A stream's own numbers, certified now and then beside it.

See `geolin_ros.verification.certificate`.
"""

import time
from typing import Any, NamedTuple

import numpy as np

from geolin_ros.errors import GeolinError
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.verification.certificate import Certificate, Certifier, Claim, Form


class Sample(NamedTuple):
    """What is to be certified: a linearization with arrays of its own, and its stamp [ns]."""

    stamp: int
    claim: Claim


class Verdict(NamedTuple):
    """The newest certificate, of the linearization with that stamp [ns], and all counts.

    ``warnings`` say of that state how many digits it costs, if many.
    """

    stamp: int
    certificate: Certificate
    checks: int
    failures: int
    warnings: tuple[str, ...] = ()


class SelfCheck:
    """Takes every n-th linearization and certifies it, in a thread of the caller's.

    `due` is for the thread of the stream, `check` for another one. ``newest`` is the newest
    verdict, None before the first.
    """

    def __init__(self, model: TreeModel, settings: StreamSettings) -> None:
        self._model, self._settings = model, settings
        step = (settings.method, settings.dt) if settings.form == 'discrete' else ()
        form = Form(settings.reference, settings.representation, *step)
        self._certifier = Certifier(model, form)
        self._cycle = self._checks = self._failures = 0
        self._is_busy, self._free_at = False, 0.0
        self.newest: Verdict | None = None
        self.skipped = 0  # due while earlier checks had used up their share of the time
        self.impossible, self.reason = 0, ''  # could not be checked, and why the last one

    def resume(self, earlier: 'SelfCheck') -> None:
        """Go on with the counts of an earlier one."""
        self._checks, self._failures = earlier._checks, earlier._failures
        self.skipped, self.impossible = earlier.skipped, earlier.impossible

    def due(self, answer: Any) -> Sample | None:
        """Return a copy of an answer of the stream if its turn has come and there is time."""
        every = self._settings.certificate_every
        self._cycle += 1
        if every == 0 or self._cycle % every:
            return None
        if self._is_busy or time.perf_counter() < self._free_at:
            self.skipped += 1
            return None
        self._is_busy = True
        point = answer.point
        tau, A, B, nu_dot = map(np.array, (point.efforts, answer.A, answer.B, answer.nu_dot))
        contacts = () if answer.contacts is None else answer.contacts.contacts
        claim = Claim(point.state.copy(), tau, A, B, nu_dot, tuple(point.wrenches), contacts)
        return Sample(point.stamp, claim)

    def check(self, sample: Sample) -> Verdict | None:
        """Certify a sample and keep the verdict; None if that is impossible."""
        from geolin_ros.dynamics.functions import conditioning  # not before the first check

        start = time.thread_time()  # what others take meanwhile is not the check's
        try:
            warning = conditioning(self._model, sample.claim.state).warning
            found = self.certify(sample)
        except (GeolinError, np.linalg.LinAlgError) as error:
            self.impossible += 1
            self.reason = str(error)
            return None
        finally:
            taken, share = time.thread_time() - start, self._settings.certificate_budget
            self._free_at = time.perf_counter() + taken * (1.0 / share - 1.0)
            self._is_busy = False
        self._checks += 1
        self._failures += found.failed
        warnings = (warning,) if warning else ()
        self.newest = Verdict(sample.stamp, found, self._checks, self._failures, warnings)
        return self.newest

    def certify(self, sample: Sample) -> Certificate:
        """Certify along directions that follow from the stamp, to be found again."""
        return self._certifier.check(sample.claim, np.random.default_rng(sample.stamp))

    @property
    def errors(self) -> list[str]:
        """What is wrong now, in words."""
        newest = self.newest
        return [wrong(newest.certificate)] if newest and newest.certificate.failed else []

    @property
    def warnings(self) -> list[str]:
        """What costs many digits, in words."""
        return [] if self.newest is None else list(self.newest.warnings)

    @property
    def details(self) -> dict[str, str]:
        """What the diagnostics say."""
        if self._settings.certificate_every == 0:
            return {}
        details = {
            'checks of A and B': str(self._checks),
            'failed checks': str(self._failures),
            'checks skipped, over budget': str(self.skipped),
            'checks impossible': f'{self.impossible} {self.reason}'.strip(),
        }
        if self.newest is not None:
            found = self.newest.certificate
            details |= {
                'deviation of the last check': f'{found.deviation:.2e} in {found.worst}',
                'limit of the last check': f'{found.limit:.2e}',
                'condition number of the mass matrix': f'{found.condition:.3e}',
            }
        return details


def wrong(found: Certificate) -> str:
    """Return what is wrong, in words."""
    return (
        f'A and B are wrong: {found.deviation:.3e} off in {found.worst}, expected at most '
        f'{found.limit:.3e}'
    )
