/* SPDX-FileCopyrightText: 2026 geolin_ros contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * {{robot}} for CasADi: casadi.external('fd', 'lib{{name}}_casadi.so'). With exact Jacobians:
 *
 *   fd(x, tau) -> nu_dot                     without contacts
 *   inverse_dynamics(x, nu_dot) -> efforts   without contacts: on the base, in its axes, and at joints
//: contacts
 *   contact_fd(x, tau, in_force) -> (nu_dot, forces)
 *   step(x, tau, dt, in_force) -> next_x     dt [s] of the explicit midpoint rule on the manifold
//: end
//: air
 *   step(x, tau, dt) -> next_x               dt [s] of the explicit midpoint rule on the manifold
//: end
//: floating
 *   displace(pose, z) -> moved               pose exp(z), z in axes of the base, linear first
 *   difference(pose, other) -> z             log(pose^-1 other), angles up to pi
//: end
 *
 * and without: linearization(x, tau) -> (A, B) by z, without contacts.
 *
 * x = [position; quaternion x, y, z, w; s; v; r] of a floating base, [s; r] of a fixed one; tau of
 * the actuated joints. A quaternion counts by its direction alone; results are of unit length.
//: contacts
 * in_force: 1 for each contact in force, else 0; forces of all, zero of those that are not.
//: end
 */
#include "{{name}}.c"

#if defined(_WIN32)
#define SYMBOL __declspec(dllexport)
#else
#define SYMBOL __attribute__((visibility("default")))
#endif

typedef long long int casadi_int;
#define COMPUTE(f) static int compute_##f(const double **arg, double **res, __attribute__((unused)) double *w, {{name}}_t *robot)
/* Columns by [z; tau; dt]. */
enum { FLOATS = M > N, NX = 2 * N + 13 * FLOATS, C = K + INPUTS + 1, SCRATCH = (2 * K + M + NX) * C, INSTANCES = 256 };

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

/* CasADi gives NULL for zeros. */
static const double *given(const double *arg) {
  static const double zeros[NX + K + 1];
  return arg != NULL ? arg : zeros;
}

/* H and unit quaternion q; W is the rotation in base axes by the quaternion: 2 vec(conj(q) dq). */
typedef struct { double H[16], q[4], W[3][4]; } pose_t;

static int read_pose(const double *p, pose_t *to) {
  const double size = sqrt(p[3] * p[3] + p[4] * p[4] + p[5] * p[5] + p[6] * p[6]);
  if (!(size > 0.0)) return 1;
  const double a = p[3] / size, b = p[4] / size, c = p[5] / size, d = p[6] / size;
  const pose_t pose = {
      {1.0 - 2.0 * (b * b + c * c), 2.0 * (a * b - c * d), 2.0 * (a * c + b * d), p[0],
       2.0 * (a * b + c * d), 1.0 - 2.0 * (a * a + c * c), 2.0 * (b * c - a * d), p[1],
       2.0 * (a * c - b * d), 2.0 * (b * c + a * d), 1.0 - 2.0 * (a * a + b * b), p[2], 0.0, 0.0, 0.0, 1.0},
      {a, b, c, d},
      {{2.0 * d / size, 2.0 * c / size, -2.0 * b / size, -2.0 * a / size},
       {-2.0 * c / size, 2.0 * d / size, 2.0 * a / size, -2.0 * b / size},
       {2.0 * b / size, -2.0 * a / size, 2.0 * d / size, -2.0 * c / size}}};
  *to = pose;
  return 0;
}

typedef struct { pose_t pose; double x[{{NAME}}_X], tau[N + 1]; } point_t;

static int read_point(const double *x, const double *tau, point_t *to) {
  static const int joint_of[INPUTS + 1] = { {{input_joints}} };
  memset(to, 0, sizeof *to);
  for (int i = 0; i < 16; i += 5) to->pose.H[i] = 1.0;
  if (FLOATS && read_pose(x, &to->pose)) return 1;
  memcpy(to->x, to->pose.H, sizeof to->pose.H);
  memcpy(to->x + 16, x + 7 * FLOATS, sizeof(double) * N);
  memcpy(to->x + {{NAME}}_X - M, x + NX - M, sizeof(double) * M);
  for (int j = 0; j < INPUTS; j++) to->tau[joint_of[j]] = tau[j];
  return 0;
}

