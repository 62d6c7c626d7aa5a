// SPDX-FileCopyrightText: 2026 geolin_ros contributors
// SPDX-License-Identifier: Apache-2.0
/// closed_loop LINEARIZATION GAINS: reads both as DDS sends them, prints A - B (K + K_complement).

#include <cpp_consumer/matrices.hpp>
#include <fstream>
#include <iostream>
#include <iterator>
#include <rmw/rmw.h>
#include <rosidl_typesupport_cpp/message_type_support.hpp>
#include <vector>

template <typename Message>
Message read(const char *path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  rmw_serialized_message_t serialized = rmw_get_zero_initialized_serialized_message();
  serialized.buffer = reinterpret_cast<uint8_t *>(bytes.data());
  serialized.buffer_length = serialized.buffer_capacity = bytes.size();
  Message message;
  const auto *type = rosidl_typesupport_cpp::get_message_type_support_handle<Message>();
  if (rmw_deserialize(&serialized, type, &message) != RMW_RET_OK) {
    throw std::runtime_error(std::string("cannot read ") + path);
  }
  return message;
}

int main(int, char **argv) try {
  const auto dynamics = read<geolin_msgs::msg::LinearizedDynamics>(argv[1]);
  const auto gains = read<geolin_msgs::msg::FeedbackGains>(argv[2]);
  const auto a = cpp_consumer::view(dynamics.a);
  if (a.data() != dynamics.a.data.data()) throw std::logic_error("the view is a copy");
  std::cout.precision(17);
  std::cout << cpp_consumer::closed_loop(dynamics, gains) << '\n';
} catch (const std::exception &error) {
  std::cerr << error.what() << '\n';
  return 1;
}
