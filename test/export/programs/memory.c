/* SPDX-FileCopyrightText: 2026 geolin_ros contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every call once for each set of contacts, all memory from malloc and as large as the header says:
 * valgrind sees what is read or written beyond it, strace what is asked of the system between the
 * two lines. */
#include <robot.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double *numbers(size_t count) { return malloc(count * sizeof(double)); }

static void say(const char *line) {
  if (write(1, line, strlen(line)) < 0) exit(3);
}

int main(void) {
  double *x = numbers(ROBOT_X), *next = numbers(ROBOT_X), *tau = numbers(ROBOT_JOINTS), *forces = numbers(ROBOT_M);
  double *A = numbers(ROBOT_STATES * ROBOT_STATES), *B = numbers(ROBOT_STATES * ROBOT_INPUTS);
  double *nu_dot = numbers(ROBOT_M), *M = numbers(ROBOT_M * ROBOT_M);
  robot_t *robot = robot_create();
  int failed = robot == NULL;
  memset(x, 0, ROBOT_X * sizeof *x);
  x[0] = x[5] = x[10] = x[15] = 1.0;
  for (int i = 16; i < ROBOT_X; i++) x[i] = i * 61 % 199 * 0.01 - 1.0;
  for (int i = 0; i < ROBOT_JOINTS; i++) tau[i] = i * 17 % 101 - 50.0;
  say("begin\n");
  for (unsigned set = 0; set < 1u << ROBOT_CONTACTS && !failed; set++) {
    failed |= robot_set_contacts(robot, set);
    failed |= robot_linearize(robot, x, tau, A, B, nu_dot);
    failed |= robot_linearize_batch(robot, 1, x, tau, A, B, nu_dot);
    failed |= robot_forward_dynamics(robot, x, tau, nu_dot);
    failed |= robot_inverse_dynamics(robot, x, nu_dot, forces);
    failed |= robot_mass_matrix(robot, x, M);
    for (int method = ROBOT_ZOH; method <= ROBOT_MIDPOINT; method++)
      failed |= robot_discretize(robot, x, tau, 1e-3, method, A, B, next);
    const double *by_state = robot_forces_by_state(robot), *by_effort = robot_forces_by_effort(robot);
    for (int i = 0; i < robot_contact_rows(robot); i++) {
      failed |= !(robot_forces(robot)[i] * 0.0 == 0.0);
      for (int j = 0; j < ROBOT_STATES; j++) failed |= !(by_state[i * ROBOT_STATES + j] * 0.0 == 0.0);
      for (int j = 0; j < ROBOT_INPUTS; j++) failed |= !(by_effort[i * ROBOT_INPUTS + j] * 0.0 == 0.0);
    }
    for (int i = 0; i < ROBOT_STATES * ROBOT_STATES; i++) failed |= !(A[i] * 0.0 == 0.0);
    for (int i = 0; i < ROBOT_STATES * ROBOT_INPUTS; i++) failed |= !(B[i] * 0.0 == 0.0);
    for (int i = 0; i < ROBOT_M * ROBOT_M; i++) failed |= !(M[i] * 0.0 == 0.0);
  }
  say(failed ? "failed\n" : "end\n");
  robot_destroy(robot);
  double *all[] = {x, next, tau, forces, A, B, nu_dot, M};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  return failed;
}
