// SPDX-FileCopyrightText: 2026 geolin_ros contributors
// SPDX-License-Identifier: Apache-2.0
// Pinocchio from its headers alone, so that compiler and processor are chosen here. Models come as
// text: objects of the wheel's library have another alignment.
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/serialization.hpp>

struct Robot {
  pinocchio::Model model;
  pinocchio::Data data;
};

using Vector = Eigen::Map<const Eigen::VectorXd>;

extern "C" Robot *read_robot(const char *path) {
  pinocchio::Model model;
  pinocchio::serialization::loadFromText(model, path);
  return new Robot{model, pinocchio::Data(model)};
}

// Derivatives of the accelerations, `repeats` times; the accelerations themselves to `a`.
extern "C" void derivatives(
    Robot *robot, const double *q, const double *v, const double *tau, int repeats, double *a) {
  const auto &model = robot->model;
  const Eigen::VectorXd q_ = Vector(q, model.nq), v_ = Vector(v, model.nv),
                        tau_ = Vector(tau, model.nv);
  for (int k = 0; k < repeats; ++k)
    pinocchio::computeABADerivatives(model, robot->data, q_, v_, tau_);
  Eigen::Map<Eigen::VectorXd>(a, model.nv) = robot->data.ddq;
}