static int linearize_in({{name}}_t *robot, unsigned set, const double *x, const double *tau) {
//: contacts
  if ({{name}}_set_contacts(robot, set) != {{NAME}}_OK) return 1;
//: end
  (void)set;
  return run(robot, x, tau) != {{NAME}}_OK;
}

/* Linearize about x and tau, in these contacts. */
static int begin({{name}}_t *robot, const double **arg, unsigned set, point_t *at) {
  return read_point(given(arg[0]), given(arg[1]), at) || linearize_in(robot, set, at->x, at->tau);
}

/* Rows of a matrix, stride numbers apart, become those from row on of one of so many, column by column. */
static void write_rows(const double *from, int stride, int rows, int columns, double *to, int row, int all) {
  for (int j = 0; to != NULL && j < columns; j++)
    for (int i = 0; i < rows; i++) to[row + i + j * all] = from[i * stride + j];
}

/* The same of derivatives by z, as derivatives by x, or by the pose: columns 7. */
static void write_by_x(const double *from, int stride, int rows, const pose_t *at, int columns, double *to, int row,
    int all) {
  if (!FLOATS) {
    write_rows(from, stride, rows, columns, to, row, all);
    return;
  }
  for (int i = 0; to != NULL && i < rows; i++)
    for (int j = 0; j < 7; j++) {
      double sum = 0.0;
      for (int c = 0; c < 3; c++) sum += from[i * stride + c + 3 * (j > 2)] * (j < 3 ? at->H[4 * j + c] : at->W[c][j - 3]);
      to[row + i + j * all] = sum;
    }
  if (to != NULL) write_rows(from + 6, stride, rows, columns - 7, to + 7 * all, row, all);
}

COMPUTE(fd) {
  point_t at;
  if (begin(robot, arg, 0, &at)) return 1;
  write_rows({{name}}_nu_dot(robot), 1, M, 1, res[0], 0, M);
  return 0;
}

/* Derivatives of nu_dot by x and tau. */
static void write_slopes(const {{name}}_t *robot, const point_t *at, double **res) {
  write_by_x({{name}}_A(robot) + M * K, K, M, &at->pose, NX, res[0], 0, M);
  write_rows({{name}}_B(robot) + M * INPUTS, INPUTS, M, INPUTS, res[1], 0, M);
}

COMPUTE(jac_fd) {
  point_t at;
  if (begin(robot, arg, 0, &at)) return 1;
  write_slopes(robot, &at, res);
  return 0;
}

COMPUTE(linearization) {
  point_t at;
  if (begin(robot, arg, 0, &at)) return 1;
  write_rows({{name}}_A(robot), K, K, K, res[0], 0, K);
  write_rows({{name}}_B(robot), INPUTS, K, INPUTS, res[1], 0, K);
  return 0;
}

COMPUTE(inverse_dynamics) {
  point_t at;
  if (read_point(given(arg[0]), given(NULL), &at)) return 1;
  return {{name}}_inverse_dynamics(robot, at.x, given(arg[1]), res[0] != NULL ? res[0] : w) != {{NAME}}_OK;
}

/* Where these efforts, and a wrench on the base, give nu_dot: by x is -M d nu_dot / dx, by nu_dot is M. */
COMPUTE(jac_inverse_dynamics) {
  point_t at;
  double efforts[M + 1], *mass = w, *by_z = w + M * M;
  if (read_point(given(arg[0]), given(NULL), &at) || {{name}}_inverse_dynamics(robot, at.x, given(arg[1]), efforts) != {{NAME}}_OK)
    return 1;
//: floating
  memcpy(robot->inputs + GIVEN + WRENCH_VALUE, efforts, 6 * sizeof *efforts);
//: end
  robot->given = INPUT_SIZE;
  const int failed = linearize_in(robot, 0, at.x, efforts + M - N);
  robot->given = GIVEN;
  if (failed || {{name}}_mass_matrix(robot, at.x, mass) != {{NAME}}_OK) return 1;
  const double *A = {{name}}_A(robot) + M * K;
  memset(by_z, 0, sizeof(double) * M * K);
  for (int i = 0; i < M; i++)
    for (int l = 0; l < M; l++)
      for (int j = 0; j < K; j++) by_z[i * K + j] -= mass[i * M + l] * A[l * K + j];
  write_by_x(by_z, K, M, &at.pose, NX, res[0], 0, M);
  write_rows(mass, M, M, M, res[1], 0, M);
  return 0;
}
//: floating

