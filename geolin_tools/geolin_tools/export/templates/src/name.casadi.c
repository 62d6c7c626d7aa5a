/* SPDX-FileCopyrightText: 2026 geolin_ros contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * {{robot}} for CasADi: casadi.external('fd', 'lib{{name}}_casadi.so').
 *
 *   fd(x, tau) -> nu_dot                              without contacts, with its Jacobian
//: contacts
 *   contact_fd(x, tau, in_force) -> (nu_dot, forces)  the same in contact, with its Jacobian
//: end
 *   linearization(x, tau) -> (A, B)                   by z, without contacts
 *
 * x = [position; quaternion x, y, z, w; s; v; r] of a floating base, [s; r] of a fixed one; tau of
 * the actuated joints. A quaternion counts by its direction alone.
//: contacts
 * in_force: 1 for each contact in force, else 0; forces of all, zero of those that are not.
//: end
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
  CONTACTS = {{NAME}}_CONTACTS, ROWS = {{NAME}}_CONTACT_ROWS, FLOATS = M > N, NX = 2 * N + 13 * FLOATS, INSTANCES = 256,
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

/* Numbers of the actuated joints. */
static const int joint_of[INPUTS + 1] = { {{input_joints}} };

/* Linearize; A, B and nu_dot begin at w + {{NAME}}_X + N + 1, W is the rotation by the quaternion. */
static int evaluate(const double **arg, unsigned set, double *w, double W[3][4], int mem) {
  static const double zeros[NX + 1];
  const double *x = arg[0] != NULL ? arg[0] : zeros;
  double *state = w, *tau = state + {{NAME}}_X, *A = tau + N + 1, *B = A + K * K, *nu_dot = B + K * INPUTS;
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
  memset(tau, 0, sizeof(double) * N);
  for (int j = 0; arg[1] != NULL && j < INPUTS; j++) tau[joint_of[j]] = arg[1][j];
//: contacts
  if ({{name}}_set_contacts(instances[mem], set) != {{NAME}}_OK) return 1;
//: end
  (void)set;
  return {{name}}_linearize(instances[mem], state, tau, A, B, nu_dot) != {{NAME}}_OK;
}

/* Rows of a matrix, which become those from row on of one of so many, column by column. */
static void write_rows(const double *from, int rows, int columns, double *to, int row, int all) {
  for (int j = 0; to != NULL && j < columns; j++)
    for (int i = 0; i < rows; i++) to[row + i + j * all] = from[i * columns + j];
}

/* The same of derivatives by z, as derivatives by x. */
static void write_by_x(const double *from, int rows, const double *state, double W[3][4], double *to, int row, int all) {
  for (int i = 0; to != NULL && i < rows; i++, from += K)
    for (int j = 0; j < NX; j++) {
      double sum = 0.0;
      if (!FLOATS) {
        sum = from[j];
      } else if (j < 3) { /* in base axes */
        for (int c = 0; c < 3; c++) sum += from[c] * state[4 * j + c];
      } else if (j < 7) {
        for (int c = 0; c < 3; c++) sum += from[3 + c] * W[c][j - 3];
      } else {
        sum = from[j - 1];
      }
      to[row + i + j * all] = sum;
    }
}

/* Sizes (rows, columns, 1: all entries). */
static const casadi_int size_x[] = {NX, 1, 1}, size_tau[] = {INPUTS, 1, 1}, size_nu_dot[] = {M, 1, 1};
static const casadi_int size_by_x[] = {M, NX, 1}, size_by_tau[] = {M, INPUTS, 1};
static const casadi_int size_A[] = {K, K, 1}, size_B[] = {K, INPUTS, 1};

#define COUNT(list) ((casadi_int)(sizeof(list) / sizeof(list)[0]))
#define FUNCTION(f)                                                                                    \
  SYMBOL casadi_int f##_n_in(void) { return COUNT(f##_ins); }                                          \
  SYMBOL casadi_int f##_n_out(void) { return COUNT(f##_outs); }                                        \
  SYMBOL const char *f##_name_in(casadi_int i) { return i < COUNT(f##_ins) ? f##_ins[i] : NULL; }      \
  SYMBOL const char *f##_name_out(casadi_int i) { return i < COUNT(f##_outs) ? f##_outs[i] : NULL; }   \
  SYMBOL const casadi_int *f##_sparsity_in(casadi_int i) {                                             \
    return i < COUNT(f##_ins) ? f##_in_sizes[i] : NULL;                                                \
  }                                                                                                    \
  SYMBOL const casadi_int *f##_sparsity_out(casadi_int i) {                                            \
    return i < COUNT(f##_outs) ? f##_sizes[i] : NULL;                                                  \
  }                                                                                                    \
  SYMBOL int f##_work(casadi_int *arg, casadi_int *res, casadi_int *iw, casadi_int *w) {               \
    *arg = COUNT(f##_ins), *res = COUNT(f##_outs), *iw = 0, *w = ROOM;                                 \
    return 0;                                                                                          \
  }                                                                                                    \
  SYMBOL int f##_checkout(void) { return checkout(); }                                                 \
  SYMBOL void f##_release(int mem) { release(mem); }                                                   \
  SYMBOL int f(const double **arg, double **res, casadi_int *iw, double *w, int mem) {                 \
    double W[3][4] = {{0.0}, {0.0}, {0.0}}, *state = w, *A = w + {{NAME}}_X + N + 1, *B = A + K * K;    \
    const double *nu_dot = B + K * INPUTS;                                                             \
    const unsigned set = f##_set(arg);                                                                 \
    (void)iw, (void)state, (void)nu_dot;                                                               \
    if (evaluate(arg, set, w, W, mem)) return 1;                                                       \
    f##_results                                                                                        \
    return 0;                                                                                          \
  }
