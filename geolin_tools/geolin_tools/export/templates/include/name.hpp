// SPDX-FileCopyrightText: 2026 geolin_ros contributors
// SPDX-License-Identifier: Apache-2.0
// {{name}}.h for C++17: an instance that cleans up, matrices of Eigen if it is there, else plain views.
#ifndef {{NAME}}_HPP
#define {{NAME}}_HPP

#include <{{name}}.h>

#include <cmath>
#include <cstddef>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#if __has_include(<Eigen/Core>)
#include <Eigen/Core>
#endif
#if __has_include(<geolin_msgs/msg/linearized_dynamics.hpp>)
#include <geolin_msgs/msg/linearized_dynamics.hpp>
#endif

namespace {{name}} {

#if __has_include(<Eigen/Core>)
using Matrix = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
using Vector = Eigen::Map<const Eigen::VectorXd>;
#else
/// Rows of numbers, one after another, of somebody else's memory.
class Matrix {
 public:
  Matrix(const double *data, std::ptrdiff_t rows, std::ptrdiff_t cols) : data_(data), rows_(rows), cols_(cols) {}
  double operator()(std::ptrdiff_t i, std::ptrdiff_t j) const { return data_[i * cols_ + j]; }
  const double *data() const { return data_; }
  std::ptrdiff_t rows() const { return rows_; }
  std::ptrdiff_t cols() const { return cols_; }

 private:
  const double *data_;
  std::ptrdiff_t rows_, cols_;
};

/// Numbers of somebody else's memory.
class Vector {
 public:
  Vector(const double *data, std::ptrdiff_t size) : data_(data), size_(size) {}
  double operator[](std::ptrdiff_t i) const { return data_[i]; }
  const double *data() const { return data_; }
  const double *begin() const { return data_; }
  const double *end() const { return data_ + size_; }
  std::ptrdiff_t size() const { return size_; }

 private:
  const double *data_;
  std::ptrdiff_t size_;
};
#endif

/// A status that is not success.
class Error : public std::runtime_error {
 public:
  explicit Error(int status) : std::runtime_error({{name}}_status_text(status)), status(status) {}
  const int status;
};

/// The robot with memory of its own; one per thread. It allocates when it is made, never later.
class Robot {
 public:
  /// Throws std::bad_alloc if there is no memory, or no level of the library runs on this processor.
  Robot() : robot_({{name}}_create(), {{name}}_destroy) {
    if (!robot_) throw std::bad_alloc();
  }

  {{name}}_t *get() { return robot_.get(); }

  /// Linearizes about x ({{NAME}}_X) and tau ({{NAME}}_JOINTS); returns the status and throws nothing.
  int linearize(const double *x, const double *tau) noexcept {
    return {{name}}_linearize(get(), x, tau, nullptr, nullptr, nullptr);
  }

  // Of the last linearization, valid until the next call.
  Matrix A() const { return {{{name}}_A(robot_.get()), {{NAME}}_STATES, {{NAME}}_STATES}; }
  Matrix B() const { return {{{name}}_B(robot_.get()), {{NAME}}_STATES, {{NAME}}_INPUTS}; }
  Vector nu_dot() const { return {{{name}}_nu_dot(robot_.get()), {{NAME}}_M}; }
//: contacts
  void set_contacts(unsigned set) { check({{name}}_set_contacts(get(), set)); }
  int contact_rows() const { return {{name}}_contact_rows(robot_.get()); }
  Vector forces() const { return {{{name}}_forces(robot_.get()), contact_rows()}; }
  Matrix forces_by_state() const {
    return {{{name}}_forces_by_state(robot_.get()), contact_rows(), {{NAME}}_STATES};
  }
  Matrix forces_by_effort() const {
    return {{{name}}_forces_by_effort(robot_.get()), contact_rows(), {{NAME}}_INPUTS};
  }
//: end

