# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Compile, or load from the cache, what the state estimator takes."""

from geolin_estimation.base_stream import BaseSettings, BaseStream
from geolin_estimation.imu_input import ImuTopic
from geolin_ros.linearization.contacts import Contact
from geolin_ros.stream.inputs.contact_input import ContactSettings
from geolin_ros.stream.warm_up import small_model


def warm_up() -> None:
    """Run the kernels of the state estimator."""
    model = small_model()
    foot = ContactSettings(contacts=(Contact(model.body_names[-1]),))
    BaseStream(model, BaseSettings(ImuTopic('imu', model.base_link), foot)).warm_up()
