// SPDX-FileCopyrightText: 2026 geolin_ros contributors
// SPDX-License-Identifier: Apache-2.0
// Pinocchio from its headers alone, so that compiler and processor are chosen here. Models come as
// text: objects of the wheel's library have another alignment.
#include <pinocchio/multibody.hpp>
#include <pinocchio/constraints.hpp>
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/constrained-dynamics-derivatives.hpp>
#include <pinocchio/serialization.hpp>

struct Robot {
  pinocchio::Model model;
  pinocchio::Data data;
  std::vector<pinocchio::RigidConstraintModel> contacts;
  std::vector<pinocchio::RigidConstraintData> contact_data;
};

using Vector = Eigen::Map<const Eigen::VectorXd>;

extern "C" Robot *read_robot(const char *path) {
  pinocchio::Model model;
  pinocchio::serialization::loadFromText(model, path);
  return new Robot{model, pinocchio::Data(model), {}, {}};
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

// Bodies that frames keep at rest: points, or where `whole` says so surfaces.
extern "C" void hold(Robot *robot, int count, const int *frames, const int *whole) {
  const auto &model = robot->model;
  for (int k = 0; k < count; ++k) {
    const auto &frame = model.frames[frames[k]];
    const auto kind = whole[k] ? pinocchio::CONTACT_6D : pinocchio::CONTACT_3D;
    robot->contacts.emplace_back(kind, model, frame.parentJoint, frame.placement, 0, pinocchio::SE3::Identity(),
                                 pinocchio::LOCAL);
  }
  for (const auto &contact : robot->contacts) robot->contact_data.emplace_back(contact);
  pinocchio::initConstraintDynamics(model, robot->data, robot->contacts, robot->contact_data);
}

// Accelerations and forces in contact and their derivatives, `repeats` times; to `a` the
// accelerations and their derivatives by the efforts.
extern "C" void contact_derivatives(
    Robot *robot, const double *q, const double *v, const double *tau, int repeats, double *a) {
  const auto &model = robot->model;
  auto &data = robot->data;
  const Eigen::VectorXd q_ = Vector(q, model.nq), v_ = Vector(v, model.nv),
                        tau_ = Vector(tau, model.nv);
  pinocchio::ProximalSettings exact(1e-15, 0.0, 1);
  for (int k = 0; k < repeats; ++k) {
    pinocchio::constraintDynamics(
        model, data, q_, v_, tau_, robot->contacts, robot->contact_data, exact);
    pinocchio::computeConstraintDynamicsDerivatives(
        model, data, robot->contacts, robot->contact_data, exact);
  }
  Eigen::Map<Eigen::VectorXd>(a, model.nv) = data.ddq;
  Eigen::Map<Eigen::MatrixXd>(a + model.nv, model.nv, model.nv) = data.ddq_dtau;
}
