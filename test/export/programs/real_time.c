/* SPDX-FileCopyrightText: 2026 geolin_ros contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every call after init, where malloc ends the program, the kernel kills it for any system call but
 * read, write and exit, and an invalid operation, a division by zero or an overflow is a signal. */
#define _GNU_SOURCE
#include <fenv.h>
#include <linux/seccomp.h>
#include <robot.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static char memory[ROBOT_MEMORY];
static int is_running;

void *__libc_malloc(size_t size);
void *malloc(size_t size) {
  if (is_running) abort();
  return __libc_malloc(size);
}

int main(void) {
  static double x[ROBOT_X] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, tau[ROBOT_JOINTS], next[ROBOT_X];
  static double A[ROBOT_STATES * ROBOT_STATES], B[ROBOT_STATES * ROBOT_INPUTS], nu_dot[ROBOT_M], M[ROBOT_M * ROBOT_M];
  robot_t *robot = robot_init(memory, sizeof memory - 1); /* too small */
  if (robot != NULL) return 1;
  robot = robot_init(memory, sizeof memory);
  int failed = robot == NULL;
  feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
  is_running = 1;
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) failed = 1;
  for (int k = 0; k < 1000 && !failed; k++) {
    for (int i = 16; i < ROBOT_X; i++) x[i] = (k * 37 + i * 61) % 199 * 0.01 - 1.0;
    for (int i = 0; i < ROBOT_JOINTS; i++) tau[i] = (k * 31 + i * 17) % 101 - 50.0;
    failed |= robot_set_contacts(robot, k % 16u);
    failed |= robot_linearize(robot, x, tau, A, B, nu_dot);
    failed |= robot_forward_dynamics(robot, x, tau, nu_dot);
    failed |= robot_inverse_dynamics(robot, x, nu_dot, tau);
    failed |= robot_mass_matrix(robot, x, M);
    failed |= robot_discretize(robot, x, tau, 1e-3, 1 + k % 2, A, B, next);
  }
  if (write(1, failed ? "failed\n" : "done\n", failed ? 7 : 5) < 0) failed = 1;
  syscall(SYS_exit, failed);
}