/* pose exp(z) as [position; quaternion], continuous in z. */
static void move_pose(const {{name}}_t *robot, const pose_t *from, const double *z, double *to) {
  double H[16], twist[6];
  memcpy(twist, z, sizeof twist);
  robot->level->retract(from->H, 4, twist, 6, H, 4);
  const double t = sqrt(z[3] * z[3] + z[4] * z[4] + z[5] * z[5]), k = t > 0.0 ? sin(0.5 * t) / t : 0.5;
  const double a = k * z[3], b = k * z[4], c = k * z[5], d = cos(0.5 * t), *q = from->q;
  const double moved[7] = {H[3], H[7], H[11], q[3] * a + q[0] * d + q[1] * c - q[2] * b,
      q[3] * b - q[0] * c + q[1] * d + q[2] * a, q[3] * c + q[0] * b - q[1] * a + q[2] * d,
      q[3] * d - q[0] * a - q[1] * b - q[2] * c};
  memcpy(to, moved, sizeof moved);
}

/* Six rows of derivatives of a pose, in its axes, become seven, of its numbers; |q| = 1. */
static void rows_of_pose(const double *from, int columns, const pose_t *at, double *to) {
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < columns; j++) {
      double sum = 0.0;
      for (int c = 0; c < 3; c++)
        sum += (i < 3 ? at->H[4 * i + c] : 0.25 * at->W[c][i - 3]) * from[(c + 3 * (i > 2)) * columns + j];
      to[i * columns + j] = sum;
    }
}

COMPUTE(displace) {
  pose_t from;
  if (read_pose(given(arg[0]), &from)) return 1;
  move_pose(robot, &from, given(arg[1]), res[0] != NULL ? res[0] : w);
  return 0;
}

COMPUTE(jac_displace) {
  pose_t from, to;
  double z[6], by_z[36], by_pose[36], rows[42];
  memcpy(z, given(arg[1]), sizeof z);
  if (read_pose(given(arg[0]), &from)) return 1;
  move_pose(robot, &from, z, w);
  if (read_pose(w, &to)) return 1;
  robot->level->adjoint_of_exp(z, 6, -1.0, by_pose, 6);
  robot->level->left_jacobian(z, 6, -1.0, by_z, 6);
  rows_of_pose(by_pose, 6, &to, rows);
  write_by_x(rows, 6, 7, &from, 7, res[0], 0, 7);
  rows_of_pose(by_z, 6, &to, rows);
  write_rows(rows, 6, 7, 6, res[1], 0, 7);
  return 0;
}

COMPUTE(difference) {
  pose_t from, to;
  double G[16];
  if (read_pose(given(arg[0]), &from) || read_pose(given(arg[1]), &to)) return 1;
  robot->level->difference(from.H, 4, to.H, 4, G, 4, res[0] != NULL ? res[0] : w, 6);
  return 0;
}

COMPUTE(jac_difference) {
  pose_t from, to;
  double z[6], G[16], by_from[36], by_to[36];
  if (read_pose(given(arg[0]), &from) || read_pose(given(arg[1]), &to)) return 1;
  robot->level->difference(from.H, 4, to.H, 4, G, 4, z, 6);
  robot->level->left_jacobian_inverse(z, 6, 1.0, by_from, 6);
  robot->level->left_jacobian_inverse(z, 6, -1.0, by_to, 6);
  for (int i = 0; i < 36; i++) by_from[i] = -by_from[i];
  write_by_x(by_from, 6, 6, &from, 7, res[0], 0, 6);
  write_by_x(by_to, 6, 6, &to, 7, res[1], 0, 6);
  return 0;
}
//: end

static unsigned set_of(const double *in_force) {
  unsigned set = 0;
  for (int c = 0; c < {{NAME}}_CONTACTS; c++) set |= (unsigned)(in_force[c] > 0.5) << c;
  return set;
}

