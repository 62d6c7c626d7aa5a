/* SPDX-FileCopyrightText: 2026 geolin_ros contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two threads with an instance each, watched by ThreadSanitizer. */
#include <pthread.h>
#include <robot.h>
#include <stdio.h>
#include <string.h>

static double results[2][ROBOT_STATES * ROBOT_STATES];

static void *work(void *result) {
  double x[ROBOT_X] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, tau[ROBOT_JOINTS] = {0};
  robot_t *robot = robot_create();
  for (int k = 0; k < 2000; k++) {
    x[20] = 1e-3 * k;
    robot_set_contacts(robot, k % 16u);
    if (robot_linearize(robot, x, tau, result, NULL, NULL) != ROBOT_OK) return NULL;
  }
  robot_destroy(robot);
  return result;
}

int main(void) {
  pthread_t threads[2];
  void *done[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, results[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], &done[i]);
  int same = done[0] && done[1] && memcmp(results[0], results[1], sizeof results[0]) == 0;
  puts(same ? "done" : "failed");
  return !same;
}
