// SPDX-FileCopyrightText: 2026 geolin_ros contributors
// SPDX-License-Identifier: Apache-2.0
/// Matrices of geolin_msgs as Eigen sees them. Needs the messages and Eigen alone.
#pragma once

#include <Eigen/Core>
#include <geolin_msgs/msg/feedback_gains.hpp>
#include <geolin_msgs/msg/linearized_dynamics.hpp>
#include <stdexcept>
#include <string>

namespace cpp_consumer {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A view of a matrix in a message, without a copy: it lives as long as the message does.
inline Eigen::Map<const Matrix> view(const geolin_msgs::msg::Matrix &matrix) {
  if (std::size_t{matrix.rows} * matrix.cols != matrix.data.size()) {
    throw std::invalid_argument(
        "matrix of " + std::to_string(matrix.rows) + " x " + std::to_string(matrix.cols) +
        " has " + std::to_string(matrix.data.size()) + " entries");
  }
  return {matrix.data.data(), matrix.rows, matrix.cols};
}

/// A - B (K + K_complement): how z moves on under u = feedforward - (K + K_complement) z.
/// Rows and columns as in LinearizedDynamics, of which `dynamics` may have either form.
inline Matrix closed_loop(const geolin_msgs::msg::LinearizedDynamics &dynamics,
                          const geolin_msgs::msg::FeedbackGains &gains) {
  if (dynamics.model_hash != gains.model_hash ||
      dynamics.actuated_joints != gains.actuated_joints) {
    throw std::invalid_argument("gains are of another model, " + gains.model_hash +
                                ", the linearization is of " + dynamics.model_hash);
  }
  const auto a = view(dynamics.a), b = view(dynamics.b), k = view(gains.k);
  if (a.rows() != a.cols() || b.rows() != a.rows() || k.rows() != b.cols() ||
      k.cols() != a.cols()) {
    throw std::invalid_argument("shapes of a, b and k do not fit");
  }
  Matrix loop = a - b * k;
  if (!gains.k_complement.data.empty()) loop -= b * view(gains.k_complement);
  return loop;
}

}  // namespace cpp_consumer
