// SPDX-FileCopyrightText: 2026 geolin_ros contributors
// SPDX-License-Identifier: Apache-2.0
// The law of law.hpp as a controller of ros2_control (Jazzy or later): joints by their interfaces,
// the base from the topic odom, all feet taken to carry. Its update rate has to be that of the gains.
#include <controller_interface/controller_interface.hpp>
#include <hardware_interface/types/hardware_interface_type_values.hpp>
#include <nav_msgs/msg/odometry.hpp>
#include <pluginlib/class_list_macros.hpp>

#include <array>
#include <memory>
#include <mutex>
#include <string>

#include "law.hpp"

namespace cpp_controller {

using controller_interface::CallbackReturn;
using controller_interface::InterfaceConfiguration;
using controller_interface::interface_configuration_type;

class GeolinController : public controller_interface::ControllerInterface {
 public:
  CallbackReturn on_init() override { return CallbackReturn::SUCCESS; }

  InterfaceConfiguration command_interface_configuration() const override {
    return {interface_configuration_type::INDIVIDUAL, interfaces({hardware_interface::HW_IF_EFFORT})};
  }

  InterfaceConfiguration state_interface_configuration() const override {
    return {interface_configuration_type::INDIVIDUAL,
            interfaces({hardware_interface::HW_IF_POSITION, hardware_interface::HW_IF_VELOCITY})};
  }

  CallbackReturn on_configure(const rclcpp_lifecycle::State &) override {
    if (get_update_rate() != 0 && std::abs(get_update_rate() * GAINS_PERIOD - 1.0) > 1e-3) {
      RCLCPP_ERROR(get_node()->get_logger(), "update_rate is %u Hz, expected %g Hz, that of the gains",
                   get_update_rate(), 1.0 / GAINS_PERIOD);
      return CallbackReturn::ERROR;
    }
    odometry_ = get_node()->create_subscription<nav_msgs::msg::Odometry>(
        "odom", rclcpp::SensorDataQoS(), [this](const nav_msgs::msg::Odometry &message) { take(message); });
    return CallbackReturn::SUCCESS;
  }

  CallbackReturn on_activate(const rclcpp_lifecycle::State &) override {
    try {
      law_ = std::make_unique<Law>();
    } catch (const std::exception &error) {
      RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
      return CallbackReturn::ERROR;
    }
    return CallbackReturn::SUCCESS;
  }

  CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) override {
    for (auto &command : command_interfaces_)
      if (!command.set_value(0.0)) return CallbackReturn::ERROR;
    return CallbackReturn::SUCCESS;
  }

  controller_interface::return_type update(const rclcpp::Time &, const rclcpp::Duration &) override {
    using controller_interface::return_type;
    if (std::unique_lock lock(mutex_, std::try_to_lock); lock) {  // else the base of the cycle before
      if (!has_base_) return return_type::OK;
      std::copy_n(pose_.data(), 16, x_);
      std::copy_n(twist_.data(), 6, x_ + 16 + ROBOT_JOINTS);
    }
    for (int i = 0; i < ROBOT_JOINTS; ++i) {
      const auto position = state_interfaces_[2 * i].get_optional(), rate = state_interfaces_[2 * i + 1].get_optional();
      if (!position || !rate) return return_type::ERROR;
      x_[16 + i] = *position, x_[22 + ROBOT_JOINTS + i] = *rate;
    }
    const std::array<double, ROBOT_JOINTS> applied = efforts_;
    const int status = law_->step(x_, applied.data(), (1u << ROBOT_CONTACTS) - 1);
    std::copy_n(law_->efforts, ROBOT_JOINTS, efforts_.begin());
    for (int i = 0; i < ROBOT_JOINTS; ++i)
      if (!command_interfaces_[i].set_value(efforts_[i])) return return_type::ERROR;
    return status == ROBOT_OK ? return_type::OK : return_type::ERROR;
  }

 private:
  /// Names of interfaces, joint by joint in the order of the library.
  static std::vector<std::string> interfaces(std::initializer_list<const char *> kinds) {
    std::vector<std::string> names;
    for (int i = 0; i < ROBOT_JOINTS; ++i)
      for (const char *kind : kinds) names.push_back(std::string(robot_joint_names[i]) + "/" + kind);
    return names;
  }

  void take(const nav_msgs::msg::Odometry &message) {
    const auto &p = message.pose.pose.position;
    const auto &q = message.pose.pose.orientation;
    const auto &v = message.twist.twist.linear, &w = message.twist.twist.angular;
    const double s = 2.0 / (q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    const std::lock_guard lock(mutex_);
    pose_ = {1.0 - s * (q.y * q.y + q.z * q.z), s * (q.x * q.y - q.z * q.w), s * (q.x * q.z + q.y * q.w), p.x,
             s * (q.x * q.y + q.z * q.w), 1.0 - s * (q.x * q.x + q.z * q.z), s * (q.y * q.z - q.x * q.w), p.y,
             s * (q.x * q.z - q.y * q.w), s * (q.y * q.z + q.x * q.w), 1.0 - s * (q.x * q.x + q.y * q.y), p.z,
             0.0, 0.0, 0.0, 1.0};
    twist_ = {v.x, v.y, v.z, w.x, w.y, w.z};
    has_base_ = true;
  }

  std::unique_ptr<Law> law_;
  rclcpp::Subscription<nav_msgs::msg::Odometry>::SharedPtr odometry_;
  std::mutex mutex_;  // of the three below
  std::array<double, 16> pose_{};
  std::array<double, 6> twist_{};
  bool has_base_ = false;
  double x_[ROBOT_X] = {};
  std::array<double, ROBOT_JOINTS> efforts_{};
};

}  // namespace cpp_controller

PLUGINLIB_EXPORT_CLASS(cpp_controller::GeolinController, controller_interface::ControllerInterface)
