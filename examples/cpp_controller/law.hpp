// SPDX-FileCopyrightText: 2026 geolin_ros contributors
// SPDX-License-Identifier: Apache-2.0
// The control law of one cycle: linearize in contact, see where that leads, feed back from there.
#ifndef LAW_HPP
#define LAW_HPP

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "gains.h"
#include "robot.hpp"

/// Keeps the robot in the posture of the gains. Efforts act one period after the state they answer.
class Law {
 public:
  /// Throws std::runtime_error if the gains are of another model.
  Law() {
    if (std::strcmp(GAINS_MODEL_HASH, ROBOT_MODEL_HASH) != 0 || GAINS_INPUTS != ROBOT_JOINTS)
      throw std::runtime_error("gains.h is of another model, or not all joints are actuated; write it again");
    std::copy_n(gains_tau[0], ROBOT_JOINTS, efforts);
  }

  double efforts[ROBOT_JOINTS];  ///< From the next period on [N m].
  double expected[ROBOT_X] = {}; ///< The state then.

  /// Answers a state; applied are the efforts until the next period, contacts the feet that carry (bits).
  /// Returns a status of the library; if it is not ROBOT_OK, efforts damp the joints.
  int step(const double *x, const double *applied, unsigned contacts) {
    if (!has_begun_) begin(x);
    int status = robot_set_contacts(robot_.get(), contacts);
    if (status == ROBOT_OK)
      status = robot_discretize(robot_.get(), x, applied, GAINS_PERIOD, ROBOT_MIDPOINT, nullptr, nullptr, expected);
    double z[ROBOT_STATES];
    displacement(reference_, expected, z);
    const double *rates = x + ROBOT_X - ROBOT_JOINTS;
    for (int i = 0; i < ROBOT_JOINTS; ++i) {
      double u = gains_tau[0][i];
      for (int j = 0; j < ROBOT_STATES; ++j) u -= gains_K[0][i][j] * z[j];
      if (status != ROBOT_OK) u = -0.05 * robot_effort[i] * rates[i];
      efforts[i] = std::clamp(u, -robot_effort[i], robot_effort[i]);
    }
    return status;
  }

 private:
  robot::Robot robot_;
  double reference_[ROBOT_X];
  bool has_begun_ = false;

  /// The posture of the gains, where the robot stands and as it heads; height and tilt are those of the gains.
  void begin(const double *x) {
    std::copy_n(gains_x[0], ROBOT_X, reference_);
    const double yaw = std::atan2(x[4], x[0]) - std::atan2(reference_[4], reference_[0]);
    for (int j = 0; j < 3; ++j) {
      reference_[j] = std::cos(yaw) * gains_x[0][j] - std::sin(yaw) * gains_x[0][4 + j];
      reference_[4 + j] = std::sin(yaw) * gains_x[0][j] + std::cos(yaw) * gains_x[0][4 + j];
    }
    reference_[3] = x[3], reference_[7] = x[7];
    has_begun_ = true;
  }

  /// z from one state to another: the logarithm of the base's displacement, then differences.
  static void displacement(const double *from, const double *to, double *z) {
    double R[3][3], p[3], half[3];  // of from^-1 to
    for (int i = 0; i < 3; ++i) {
      p[i] = 0.0;
      for (int k = 0; k < 3; ++k) p[i] += from[4 * k + i] * (to[4 * k + 3] - from[4 * k + 3]);
      for (int j = 0; j < 3; ++j) {
        R[i][j] = 0.0;
        for (int k = 0; k < 3; ++k) R[i][j] += from[4 * k + i] * to[4 * k + j];
      }
    }
    for (int i = 0; i < 3; ++i) half[i] = 0.5 * (R[(i + 2) % 3][(i + 1) % 3] - R[(i + 1) % 3][(i + 2) % 3]);
    const double sine = std::hypot(half[0], half[1], half[2]);
    const double cosine = 0.5 * (R[0][0] + R[1][1] + R[2][2] - 1.0), angle = std::atan2(sine, cosine);
    const double *w = z + 3;  // rotation vector
    for (int i = 0; i < 3; ++i) z[3 + i] = half[i] * (sine > 1e-9 ? angle / sine : 1.0);
    const double c = angle > 1e-4 ? (1.0 - 0.5 * angle * sine / (1.0 - cosine)) / (angle * angle) : 1.0 / 12.0;
    double across[3];
    for (int i = 0; i < 3; ++i) across[i] = w[(i + 1) % 3] * p[(i + 2) % 3] - w[(i + 2) % 3] * p[(i + 1) % 3];
    for (int i = 0; i < 3; ++i) {
      const double twice = w[(i + 1) % 3] * across[(i + 2) % 3] - w[(i + 2) % 3] * across[(i + 1) % 3];
      z[i] = p[i] - 0.5 * across[i] + c * twice;
    }
    for (int i = 16; i < ROBOT_X; ++i) z[i - 10] = to[i] - from[i];
  }
};

#endif
