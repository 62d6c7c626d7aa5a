// SPDX-FileCopyrightText: 2026 geolin_ros contributors
// SPDX-License-Identifier: Apache-2.0
// {{robot}} as a component of ROS 2: joint states and odometry in, A and B out, with the topics, QoS and
// pairing of the node linearizer of geolin_ros.
#include <{{name}}.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nav_msgs/msg/odometry.hpp>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_components/register_node_macro.hpp>
#include <sensor_msgs/msg/joint_state.hpp>

namespace {{name}} {

using geolin_msgs::msg::LinearizedDynamics;
using nav_msgs::msg::Odometry;
using sensor_msgs::msg::JointState;

constexpr int actuated[] = {{{input_joints}}};  // joints with efforts; -1 ends the list
constexpr double effort_scale[] = {{{effort_scale}}}, effort_offset[] = {{{effort_offset}}};
//: contacts
constexpr struct {
  const char *frame, *link;
  std::uint8_t kind;
  double kp, kd, placement[7], reference[7];  // poses: position, quaternion x y z w
} contacts[] = {
{{contact_states}}
};
//: end

/// H exp(z) of a pose H (4 x 4 by rows) and z = [u; w], by Rodrigues' formula.
inline void displace(const double *H, const double *z, double *to) {
  const double *w = z + 3, x = w[0] * w[0] + w[1] * w[1] + w[2] * w[2], t = std::sqrt(x);
  const double a = x > 1e-16 ? std::sin(t) / t : 1.0, half = x > 1e-16 ? std::sin(0.5 * t) / t : 0.5;
  const double b = 2.0 * half * half, c = x > 1e-16 ? (1.0 - a) / x : 1.0 / 6.0;
  for (int j = 0; j < 4; ++j) {  // column j of exp(z) is y + p w x y + q w x (w x y)
    const double y[3] = {j < 3 ? j == 0 : z[0], j < 3 ? j == 1 : z[1], j < 3 ? j == 2 : z[2]};
    const double p = j < 3 ? a : b, q = j < 3 ? b : c;
    const double wy[3] = {w[1] * y[2] - w[2] * y[1], w[2] * y[0] - w[0] * y[2], w[0] * y[1] - w[1] * y[0]};
    const double e[3] = {y[0] + p * wy[0] + q * (w[1] * wy[2] - w[2] * wy[1]),
                         y[1] + p * wy[1] + q * (w[2] * wy[0] - w[0] * wy[2]),
                         y[2] + p * wy[2] + q * (w[0] * wy[1] - w[1] * wy[0])};
    for (int i = 0; i < 3; ++i)
      to[4 * i + j] = H[4 * i] * e[0] + H[4 * i + 1] * e[1] + H[4 * i + 2] * e[2] + (j < 3 ? 0.0 : H[4 * i + 3]);
  }
}

class Linearizer : public rclcpp::Node {
 public:
  explicit Linearizer(const rclcpp::NodeOptions &options) : Node("linearizer", options) {
    max_skew_ = declare_parameter("max_skew", 0.05);
    const auto source = declare_parameter("torque_source", "effort");
    if (source != "effort" && source != "zero")
      throw std::invalid_argument("parameter torque_source is '" + source + "', expected effort or zero");
    has_efforts_ = source == "effort";
//: contacts
    auto &held = message_.contact_dynamics;
    held.source = held.SOURCE_PARAMETER;
    held.smallest_kept = std::nan("");  // not computed: dependent contacts are refused
    for (const auto &contact : contacts) {
      auto &state = held.contacts.emplace_back();
      state.frame = contact.frame, state.link = contact.link, state.kind = contact.kind, state.active = true;
      state.kp = contact.kp, state.kd = contact.kd;
      for (auto [to, from] : {std::pair(&state.placement, contact.placement), {&state.reference, contact.reference}}) {
        to->position.x = from[0], to->position.y = from[1], to->position.z = from[2];
        to->orientation.x = from[3], to->orientation.y = from[4];
        to->orientation.z = from[5], to->orientation.w = from[6];
      }
    }
//: end
    for (int i = 0; i < 16; i += 5) pose_[i] = x_[i] = 1.0;
    publisher_ = create_publisher<LinearizedDynamics>("~/linearization", 1);
    const auto inputs = rclcpp::QoS(20).best_effort();
    if ({{NAME}}_FLOATING_BASE)
      odometry_of_ = create_subscription<Odometry>("odom", inputs, [this](const Odometry &message) { take(message); });
    joints_of_ = create_subscription<JointState>("joint_states", inputs, [this](const JointState &message) {
      try {
        linearize(message);
      } catch (const std::exception &error) {
        RCLCPP_WARN_THROTTLE(get_logger(), *get_clock(), 5000, "joint state dropped: %s", error.what());
      }
    });
  }

 private:
  static std::int64_t nanoseconds(const builtin_interfaces::msg::Time &time) {
    return 1'000'000'000 * std::int64_t(time.sec) + time.nanosec;
  }

