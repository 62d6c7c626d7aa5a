# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What worker processes have in common, wherever they work."""

import multiprocessing
import os
import threading


def end_with_parent() -> None:
    """End this worker with the process that started it, even if that is killed.

    A worker holds both ends of the queue of jobs: it would wait there for ever.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