  /// Throws Error unless a status is success.
  static void check(int status) {
    if (status != {{NAME}}_OK) throw Error(status);
  }

#if __has_include(<geolin_msgs/msg/linearized_dynamics.hpp>)
  /// Fills names, state, A, B and nu_dot of a message; stamp, contacts and wrenches are the caller's.
  void fill(geolin_msgs::msg::LinearizedDynamics &message, const double *x, const double *tau) const {
    using Message = geolin_msgs::msg::LinearizedDynamics;
    message.model_name = "{{robot}}";
    message.model_hash = {{NAME}}_MODEL_HASH;
    message.base_frame = {{name}}_base_link;
    message.floating_base = {{NAME}}_FLOATING_BASE;
    message.joint_names.assign({{name}}_joint_names, {{name}}_joint_names + {{NAME}}_JOINTS);
    message.actuated_joints = {{{actuated}}};
    message.joint_efforts.assign(tau, tau + {{NAME}}_JOINTS);
    message.effort_source = Message::EFFORT_GIVEN;
    message.nu_dot_source = Message::NU_DOT_PREDICTED;
    message.reference = Message::REFERENCE_MOVING;
    message.form = Message::FORM_CONTINUOUS;
    message.method = Message::METHOD_NONE;
    message.representation = Message::REPRESENTATION_BODY;
    message.gravity.x = {{gravity_x}}, message.gravity.y = {{gravity_y}}, message.gravity.z = {{gravity_z}};
    auto &state = message.state;
    auto &pose = state.base_pose;
    pose.position.x = x[3], pose.position.y = x[7], pose.position.z = x[11];
    quaternion(x, pose.orientation);
    const double *v = x + 16 + {{NAME}}_JOINTS;
    state.joint_positions.assign(x + 16, v);
    auto &twist = state.base_twist;
    twist.linear.x = v[0], twist.linear.y = v[1], twist.linear.z = v[2];
    twist.angular.x = v[3], twist.angular.y = v[4], twist.angular.z = v[5];
    state.joint_rates.assign(v + 6, v + 6 + {{NAME}}_JOINTS);
    message.nu_dot.assign(nu_dot().data(), nu_dot().data() + {{NAME}}_M);
    message.drift.assign({{NAME}}_STATES, 0.0);
    assign(message.a, A());
    assign(message.b, B());
  }

  /// Fills a matrix of a message.
  static void assign(geolin_msgs::msg::Matrix &to, const Matrix &from) {
    to.rows = static_cast<unsigned>(from.rows()), to.cols = static_cast<unsigned>(from.cols());
    to.data.assign(from.data(), from.data() + from.rows() * from.cols());
  }

 private:
  /// The unit quaternion of a rotation, from its largest entry.
  template <class Quaternion>
  static void quaternion(const double *H, Quaternion &q) {
    const double R[3][3] = {{H[0], H[1], H[2]}, {H[4], H[5], H[6]}, {H[8], H[9], H[10]}};
    double *to[3] = {&q.x, &q.y, &q.z};
    const double trace = R[0][0] + R[1][1] + R[2][2];
    int i = 0;
    for (int k = 1; k < 3; ++k)
      if (R[k][k] > R[i][i]) i = k;
    if (trace > R[i][i]) {
      q.w = 0.5 * std::sqrt(1.0 + trace);
      for (int k = 0; k < 3; ++k) *to[k] = (R[(k + 2) % 3][(k + 1) % 3] - R[(k + 1) % 3][(k + 2) % 3]) / (4.0 * q.w);
      return;
    }
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double size = 0.5 * std::sqrt(1.0 + R[i][i] - R[j][j] - R[k][k]);
    *to[i] = size;
    *to[j] = (R[j][i] + R[i][j]) / (4.0 * size), *to[k] = (R[k][i] + R[i][k]) / (4.0 * size);
    q.w = (R[k][j] - R[j][k]) / (4.0 * size);
  }
#endif

 private:
  std::unique_ptr<{{name}}_t, void (*)({{name}}_t *)> robot_;
};

}  // namespace {{name}}

#endif