#define NO_CONTACTS(arg) 0u

static const char *const fd_ins[] = {"x", "tau"}, *const fd_outs[] = {"nu_dot"};
static const casadi_int *const fd_in_sizes[] = {size_x, size_tau}, *const fd_sizes[] = {size_nu_dot};
#define fd_set NO_CONTACTS
#define fd_results write_rows(nu_dot, M, 1, res[0], 0, M);
FUNCTION(fd)

static const char *const jac_fd_ins[] = {"x", "tau", "out_nu_dot"};
static const char *const jac_fd_outs[] = {"jac_nu_dot_x", "jac_nu_dot_tau"};
static const casadi_int *const jac_fd_in_sizes[] = {size_x, size_tau, size_nu_dot};
static const casadi_int *const jac_fd_sizes[] = {size_by_x, size_by_tau};
#define jac_fd_set NO_CONTACTS
#define jac_fd_results                                           \
  write_by_x(A + (K - M) * K, M, state, W, res[0], 0, M);        \
  write_rows(B + (K - M) * INPUTS, M, INPUTS, res[1], 0, M);
FUNCTION(jac_fd)

static const char *const linearization_ins[] = {"x", "tau"}, *const linearization_outs[] = {"A", "B"};
static const casadi_int *const linearization_in_sizes[] = {size_x, size_tau};
static const casadi_int *const linearization_sizes[] = {size_A, size_B};
#define linearization_set NO_CONTACTS
#define linearization_results            \
  write_rows(A, K, K, res[0], 0, K);     \
  write_rows(B, K, INPUTS, res[1], 0, K);
FUNCTION(linearization)
//: contacts

/* Rows of each contact; derivatives by in_force are zero: no entries. */
static const int rows_of[] = { {{rows_of_contacts}} };
static const casadi_int size_in_force[] = {CONTACTS, 1, 1}, size_forces[] = {ROWS, 1, 1};
static const casadi_int size_forces_by_x[] = {ROWS, NX, 1}, size_forces_by_tau[] = {ROWS, INPUTS, 1};
static const casadi_int nu_dot_by_set[3 + CONTACTS] = {M, CONTACTS}, forces_by_set[3 + CONTACTS] = {ROWS, CONTACTS};

static unsigned chosen(const double **arg) {
  unsigned set = 0;
  for (int c = 0; arg[2] != NULL && c < CONTACTS; c++) set |= (unsigned)(arg[2][c] > 0.5) << c;
  return set;
}

/* Write what contacts in force have, columns numbers a row, to the rows of all contacts. */
static void write_forces(const double *from, int columns, unsigned set, double *to) {
  if (to != NULL) memset(to, 0, sizeof(double) * ROWS * columns);
  for (int c = 0, row = 0; c < CONTACTS; row += rows_of[c++])
    if (set >> c & 1u) write_rows(from, rows_of[c], columns, to, row, ROWS), from += rows_of[c] * columns;
}

static void write_forces_by_x(const double *from, unsigned set, const double *state, double W[3][4], double *to) {
  if (to != NULL) memset(to, 0, sizeof(double) * ROWS * NX);
  for (int c = 0, row = 0; c < CONTACTS; row += rows_of[c++])
    if (set >> c & 1u) write_by_x(from, rows_of[c], state, W, to, row, ROWS), from += rows_of[c] * K;
}

static const char *const contact_fd_ins[] = {"x", "tau", "in_force"}, *const contact_fd_outs[] = {"nu_dot", "forces"};
static const casadi_int *const contact_fd_in_sizes[] = {size_x, size_tau, size_in_force};
static const casadi_int *const contact_fd_sizes[] = {size_nu_dot, size_forces};
#define contact_fd_set chosen
#define contact_fd_results                   \
  write_rows(nu_dot, M, 1, res[0], 0, M);    \
  write_forces({{name}}_forces(instances[mem]), 1, set, res[1]);
FUNCTION(contact_fd)

static const char *const jac_contact_fd_ins[] = {"x", "tau", "in_force", "out_nu_dot", "out_forces"};
static const char *const jac_contact_fd_outs[] = {"jac_nu_dot_x", "jac_nu_dot_tau", "jac_nu_dot_in_force",
                                                  "jac_forces_x", "jac_forces_tau", "jac_forces_in_force"};
static const casadi_int *const jac_contact_fd_in_sizes[] = {size_x, size_tau, size_in_force, size_nu_dot, size_forces};
static const casadi_int *const jac_contact_fd_sizes[] = {size_by_x, size_by_tau, nu_dot_by_set,
                                                         size_forces_by_x, size_forces_by_tau, forces_by_set};
#define jac_contact_fd_set chosen
#define jac_contact_fd_results                                                               \
  write_by_x(A + (K - M) * K, M, state, W, res[0], 0, M);                                    \
  write_rows(B + (K - M) * INPUTS, M, INPUTS, res[1], 0, M);                                 \
  write_forces_by_x({{name}}_forces_by_state(instances[mem]), set, state, W, res[3]);        \
  write_forces({{name}}_forces_by_effort(instances[mem]), INPUTS, set, res[4]);
FUNCTION(jac_contact_fd)
//: end
