// SPDX-FileCopyrightText: 2026 geolin_ros contributors
// SPDX-License-Identifier: Apache-2.0
/// Says how far the poles of a robot are to the right, without feedback and with that of lqr_node.

#include <Eigen/Eigenvalues>
#include <cpp_consumer/matrices.hpp>
#include <optional>
#include <rclcpp/rclcpp.hpp>

using geolin_msgs::msg::FeedbackGains;
using geolin_msgs::msg::LinearizedDynamics;

/// The largest real part of the eigenvalues [1/s].
double abscissa(const cpp_consumer::Matrix &a) { return a.eigenvalues().real().maxCoeff(); }

class Consumer : public rclcpp::Node {
 public:
  Consumer() : Node("consumer") {
    gains_of_ = create_subscription<FeedbackGains>(
        "lqr_node/gains", 1, [this](const FeedbackGains &gains) { gains_ = gains; });
    dynamics_of_ = create_subscription<LinearizedDynamics>(
        "linearizer/linearization", 1,
        [this](const LinearizedDynamics &dynamics) { dynamics_ = dynamics; });
    timer_ = create_wall_timer(std::chrono::seconds(1), [this] { report(); });
  }

 private:
  void report() {
    if (!dynamics_ || dynamics_->form != LinearizedDynamics::FORM_CONTINUOUS) {
      RCLCPP_INFO(get_logger(), "waits for a linearization in continuous form");
      return;
    }
    try {
      RCLCPP_INFO(get_logger(), "%s: open loop %.9g 1/s", dynamics_->model_name.c_str(),
                  abscissa(cpp_consumer::view(dynamics_->a)));
      if (gains_) {
        RCLCPP_INFO(get_logger(), "closed loop %.9g 1/s",
                    abscissa(cpp_consumer::closed_loop(*dynamics_, *gains_)));
      }
    } catch (const std::invalid_argument &error) {
      RCLCPP_ERROR(get_logger(), "%s", error.what());
    }
  }

  std::optional<LinearizedDynamics> dynamics_;
  std::optional<FeedbackGains> gains_;
  rclcpp::Subscription<LinearizedDynamics>::SharedPtr dynamics_of_;
  rclcpp::Subscription<FeedbackGains>::SharedPtr gains_of_;
  rclcpp::TimerBase::SharedPtr timer_;
};

int main(int argc, char **argv) {
  rclcpp::init(argc, argv);
  rclcpp::spin(std::make_shared<Consumer>());
  rclcpp::shutdown();
}
