// SPDX-FileCopyrightText: 2026 geolin_ros contributors
// SPDX-License-Identifier: Apache-2.0
// A controller as a program: answers states in shared memory with efforts, once a millisecond.
#include <fcntl.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>

#include "law.hpp"

/// What the robot's driver, here the simulator, and the controller share.
struct Loop {
  sem_t state_is_there, efforts_are_there;
  int64_t is_over, contacts, status;                // contacts: bit k, foot k carries
  double x[ROBOT_X], applied[ROBOT_JOINTS];         // by the driver
  double efforts[ROBOT_JOINTS], expected[ROBOT_X];  // by the controller
};

static Loop *open_loop(const char *path) {
  const int file = open(path, O_RDWR);
  struct stat about;
  if (file < 0 || fstat(file, &about) != 0) return nullptr;
  if (about.st_size != sizeof(Loop)) {
    std::fprintf(stderr, "controller: %s has %ld bytes, expected %zu: another robot?\n", path,
                 static_cast<long>(about.st_size), sizeof(Loop));
    return nullptr;
  }
  void *memory = mmap(nullptr, sizeof(Loop), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<Loop *>(memory);
}

/// Whether a state came within five seconds.
static bool wait_for_state(Loop *loop) {
  timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 5;
  int failed;
  while ((failed = sem_timedwait(&loop->state_is_there, &until)) != 0 && errno == EINTR) {
  }
  return failed == 0;
}

int main(int count, char **words) try {
  if (count != 2) {
    std::fprintf(stderr, "usage: controller FILE, which the simulator writes\n");
    return 2;
  }
  Loop *loop = open_loop(words[1]);
  if (loop == nullptr) {
    std::fprintf(stderr, "controller: %s cannot be used as shared memory\n", words[1]);
    return 1;
  }
  Law law;
  mlockall(MCL_CURRENT | MCL_FUTURE);  // where it is not allowed pages are found when they are touched
  while (wait_for_state(loop)) {
    if (loop->is_over) return 0;
    loop->status = law.step(loop->x, loop->applied, static_cast<unsigned>(loop->contacts));
    std::copy_n(law.efforts, ROBOT_JOINTS, loop->efforts);
    std::copy_n(law.expected, ROBOT_X, loop->expected);
    sem_post(&loop->efforts_are_there);
  }
  std::fprintf(stderr, "controller: no state within 5 s\n");
  return 1;
} catch (const std::exception &error) {
  std::fprintf(stderr, "controller: %s\n", error.what());
  return 1;
}
