// SPDX-FileCopyrightText: 2026 geolin_ros contributors
// SPDX-License-Identifier: Apache-2.0
// States and efforts from standard input; to standard output each as the message that `fill` makes of
// it, as DDS sends it, its size before it.
#include <robot.hpp>

#include <cstdio>
#include <iterator>
#include <rmw/rmw.h>
#include <rosidl_typesupport_cpp/message_type_support.hpp>

int main() {
  using Message = geolin_msgs::msg::LinearizedDynamics;
  const auto *type = rosidl_typesupport_cpp::get_message_type_support_handle<Message>();
  robot::Robot robot;
  Message message;
  double given[ROBOT_X + ROBOT_JOINTS], *tau = given + ROBOT_X;
  while (std::fread(given, sizeof given, 1, stdin) == 1) {
    robot::Robot::check(robot.linearize(given, tau));
    robot.fill(message, given, tau);
    rmw_serialized_message_t bytes = rmw_get_zero_initialized_serialized_message();
    const auto allocator = rcutils_get_default_allocator();
    if (rmw_serialized_message_init(&bytes, 0, &allocator) != RMW_RET_OK) return 1;
    if (rmw_serialize(&message, type, &bytes) != RMW_RET_OK) return 2;
    std::fwrite(&bytes.buffer_length, sizeof bytes.buffer_length, 1, stdout);
    std::fwrite(bytes.buffer, bytes.buffer_length, 1, stdout);
    if (rmw_serialized_message_fini(&bytes) != RMW_RET_OK) return 3;
  }
}
