# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""IMU samples that wait until they are needed, and are then taken together.

For an executor to wake up for each of them takes several times as long as they do.
"""

import struct
from collections.abc import Callable
from typing import Any

from sensor_msgs.msg import Imu

from geolin_ros.stream.inputs.serialized import LITTLE_ENDIAN
from geolin_ros.stream.inputs.stamps import CLOCK_RESET

NUMBERS = 37 * 8
"""Bytes of the numbers of a message, which end it."""
NOTHING: tuple[bytes, ...] = ()
_length = struct.Struct('<I').unpack_from
_time = struct.Struct('<iI').unpack_from
_motion = struct.Struct('<3d72x3d').unpack_from  # [gyro; accelerometer], a covariance between


class ImuQueue:
    """The samples of a subscription that no executor waits for.

    Parameters
    ----------
    subscription
        Raw, of sensor_msgs/Imu; its callback takes the bytes of a message.
    """

    def __init__(self, subscription: Any) -> None:
        self.subscription = subscription
        self._rest = NOTHING
        self._waiting: bytes | None = None

    def take(
        self, repeat: Callable[[int, tuple[float, ...]], bool], until: int | None = None
    ) -> None:
        """Take what has come, but for what is stamped after ``until`` [ns]: that waits.

        None: take everything; a clock that is ahead by a second or more does not wait. ``repeat``
        is called with stamp [ns] and [gyro; accelerometer] of a sample whose frame and covariances
        are those of the one before. The callback takes all others, and what it refuses.
        """
        handle = self.subscription.handle
        with handle:
            while True:
                data, self._waiting = self._waiting, None
                if data is None:
                    taken = handle.take_message(Imu, True)
                    if taken is None:
                        return
                    data = taken[0]
                at, rest = _numbers_at(data), NOTHING
                if at:
                    seconds, fraction = _time(data, 4)
                    stamp = seconds * 1_000_000_000 + fraction
                    if until is not None and 0 < stamp - until < CLOCK_RESET:
                        self._waiting = data
                        return
                    rest = (  # frame, and covariances
                        *(data[12:at], data[at + 32 : at + 104], data[at + 128 : at + 200]),
                        data[at + 224 :],
                    )
                    if rest == self._rest and repeat(stamp, _motion(data, at + 104)):
                        continue
                self._rest = rest
                self.subscription.callback(data)


def _numbers_at(data: bytes) -> int:
    """Return where the orientation begins, which all other numbers follow; 0: who knows."""
    if data[:4] != LITTLE_ENDIAN or len(data) <= NUMBERS:
        return 0
    end = 16 + _length(data, 12)[0]
    at: int = end + (4 - end) % 8
    return at if len(data) == at + NUMBERS else 0
