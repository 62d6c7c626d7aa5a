# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which robot is served: another one is built beside, and then put in its place.

::

    Absent --want--> Building --built--> Serving --want--> Building ...
                        |
                        +--cannot be built--> Refused (the one before goes on), or Absent
"""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

Job = Callable[[], object]


class Wanted(NamedTuple):
    """A robot: its description, text or file, and the values of all parameters."""

    description: str | Path
    values: Mapping[str, Any]


class Served(NamedTuple):
    """What answers, and what it was made of."""

    wanted: Wanted
    pipeline: Any


@dataclass(frozen=True)
class Absent:
    """Nobody wants a robot, or the first one could not be built."""


@dataclass(frozen=True)
class Building:
    """One is built; what was served before goes on."""

    wanted: Wanted


@dataclass(frozen=True)
class Serving:
    """What is wanted is served."""

    wanted: Wanted


@dataclass(frozen=True)
class Refused:
    """What is wanted cannot be served; what was served before goes on."""

    wanted: Wanted
    reason: str


class ModelServer:
    """Builds pipelines in a thread of its own and swaps them in the thread of its owner.

    All methods are called from that thread, and all callbacks but ``build`` are called there.

    Parameters
    ----------
    build
        Takes a `Wanted` and returns its pipeline, or raises; may take minutes.
    post
        Has the owner's thread call a function soon; called from the builder's.
    on_built
        Takes the pipeline before, or None, and the new one, which serves from then on.
    on_refused
        Takes what cannot be served, the exception, and whether there is another one; returns why.
    on_values_refused
        Called where not even the robot that is served can be served with the newest values.

    Attributes
    ----------
    state
        Absent, Building, Serving or Refused.
    served
        What answers now, or None.
    """

    def __init__(
        self,
        build: Callable[[Wanted], Any],
        post: Callable[[Job], object],
        on_built: Callable[[Any, Any], object],
        on_refused: Callable[[Wanted, Exception, bool], str],
        on_values_refused: Job,
    ) -> None:
        self._build, self._post = build, post
        self._on_built, self._on_refused = on_built, on_refused
        self._on_values_refused = on_values_refused
        self._builder = ThreadPoolExecutor(1, thread_name_prefix='builder')
        self._next: Wanted | None = None
        self._refused: Refused | None = None  # while something else is built in its place
        self.state: Absent | Building | Serving | Refused = Absent()
        self.served: Served | None = None

    @property
    def pipeline(self) -> Any:
        """What answers now, or None."""
        return None if self.served is None else self.served.pipeline

    @property
    def pending(self) -> str:
        """What is wanted and not served; empty if there is nothing."""
        if isinstance(self.state, Refused):
            return self.state.reason
        if not isinstance(self.state, Building):
            return ''
        wanted = self._next or self.state.wanted
        is_new = self.served is None or self.served.wanted.description != wanted.description
        return 'a new robot description' if is_new else 'new parameters'

    def want(self, description: str | Path, values: Mapping[str, Any]) -> None:
        """Serve this one as soon as it is built; of several that wait only the newest counts."""
        wanted = Wanted(description, dict(values))
        if isinstance(self.state, Building):
            self._next = wanted
        elif self.served is not None and wanted == self.served.wanted:
            self.state = Serving(wanted)
        else:
            self._start(wanted)

    def forget(self) -> None:
        """Serve nothing any more, nor what is being built."""
        self.state, self.served, self._next, self._refused = Absent(), None, None, None

    def submit(self, job: Job) -> Future[object]:
        """Do something else in the builder's thread, after what it has to do."""
        return self._builder.submit(job)

    def close(self, wait: bool) -> None:
        """End the thread; ``wait`` for what it does now."""
        self._builder.shutdown(wait=wait, cancel_futures=True)

    def _start(self, wanted: Wanted) -> None:
        state = self.state = Building(wanted)

        def work() -> None:
            try:
                pipeline = self._build(wanted)
            except Exception as error:
                failure = error
                self._post(lambda: self._fail(state, failure))
            else:
                self._post(lambda: self._swap(state, pipeline))

        self._builder.submit(work)

    def _swap(self, state: Building, pipeline: Any) -> None:
        if self.state is not state:  # forgotten meanwhile
            return
        before, self.served = self.pipeline, Served(state.wanted, pipeline)
        self.state = self._refused or Serving(state.wanted)
        self._on_built(before, pipeline)
        self._go_on()

    def _fail(self, state: Building, error: Exception) -> None:
        if self.state is not state:
            return
        served = self.served
        reason = self._on_refused(state.wanted, error, bool(served or self._next))
        if served is None:
            self.state = Absent()
            self._go_on()
            return
        self.state = self._refused or Refused(state.wanted, reason)
        if self._next is not None or served.wanted.values == state.wanted.values:
            self._go_on()
        elif served.wanted.description != state.wanted.description:
            refused = self.state  # the robot before takes the parameters that have changed
            self._start(Wanted(served.wanted.description, state.wanted.values))
            self._refused = refused
        else:
            self._go_on()
            self._on_values_refused()

    def _go_on(self) -> None:
        self._refused, wanted, self._next = None, self._next, None
        if wanted is not None:
            self._start(wanted)
