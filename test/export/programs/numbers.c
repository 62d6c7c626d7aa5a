/* SPDX-FileCopyrightText: 2026 geolin_ros contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * States and efforts from standard input, A and B to standard output; the argument is the contacts. */
#include <robot.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words) {
  static double given[ROBOT_X + ROBOT_JOINTS], A[ROBOT_STATES * ROBOT_STATES], B[ROBOT_STATES * ROBOT_INPUTS];
  robot_t *robot = robot_create();
  if (count != 2 || robot == NULL || robot_set_contacts(robot, (unsigned)atoi(words[1]))) return 1;
  while (fread(given, sizeof given, 1, stdin) == 1) {
    if (robot_linearize(robot, given, given + ROBOT_X, A, B, NULL) != ROBOT_OK) return 2;
    fwrite(A, sizeof A, 1, stdout);
    fwrite(B, sizeof B, 1, stdout);
  }
  robot_destroy(robot);
  return 0;
}