/* Derivatives Y (K x C) of where from is moved to by h f, f = [velocity of a point with derivatives P (K x C,
 * NULL: of z alone); nu_dot with G (M x C)], and h with slope by dt. */
static void differentiate_move(const {{name}}_t *robot, const double *f, const double *P, const double *G, double h,
    double slope, double *Y) {
  for (int i = 0; i < M; i++)
    for (int c = 0; c < C; c++) {
      Y[i * C + c] = h * (P != NULL ? P[(M + i) * C + c] : (double)(c == M + i)) + slope * f[i] * (c == C - 1);
      Y[(M + i) * C + c] = h * G[i * C + c] + slope * f[M + i] * (c == C - 1) + (c == M + i);
    }
//: floating
  double z[6], by_z[36], by_from[36];
  for (int i = 0; i < 6; i++) z[i] = h * f[i];
  robot->level->left_jacobian(z, 6, -1.0, by_z, 6);
  robot->level->adjoint_of_exp(z, 6, -1.0, by_from, 6);
  for (int c = 0; c < C; c++) {
    double column[6];
    for (int i = 0; i < 6; i++) column[i] = Y[i * C + c];
    for (int i = 0; i < 6; i++) {
      double sum = c < 6 ? by_from[6 * i + c] : 0.0;
      for (int l = 0; l < 6; l++) sum += by_z[6 * i + l] * column[l];
      Y[i * C + c] = sum;
    }
  }
//: end
  (void)robot;
  for (int i = M - N; i < M; i++) Y[i * C + i] += 1.0;
}

/* next_x by the explicit midpoint rule; with Y, its derivatives in axes of the next base. */
static int take_step({{name}}_t *robot, const double **arg, point_t *at, double *next_x, double *Y, double *w) {
  const double dt = *given(arg[2]);
  const unsigned set = set_of(given({{NAME}}_CONTACTS ? arg[3] : NULL));
  double f[K], middle[{{NAME}}_X], *G = w, *by_middle = w + M * C;
  if (begin(robot, arg, set, at)) return 1;
  rate(at->x, {{name}}_nu_dot(robot), f);
  retract(robot, at->x, f, 1, 0.5 * dt, middle);
  const double *A = {{name}}_A(robot) + M * K, *B = {{name}}_B(robot) + M * INPUTS;
  memset(G, 0, sizeof(double) * M * C);
  for (int i = 0; Y != NULL && i < M; i++) {
    memcpy(G + i * C, A + i * K, sizeof(double) * K);
    memcpy(G + i * C + K, B + i * INPUTS, sizeof(double) * INPUTS);
  }
  if (Y != NULL) differentiate_move(robot, f, NULL, G, 0.5 * dt, 0.5, by_middle);
  if (linearize_in(robot, set, middle, at->tau)) return 1;
  rate(middle, {{name}}_nu_dot(robot), f);
  for (int i = 0; Y != NULL && i < M; i++) {
    double *row = G + i * C;
    memset(row, 0, sizeof(double) * C);
    memcpy(row + K, B + i * INPUTS, sizeof(double) * INPUTS);
    for (int j = 0; j < K; j++)
      for (int c = 0; c < C; c++) row[c] += A[i * K + j] * by_middle[j * C + c];
  }
  if (Y != NULL) differentiate_move(robot, f, by_middle, G, dt, 1.0, Y);
//: floating
  double z[6];
  for (int i = 0; i < 6; i++) z[i] = dt * f[i];
  move_pose(robot, &at->pose, z, next_x);
//: end
  for (int i = 0; i < N; i++) next_x[7 * FLOATS + i] = at->x[16 + i] + dt * f[M - N + i];
  for (int i = 0; i < M; i++) next_x[NX - M + i] = at->x[{{NAME}}_X - M + i] + dt * f[M + i];
  return 0;
}

COMPUTE(step) {
  point_t at;
  return take_step(robot, arg, &at, res[0] != NULL ? res[0] : w + SCRATCH - NX, NULL, w);
}

