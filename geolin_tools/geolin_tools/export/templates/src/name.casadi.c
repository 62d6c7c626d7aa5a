/* SPDX-FileCopyrightText: 2026 geolin_ros contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * {{robot}} for CasADi: casadi.external('fd', 'lib{{name}}_casadi.so').
 *
 *   fd(x, tau) -> nu_dot,   jac_fd(x, tau, out_nu_dot) -> (jac_nu_dot_x, jac_nu_dot_tau)
 *
 * x = [position; quaternion x, y, z, w; s; v; r] of a floating base, [s; r] of a fixed one; tau of
 * the actuated joints. A quaternion counts by its direction alone. No contacts are in force.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "{{name}}.h"

#if defined(_WIN32)
#define SYMBOL __declspec(dllexport)
#else
#define SYMBOL __attribute__((visibility("default")))
#endif

typedef long long int casadi_int;
enum {
  N = {{NAME}}_JOINTS, M = {{NAME}}_M, K = {{NAME}}_STATES, INPUTS = {{NAME}}_INPUTS,
  FLOATS = M > N, NX = 2 * N + 13 * FLOATS, INSTANCES = 256,
  ROOM = {{NAME}}_X + N + 1 + K * K + K * INPUTS + M
};

/* One instance for each caller at a time. */
static {{name}}_t *instances[INSTANCES];
static char taken[INSTANCES];

static int checkout(void) {
  for (int i = 0; i < INSTANCES; i++)
    if (!__atomic_test_and_set(&taken[i], __ATOMIC_ACQUIRE)) {
      if (instances[i] == NULL) instances[i] = {{name}}_create();
      if (instances[i] != NULL) return i;
      __atomic_clear(&taken[i], __ATOMIC_RELEASE);
      break;
    }
  return -1;
}

static void release(int mem) { __atomic_clear(&taken[mem], __ATOMIC_RELEASE); }

/* Efforts of all joints from those of the actuated ones. */
static void spread(const double *inputs, double *tau) {
  memset(tau, 0, sizeof(double) * N);
  for (int j = 0; inputs != NULL && j < INPUTS; j++)
    for (int i = 0; i < N; i++)
      if (strcmp({{name}}_joint_names[i], {{name}}_input_names[j]) == 0) tau[i] = inputs[j];
}

/* nu_dot, and where jac is given its derivatives by x and tau, column by column. */
static int evaluate(const double **arg, double *nu_dot, double **jac, double *w, int mem) {
  static const double zeros[NX + 1];
  const double *x = arg[0] != NULL ? arg[0] : zeros;
  double *state = w, *tau = state + {{NAME}}_X, *A = tau + N + 1, *B = A + K * K, *found = B + K * INPUTS;
  double W[3][4] = {{0.0}, {0.0}, {0.0}};
  memset(state, 0, sizeof(double) * {{NAME}}_X);
  state[0] = state[5] = state[10] = state[15] = 1.0;
  if (FLOATS) {
    const double size = sqrt(x[3] * x[3] + x[4] * x[4] + x[5] * x[5] + x[6] * x[6]);
    if (!(size > 0.0)) return 1;
    const double a = x[3] / size, b = x[4] / size, c = x[5] / size, d = x[6] / size;
    const double R[3][3] = {
        {1.0 - 2.0 * (b * b + c * c), 2.0 * (a * b - c * d), 2.0 * (a * c + b * d)},
        {2.0 * (a * b + c * d), 1.0 - 2.0 * (a * a + c * c), 2.0 * (b * c - a * d)},
        {2.0 * (a * c - b * d), 2.0 * (b * c + a * d), 1.0 - 2.0 * (a * a + b * b)}};
    /* Rotation in base axes by quaternion: 2 vec(conj(q) dq). */
    const double turned[3][4] = {{d, c, -b, -a}, {-c, d, a, -b}, {b, -a, d, -c}};
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 3; j++) state[4 * i + j] = R[i][j];
      for (int j = 0; j < 4; j++) W[i][j] = 2.0 / size * turned[i][j];
      state[4 * i + 3] = x[i];
    }
    memcpy(state + 16, x + 7, sizeof(double) * (2 * N + 6));
  } else {
    memcpy(state + 16, x, sizeof(double) * N);
    memcpy(state + 22 + N, x + N, sizeof(double) * N);
  }
  spread(arg[1], tau);
  if ({{name}}_linearize(instances[mem], state, tau, A, B, found) != {{NAME}}_OK) return 1;
  if (nu_dot != NULL) memcpy(nu_dot, found, sizeof(double) * M);
  for (int i = 0; jac != NULL && i < M; i++) {
    const double *by_z = A + (K - M + i) * K;
    for (int j = 0; jac[0] != NULL && j < NX; j++) {
      double sum = 0.0;
      if (!FLOATS) {
        sum = by_z[j];
      } else if (j < 3) { /* in base axes */
        for (int c = 0; c < 3; c++) sum += by_z[c] * state[4 * j + c];
      } else if (j < 7) {
        for (int c = 0; c < 3; c++) sum += by_z[3 + c] * W[c][j - 3];
      } else {
        sum = by_z[j - 1];
      }
      jac[0][i + j * M] = sum;
    }
    for (int j = 0; jac[1] != NULL && j < INPUTS; j++) jac[1][i + j * M] = B[(K - M + i) * INPUTS + j];
  }
  return 0;
}

