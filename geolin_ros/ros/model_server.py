# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which robot is served: another one is built beside, and then put in its place.

::

    ABSENT --want--> BUILDING --built--> SERVING --want--> BUILDING ...
                        |
                        +--cannot be built--> REFUSED (the one before goes on), or ABSENT
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

Job = Callable[[], object]
State = Enum('State', 'ABSENT BUILDING SERVING REFUSED')


class Wanted(NamedTuple):
    """A robot: its description, text or file, and the values of all parameters."""

    description: str | Path
    values: Mapping[str, Any]


class ModelServer:
    """Builds pipelines in a thread, ``builder``, and swaps them in the thread of its owner.

    All methods are called from that thread, and all callbacks but ``build``, which returns the
    pipeline of a `Wanted`, or raises, and may take minutes. ``post`` has the owner's thread call a
    function soon. ``on_built`` takes the pipeline before, or None, and the new one; ``on_refused``
    what cannot be served, the exception, and whether there is another one, and returns why;
    ``on_values_refused`` is called where not even the robot that is served can be served with the
    newest values. ``state`` and ``reason``, if it is refused, are of what is wanted, ``served``
    and ``pipeline`` what answers now, or None.
    """

    def __init__(
        self,
        builder: ThreadPoolExecutor,
        build: Callable[[Wanted], Any],
        post: Callable[[Job], object],
        on_built: Callable[[Any, Any], object],
        on_refused: Callable[[Wanted, Exception, bool], str],
        on_values_refused: Job,
    ) -> None:
        self._build, self._post = build, post
        self._on_built, self._on_refused = on_built, on_refused
        self._on_values_refused = on_values_refused
        self._builder = builder
        self.forget()

    def forget(self) -> None:
        """Serve nothing any more, nor what is being built."""
        self.state, self.reason = State.ABSENT, ''
        self.served: Wanted | None = None
        self.pipeline: Any = None
        self._building: Wanted | None = None
        self._next: Wanted | None = None

    @property
    def pending(self) -> str:
        """What is wanted and not served; empty if there is nothing."""
        wanted = self._next or self._building
        if self.state is not State.BUILDING or wanted is None:
            return self.reason
        is_new = self.served is None or self.served.description != wanted.description
        return 'a new robot description' if is_new else 'new parameters'

    def want(self, description: str | Path, values: Mapping[str, Any]) -> None:
        """Serve this one as soon as it is built; of several that wait only the newest counts."""
        wanted = Wanted(description, dict(values))
        if self.state is State.BUILDING:
            self._next = wanted
        elif wanted == self.served:
            self.state, self.reason = State.SERVING, ''
        else:
            self._start(wanted)

    def _start(self, wanted: Wanted, reason: str = '') -> None:
        """Build one, in the place of another that was refused for a ``reason``, if any."""
        self.state, self.reason, self._building = State.BUILDING, reason, wanted

        def work() -> None:
            try:
                pipeline = self._build(wanted)
            except Exception as error:
                failure = error
                self._post(lambda: self._fail(wanted, failure))
            else:
                self._post(lambda: self._swap(wanted, pipeline))

        self._builder.submit(work)

    def _swap(self, wanted: Wanted, pipeline: Any) -> None:
        if self._building is not wanted:  # forgotten meanwhile
            return
        before, self.pipeline, self.served = self.pipeline, pipeline, wanted
        self.state = State.REFUSED if self.reason else State.SERVING
        self._on_built(before, pipeline)
        self._go_on()

    def _fail(self, wanted: Wanted, error: Exception) -> None:
        if self._building is not wanted:
            return
        served = self.served
        reason = self._on_refused(wanted, error, bool(served or self._next))
        if served is None:
            self.state = State.ABSENT
            self._go_on()
            return
        self.state, self.reason = State.REFUSED, self.reason or reason
        if self._next is not None or served.values == wanted.values:
            self._go_on()
        elif served.description != wanted.description:
            # the robot before takes the parameters that have changed
            self._start(Wanted(served.description, wanted.values), self.reason)
        else:
            self._on_values_refused()

    def _go_on(self) -> None:
        wanted, self._next = self._next, None
        if wanted is not None:
            self._start(wanted)
