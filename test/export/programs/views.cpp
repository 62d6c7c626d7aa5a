// SPDX-FileCopyrightText: 2026 geolin_ros contributors
// SPDX-License-Identifier: Apache-2.0
// The C++ header, with Eigen and without.
#include <robot.hpp>

#include <cstdio>

int main() {
  robot::Robot quadruped;
  double x[ROBOT_X] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, tau[ROBOT_JOINTS] = {};
  for (int i = 16; i < ROBOT_X; ++i) x[i] = 0.1 * i - 2.0;
  robot::Robot::check(quadruped.linearize(x, tau));
  const auto A = quadruped.A();
  std::printf("A %d x %d\n", static_cast<int>(A.rows()), static_cast<int>(A.cols()));
  for (int i = 0; i < A.rows(); ++i)
    for (int j = 0; j < A.cols(); ++j) std::printf("%a ", A(i, j));
  for (int i = 0; i < quadruped.contact_rows(); ++i) std::printf("%a ", quadruped.forces()[i]);
  try {
    quadruped.set_contacts(16);
  } catch (const robot::Error &error) {
    std::printf("\n%d %s\n", error.status, error.what());
  }
}