/* Sizes (rows, columns, 1: all entries). */
static const casadi_int size_x[] = {NX, 1, 1}, size_tau[] = {INPUTS, 1, 1}, size_nu_dot[] = {M, 1, 1};
static const casadi_int size_by_x[] = {M, NX, 1}, size_by_tau[] = {M, INPUTS, 1};

#define FUNCTION(f, INS, OUTS)                                                                   \
  static const char *const f##_ins[] = {"x", "tau", "out_nu_dot"};                               \
  SYMBOL casadi_int f##_n_in(void) { return INS; }                                               \
  SYMBOL casadi_int f##_n_out(void) { return OUTS; }                                             \
  SYMBOL const char *f##_name_in(casadi_int i) { return 0 <= i && i < INS ? f##_ins[i] : NULL; } \
  SYMBOL const char *f##_name_out(casadi_int i) {                                                \
    return 0 <= i && i < OUTS ? f##_outs[i] : NULL;                                              \
  }                                                                                              \
  SYMBOL const casadi_int *f##_sparsity_in(casadi_int i) {                                       \
    const casadi_int *const sizes[] = {size_x, size_tau, size_nu_dot};                           \
    return 0 <= i && i < INS ? sizes[i] : NULL;                                                  \
  }                                                                                              \
  SYMBOL const casadi_int *f##_sparsity_out(casadi_int i) {                                      \
    return 0 <= i && i < OUTS ? f##_sizes[i] : NULL;                                             \
  }                                                                                              \
  SYMBOL int f##_work(casadi_int *arg, casadi_int *res, casadi_int *iw, casadi_int *w) {         \
    *arg = INS, *res = OUTS, *iw = 0, *w = ROOM;                                                 \
    return 0;                                                                                    \
  }                                                                                              \
  SYMBOL int f##_checkout(void) { return checkout(); }                                           \
  SYMBOL void f##_release(int mem) { release(mem); }

static const char *const fd_outs[] = {"nu_dot"}, *const jac_fd_outs[] = {"jac_nu_dot_x", "jac_nu_dot_tau"};
static const casadi_int *const fd_sizes[] = {size_nu_dot}, *const jac_fd_sizes[] = {size_by_x, size_by_tau};
FUNCTION(fd, 2, 1)
FUNCTION(jac_fd, 3, 2)

SYMBOL int fd(const double **arg, double **res, casadi_int *iw, double *w, int mem) {
  (void)iw;
  return evaluate(arg, res[0], NULL, w, mem);
}

SYMBOL int jac_fd(const double **arg, double **res, casadi_int *iw, double *w, int mem) {
  (void)iw;
  return evaluate(arg, NULL, res, w, mem);
}