  /// Throws unless a stamp is after the last one, or of a clock that was set back.
  static std::int64_t later(std::int64_t stamp, std::int64_t last) {
    if (stamp <= last && last - stamp < 1'000'000'000)
      throw std::invalid_argument("its stamp is not after the last one; check the publisher's clock");
    return stamp;
  }

  /// Keeps pose and twist of the base.
  void take(const Odometry &message) try {
    const auto &p = message.pose.pose.position;
    const auto &q = message.pose.pose.orientation;
    const auto &v = message.twist.twist.linear, &w = message.twist.twist.angular;
    if (message.child_frame_id != {{name}}_base_link)
      throw std::invalid_argument("it is of frame '" + message.child_frame_id + "', expected " + {{name}}_base_link);
    const double square = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w, s = 2.0 / square;
    if (!(std::abs(std::sqrt(square) - 1.0) <= 0.01))
      throw std::invalid_argument("the length of its quaternion is " + std::to_string(std::sqrt(square)) + ", expected 1");
    base_stamp_ = later(nanoseconds(message.header.stamp), base_stamp_);
    const double pose[] = {
        1.0 - s * (q.y * q.y + q.z * q.z), s * (q.x * q.y - q.w * q.z), s * (q.x * q.z + q.w * q.y), p.x,
        s * (q.x * q.y + q.w * q.z), 1.0 - s * (q.x * q.x + q.z * q.z), s * (q.y * q.z - q.w * q.x), p.y,
        s * (q.x * q.z - q.w * q.y), s * (q.y * q.z + q.w * q.x), 1.0 - s * (q.x * q.x + q.y * q.y), p.z};
    std::copy_n(pose, 12, pose_);
    const double twist[] = {v.x, v.y, v.z, w.x, w.y, w.z};
    std::copy_n(twist, 6, x_ + 16 + {{NAME}}_JOINTS);
    message_.header.frame_id = message.header.frame_id;
    message_.odometry_stamp = message.header.stamp;
  } catch (const std::exception &error) {
    RCLCPP_WARN_THROTTLE(get_logger(), *get_clock(), 5000, "odometry dropped: %s", error.what());
  }

  /// Copies one number a joint, found by name.
  void read(const JointState &message, const std::vector<double> &from, const char *what, double *to) {
    if (message.name != names_) {
      for (int j = 0; j < {{NAME}}_JOINTS; ++j) {
        const auto at = std::find(message.name.begin(), message.name.end(), {{name}}_joint_names[j]);
        if (at == message.name.end()) throw std::invalid_argument(std::string("it lacks joint ") + {{name}}_joint_names[j]);
        place_[j] = static_cast<std::size_t>(at - message.name.begin());
      }
      names_ = message.name;
    }
    if (from.size() != names_.size()) throw std::invalid_argument(std::string(what) + " has not one entry a name");
    for (int j = 0; j < {{NAME}}_JOINTS; ++j) to[j] = from[place_[j]];
  }

  void linearize(const JointState &message) {
    const auto start = std::chrono::steady_clock::now();
    const auto stamp = stamp_ = later(nanoseconds(message.header.stamp), stamp_);
    read(message, message.position, "position", x_ + 16);
    read(message, message.velocity, "velocity", x_ + 22 + {{NAME}}_JOINTS);
    if (has_efforts_) {
      read(message, message.effort, "effort", efforts_);
      for (const int *j = actuated; *j >= 0; ++j) tau_[*j] = effort_scale[*j] * efforts_[*j] - effort_offset[*j];
    }
    if ({{NAME}}_FLOATING_BASE) {  // the newest odometry, carried along its twist
      rclcpp::MessageInfo info;  // what waits in the queue too: executors call in an order of their own
      while (odometry_of_->take(waiting_, info)) take(waiting_);
      if (base_stamp_ == NEVER) throw std::invalid_argument("there is no odometry yet");
      const double dt = static_cast<double>(stamp - base_stamp_) * 1e-9;
      if (std::abs(dt) > max_skew_)
        throw std::invalid_argument("the newest odometry is " + std::to_string(dt) +
                                    " s away, expected at most max_skew = " + std::to_string(max_skew_) + " s");
      double step[6];
      for (int i = 0; i < 6; ++i) step[i] = x_[16 + {{NAME}}_JOINTS + i] * dt;
      displace(pose_, step, x_);
    } else {
      message_.header.frame_id = {{name}}_base_link;
    }
    Robot::check(robot_.linearize(x_, tau_));
    robot_.fill(message_, x_, tau_);
    message_.header.stamp = message.header.stamp;
    message_.effort_source = has_efforts_ ? LinearizedDynamics::EFFORT_MEASURED : LinearizedDynamics::EFFORT_ZERO;
//: contacts
    auto &held = message_.contact_dynamics;
    const auto forces = robot_.forces();
    held.rank = static_cast<unsigned>(forces.size());
    held.wrenches.assign(forces.data(), forces.data() + forces.size());
    Robot::assign(held.wrench_by_state, robot_.forces_by_state());
    Robot::assign(held.wrench_by_tau, robot_.forces_by_effort());
    const double *force = forces.data();
    for (auto &contact : held.contacts) {
      auto &wrench = contact.wrench;
      wrench.force.x = force[0], wrench.force.y = force[1], wrench.force.z = force[2], force += 3;
      if (contact.kind != contact.KIND_SURFACE) continue;
      wrench.torque.x = force[0], wrench.torque.y = force[1], wrench.torque.z = force[2], force += 3;
    }
//: end
    message_.compute_time = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    publisher_->publish(message_);
  }

  static constexpr std::int64_t NEVER = -4'000'000'000'000'000'000;
  Robot robot_;
  LinearizedDynamics message_;
  Odometry waiting_;
  double max_skew_, pose_[16] = {}, x_[{{NAME}}_X] = {}, efforts_[{{NAME}}_JOINTS + 1] = {}, tau_[{{NAME}}_JOINTS + 1] = {};
  bool has_efforts_;
  std::int64_t stamp_ = NEVER, base_stamp_ = NEVER;
  std::vector<std::string> names_;
  std::size_t place_[{{NAME}}_JOINTS + 1] = {};
  rclcpp::Publisher<LinearizedDynamics>::SharedPtr publisher_;
  rclcpp::Subscription<Odometry>::SharedPtr odometry_of_;
  rclcpp::Subscription<JointState>::SharedPtr joints_of_;
};

}  // namespace {{name}}

RCLCPP_COMPONENTS_REGISTER_NODE({{name}}::Linearizer)