COMPUTE(jac_step) {
  point_t at;
  double next_x[NX + 1], *Y = w + (M + K) * C, *rows = Y;
  if (take_step(robot, arg, &at, next_x, Y, w)) return 1;
//: floating
  pose_t to;
  if (read_pose(next_x, &to)) return 1;
  rows = Y + K * C;
  rows_of_pose(Y, C, &to, rows);
  memcpy(rows + 7 * C, Y + 6 * C, sizeof(double) * (K - 6) * C);
//: end
  write_by_x(rows, C, NX, &at.pose, NX, res[0], 0, NX);
  write_rows(rows + K, C, NX, INPUTS, res[1], 0, NX);
  write_rows(rows + C - 1, C, NX, 1, res[2], 0, NX);
  return 0;
}
//: contacts

/* Write what contacts in force have, columns numbers a row, to the rows of all contacts; by x with a pose. */
static void write_forces(const double *from, int columns, unsigned set, const pose_t *by, double *to) {
  static const int rows_of[] = { {{rows_of_contacts}} };
  if (to != NULL) memset(to, 0, sizeof(double) * {{NAME}}_CONTACT_ROWS * (by != NULL ? NX : columns));
  for (int c = 0, row = 0; c < {{NAME}}_CONTACTS; row += rows_of[c++])
    if (set >> c & 1u) {
      if (by != NULL) write_by_x(from, K, rows_of[c], by, NX, to, row, {{NAME}}_CONTACT_ROWS);
      else write_rows(from, columns, rows_of[c], columns, to, row, {{NAME}}_CONTACT_ROWS);
      from += rows_of[c] * columns;
    }
}

COMPUTE(contact_fd) {
  const unsigned set = set_of(given(arg[2]));
  point_t at;
  if (begin(robot, arg, set, &at)) return 1;
  write_rows({{name}}_nu_dot(robot), 1, M, 1, res[0], 0, M);
  write_forces({{name}}_forces(robot), 1, set, NULL, res[1]);
  return 0;
}

COMPUTE(jac_contact_fd) {
  const unsigned set = set_of(given(arg[2]));
  point_t at;
  if (begin(robot, arg, set, &at)) return 1;
  write_slopes(robot, &at, res);
  write_forces({{name}}_forces_by_state(robot), K, set, &at.pose, res[3]);
  write_forces({{name}}_forces_by_effort(robot), INPUTS, set, NULL, res[4]);
  return 0;
}
//: end

/* What CasADi asks for. A size is (rows, columns, 1: all entries) or (rows, columns, 0 ...: none). */
#define COUNT(list) ((casadi_int)(sizeof(list) / sizeof(list)[0]))
#define FUNCTION(f)                                                                                  \
  SYMBOL casadi_int f##_n_in(void) { return COUNT(f##_ins); }                                        \
  SYMBOL casadi_int f##_n_out(void) { return COUNT(f##_outs); }                                      \
  SYMBOL const char *f##_name_in(casadi_int i) { return i < COUNT(f##_ins) ? f##_ins[i] : NULL; }    \
  SYMBOL const char *f##_name_out(casadi_int i) { return i < COUNT(f##_outs) ? f##_outs[i] : NULL; } \
  SYMBOL const casadi_int *f##_sparsity_in(casadi_int i) {                                           \
    return i < COUNT(f##_ins) ? f##_in_sizes[i] : NULL;                                              \
  }                                                                                                  \
  SYMBOL const casadi_int *f##_sparsity_out(casadi_int i) {                                          \
    return i < COUNT(f##_outs) ? f##_out_sizes[i] : NULL;                                            \
  }                                                                                                  \
  SYMBOL int f##_work(casadi_int *arg, casadi_int *res, casadi_int *iw, casadi_int *w) {             \
    *arg = COUNT(f##_ins), *res = COUNT(f##_outs), *iw = 0, *w = SCRATCH;                               \
    return 0;                                                                                        \
  }                                                                                                  \
  SYMBOL int f##_checkout(void) { return checkout(); }                                               \
  SYMBOL void f##_release(int mem) { release(mem); }                                                 \
  SYMBOL int f(const double **arg, double **res, casadi_int *iw, double *w, int mem) {               \
    (void)iw;                                                                                        \
    return compute_##f(arg, res, w, instances[mem]);                                                 \
  }
{{casadi_functions}}
