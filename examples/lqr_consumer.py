#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot kept standing by LQR on the published A and B: docs/lqr_node.md explains each line."""

from contextlib import suppress

import numpy as np
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from scipy.linalg import solve_continuous_are
from std_msgs.msg import Float64MultiArray

from geolin_msgs.msg import LinearizedDynamics
from geolin_ros import read_contact_dynamics, read_linearization

LARGEST = 0.03, 0.06, 0.5, 0.3, 0.8, 5.0  # of position [m], turn, joints [rad], and their rates
EFFORT = 1.0  # that costs as much as each of these [N m for each kg of the robot]
BANDWIDTH = 60.0  # of springs and dampers where contacts admit no motion [rad/s]
CALM = 0.05  # below which velocities of the base allow another design [m/s, rad/s]


class Lqr(Node):
    """Answers each linearization with efforts."""

    def __init__(self):
        super().__init__('lqr')
        self.messages, self.goal = 0, None
        listen, speak = self.create_subscription, self.create_publisher
        listen(LinearizedDynamics, 'linearizer/linearization', self.answer, 1)
        self.command = speak(Float64MultiArray, 'joint_group_effort_controller/commands', 1)

    def answer(self, message):
        """Publish the efforts that keep the robot where it was first."""
        L, contacts = read_linearization(message), read_contact_dynamics(message.contact_dynamics)
        if contacts is None or not contacts.active:
            return  # it flies
        if self.goal is None:  # stay here, by the least efforts that hold it
            m = len(L.nu_dot)
            self.goal, self.efforts = L.state, L.tau - np.linalg.pinv(L.B[m:]) @ L.nu_dot
        if not self.messages or (self.messages % 50 == 0 and max(abs(L.state.v)) < CALM):
            P, n = contacts.basis, len(L.tau)  # z = P y: the motions that contacts admit
            M = np.kron(np.eye(2), L.mass_matrix)
            W = np.linalg.solve(P.T @ M @ P, P.T @ M)  # y = W z: along M, as contacts push
            Q = np.diag(np.repeat(LARGEST, (3, 3, n, 3, 3, n)) ** -2.0)
            R, B = np.eye(L.B.shape[1]) / (EFFORT * M[0, 0]) ** 2, P.T @ L.B
            S = solve_continuous_are(P.T @ L.A @ P, B, P.T @ Q @ P, R)
            inertia = np.diag(1.0 / np.diag(np.linalg.inv(L.mass_matrix)))[6:]
            springs = np.kron([[BANDWIDTH**2, 2.0 * BANDWIDTH]], inertia)
            self.K = np.linalg.solve(R, B.T @ S) @ W + springs - springs @ P @ W
        self.messages += 1
        u = self.efforts - self.K @ self.goal.difference(L.state)
        self.command.publish(Float64MultiArray(data=u.tolist()))  # as of actuated_joints


if __name__ == '__main__':
    rclpy.init()
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(Lqr())
