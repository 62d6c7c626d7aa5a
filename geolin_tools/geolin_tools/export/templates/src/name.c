/* SPDX-FileCopyrightText: 2026 geolin_ros contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What {{name}}.h declares: memory for the compiled kernels, and calls of them.
 */
#include "{{name}}.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *name;
  int (*runs_here)(void);
{{kernels}}
} level_t;

typedef struct {
  const int64_t *sites, *places;
  const double *values;
  int64_t size, filled, rows;
} contact_set_t;

#include "data.h"

#define ROBOT robot_ints, ROBOT_INTS, robot_floats, ROBOT_FLOATS
#define OWN own_ints, OWN_INTS, own_floats, OWN_FLOATS
#define MASTER(c) own_ints[own_ints[MASTERS] + (c)]
#define FACTOR(c) own_floats[c]
#define OFFSET(c) own_floats[TREE_JOINTS + (c)]

enum { N = {{NAME}}_JOINTS, M = {{NAME}}_M, K = {{NAME}}_STATES, INPUTS = {{NAME}}_INPUTS, BASE = M - N };

struct {{name}}_instance {
  const level_t *level;
  void *owned;               /* what destroy frees */
  const contact_set_t *in_force;
  double x[{{NAME}}_X];
  double tau[N + 1];
  double *ws, *inputs, *out, *cw, *step;
  int64_t *lists;
  int64_t given;             /* numbers of inputs that are read */
};

typedef char memory_is_enough[{{NAME}}_MEMORY >= sizeof(struct {{name}}_instance) + ROOM ? 1 : -1];

{{supported}}
static const level_t levels[] = {
{{levels}}
};
enum { LEVELS = sizeof levels / sizeof *levels };

static int runs_here(const level_t *level) { return level->runs_here == NULL || level->runs_here(); }

static double *take(char **at, int64_t count) {
  char *start = *at + (-(uintptr_t)*at & 63);
  *at = start + 8 * count;
  return (double *)start;
}

/* Constraints of another set of contacts, as at the beginning. */
static void use_contacts({{name}}_t *robot, unsigned set) {
  const contact_set_t *in_force = &contact_sets[set];
  memset(robot->cw, 0, 8 * (size_t)WORK_OF_CONTACTS);
  for (int64_t i = 0; i < in_force->filled; i++) robot->cw[in_force->places[i]] = in_force->values[i];
  robot->in_force = in_force;
}

{{name}}_t *{{name}}_init(void *memory, size_t size) {
  if (memory == NULL || size < {{NAME}}_MEMORY) return NULL;
  memset(memory, 0, {{NAME}}_MEMORY);
  char *at = memory;
  {{name}}_t *robot = (void *)take(&at, (sizeof *robot + 7) / 8);
  for (int i = 0; i < LEVELS && robot->level == NULL; i++)
    if (runs_here(&levels[i])) robot->level = &levels[i];
  if (robot->level == NULL) return NULL;
  robot->ws = take(&at, WORK);
  robot->inputs = take(&at, INPUT_SIZE);
  robot->out = take(&at, OUT);
  robot->cw = take(&at, WORK_OF_CONTACTS);
  robot->step = take(&at, STEP_WORK);
  robot->lists = (int64_t *)take(&at, STEP_LISTS);
  memcpy(robot->ws, work_header, sizeof work_header);
  memcpy(robot->inputs, first_inputs, sizeof first_inputs);
  for (int i = 0; i < M; i++) robot->out[i * K + M + i] = 1.0;
  for (int i = 0; i < K; i++) robot->lists[i] = i;
  robot->given = GIVEN;
  use_contacts(robot, (1u << {{NAME}}_CONTACTS) - 1);
  return robot;
}

{{name}}_t *{{name}}_create(void) {
  void *memory = malloc({{NAME}}_MEMORY);
  {{name}}_t *robot = {{name}}_init(memory, {{NAME}}_MEMORY);
  if (robot == NULL) free(memory);
  else robot->owned = memory;
  return robot;
}

void {{name}}_destroy({{name}}_t *robot) {
  if (robot != NULL) free(robot->owned);
}

const char *{{name}}_level(const {{name}}_t *robot) { return robot->level->name; }

int {{name}}_set_level({{name}}_t *robot, const char *level) {
  if (robot == NULL || level == NULL) return {{NAME}}_BAD_ARGUMENT;
  for (int i = 0; i < LEVELS; i++)
    if (strcmp(levels[i].name, level) == 0 && runs_here(&levels[i])) {
      robot->level = &levels[i];
      return {{NAME}}_OK;
    }
  return {{NAME}}_NO_PROCESSOR;
}

const char *{{name}}_status_text(int status) {
  switch (status) {
    case {{NAME}}_OK: return "success";
    case {{NAME}}_NOT_FINITE: return "an input or a result holds NaN or inf";
    case {{NAME}}_REDUNDANT: return "contacts in force depend on each other; take one out of the set";
    case {{NAME}}_BAD_ARGUMENT: return "a pointer is NULL, a number is out of range, H is no pose, or a fixed base has a twist";
    case {{NAME}}_NO_PROCESSOR: return "no such level of the library runs on this processor";
    case {{NAME}}_NO_MEMORY: return "there are less than {{NAME}}_MEMORY bytes";
    default: return status >= {{NAME}}_SINGULAR ? "a joint moves no inertia at this state" : "unknown status";
  }
}

static int all_finite(const double *values, int count) {
  for (int i = 0; i < count; i++)
    if (!isfinite(values[i])) return 0;
  return 1;
}

/* NaN in what is given looks like a joint without inertia, or like contacts that depend on each other.
 * A velocity of all joints is one of the caller's: that of its leader. */
static int own_status(int64_t status, const double *x, const double *given, int count) {
  if (status != {{NAME}}_OK && !(all_finite(x, {{NAME}}_X) && all_finite(given, count))) return {{NAME}}_NOT_FINITE;
  return (int)(status > 6 ? 7 + MASTER(status - 7) : status);
}

static int run({{name}}_t *robot, const double *x, const double *tau) {
  if (robot == NULL || x == NULL || tau == NULL) return {{NAME}}_BAD_ARGUMENT;
  const level_t *code = robot->level;
  const contact_set_t *in_force = robot->in_force;
  memcpy(robot->x, x, sizeof robot->x);
  (void)in_force;
#if IS_PLAIN
  memcpy(robot->inputs, tau, N * sizeof *tau);
#if {{NAME}}_CONTACTS
  if (in_force->rows > 0)
    return own_status(code->linearize_in_contact(ROBOT, in_force->sites, in_force->size, robot->cw, WORK_OF_CONTACTS,
        robot->x, {{NAME}}_X, robot->inputs, robot->given, robot->ws, WORK, robot->out, OUT), x, tau, N);
#endif
  return own_status(code->linearize(ROBOT, robot->x, {{NAME}}_X, robot->inputs, robot->given, robot->ws, WORK,
      robot->out, OUT), x, tau, N);
#else
  memcpy(robot->tau, tau, N * sizeof *tau);
  return own_status(code->linearize_own(ROBOT, in_force->sites, in_force->size, robot->cw, WORK_OF_CONTACTS, OWN,
      robot->x, {{NAME}}_X, robot->tau, N, robot->inputs, robot->given, robot->ws, WORK, robot->out, OUT), x, tau, N);
#endif
}

const double *{{name}}_A(const {{name}}_t *robot) { return robot->out; }
const double *{{name}}_B(const {{name}}_t *robot) { return robot->out + K * K; }
const double *{{name}}_nu_dot(const {{name}}_t *robot) { return robot->out + K * K + K * INPUTS; }

int {{name}}_linearize({{name}}_t *robot, const double *x, const double *tau, double *A, double *B, double *nu_dot) {
  int status = run(robot, x, tau);
  if (status != {{NAME}}_OK) return status;
  if (A != NULL) memcpy(A, {{name}}_A(robot), sizeof(double) * K * K);
  if (B != NULL) memcpy(B, {{name}}_B(robot), sizeof(double) * K * INPUTS);
  if (nu_dot != NULL) memcpy(nu_dot, {{name}}_nu_dot(robot), sizeof(double) * M);
  return {{NAME}}_OK;
}

int {{name}}_linearize_batch({{name}}_t *robot, size_t count, const double *x, const double *tau,
    double *A, double *B, double *nu_dot) {
  int first = {{NAME}}_OK;
  if (count > 0 && (x == NULL || tau == NULL)) return {{NAME}}_BAD_ARGUMENT;
  for (size_t i = 0; i < count; i++) {
    int status = {{name}}_linearize(robot, x + i * {{NAME}}_X, tau + i * N, A == NULL ? NULL : A + i * K * K,
        B == NULL ? NULL : B + i * K * INPUTS, nu_dot == NULL ? NULL : nu_dot + i * M);
    if (first == {{NAME}}_OK) first = status;
  }
  return first;
}

//: contacts
int {{name}}_set_contacts({{name}}_t *robot, unsigned set) {
  if (robot == NULL || set >> {{NAME}}_CONTACTS) return {{NAME}}_BAD_ARGUMENT;
  if (robot->in_force != &contact_sets[set]) use_contacts(robot, set);
  return {{NAME}}_OK;
}

unsigned {{name}}_contacts(const {{name}}_t *robot) { return (unsigned)(robot->in_force - contact_sets); }
int {{name}}_contact_rows(const {{name}}_t *robot) { return (int)robot->in_force->rows; }
const double *{{name}}_forces(const {{name}}_t *robot) { return {{name}}_nu_dot(robot) + M; }
const double *{{name}}_forces_by_state(const {{name}}_t *robot) { return {{name}}_forces(robot) + robot->in_force->rows; }
const double *{{name}}_forces_by_effort(const {{name}}_t *robot) {
  return {{name}}_forces_by_state(robot) + robot->in_force->rows * K;
}

//: end
//: wrenches
int {{name}}_set_wrench({{name}}_t *robot, int place, const double *value) {
  if (robot == NULL || value == NULL || place < 0 || place >= {{NAME}}_WRENCHES) return {{NAME}}_BAD_ARGUMENT;
  double *record = robot->inputs + TREE_JOINTS + WRENCH_RECORD * place + WRENCH_VALUE;
  for (int i = 0; i < 6; i++) {
    record[i] = 0.0;
    for (int j = 0; j < 6; j++) record[i] += wrench_maps[36 * place + 6 * i + j] * value[j];
  }
  return {{NAME}}_OK;
}

//: end
//: dynamics
#if IS_TIED
/* The state of all joints, mimic joints too. */
static void expand(const double *x, double *all) {
  memcpy(all, x, 16 * sizeof *x);
  memcpy(all + 16 + TREE_JOINTS, x + 16 + N, 6 * sizeof *x);
  for (int c = 0; c < TREE_JOINTS; c++) {
    all[16 + c] = FACTOR(c) * x[16 + MASTER(c)] + OFFSET(c);
    all[22 + TREE_JOINTS + c] = FACTOR(c) * x[22 + N + MASTER(c)];
  }
}
#endif

//: end
//: forward_dynamics
int {{name}}_forward_dynamics({{name}}_t *robot, const double *x, const double *tau, double *nu_dot) {
  if (nu_dot == NULL) return {{NAME}}_BAD_ARGUMENT;
#if !IS_TIED && !{{NAME}}_WRENCHES
  if (robot == NULL || x == NULL || tau == NULL) return {{NAME}}_BAD_ARGUMENT;
  if (robot->in_force->rows == 0) {
    memcpy(robot->x, x, sizeof robot->x);
    memcpy(robot->tau, tau, N * sizeof *tau);
    return own_status(robot->level->forward_dynamics(ROBOT, robot->x, {{NAME}}_X, robot->tau, N, robot->ws, WORK,
        nu_dot, M), x, tau, N);
  }
#endif
  return {{name}}_linearize(robot, x, tau, NULL, NULL, nu_dot);
}

//: end
//: inverse_dynamics
int {{name}}_inverse_dynamics({{name}}_t *robot, const double *x, const double *nu_dot, double *forces) {
  if (robot == NULL || x == NULL || nu_dot == NULL || forces == NULL) return {{NAME}}_BAD_ARGUMENT;
  double given[BASE + TREE_JOINTS + 1];
#if IS_TIED
  double all[22 + 2 * TREE_JOINTS], found[BASE + TREE_JOINTS];
  expand(x, all);
  memcpy(given, nu_dot, BASE * sizeof *nu_dot);
  for (int c = 0; c < TREE_JOINTS; c++) given[BASE + c] = FACTOR(c) * nu_dot[BASE + MASTER(c)];
  int64_t status = robot->level->inverse_dynamics(ROBOT, all, 22 + 2 * TREE_JOINTS, given, BASE + TREE_JOINTS,
      robot->ws, WORK, found, BASE + TREE_JOINTS);
  memcpy(forces, found, BASE * sizeof *found);
  memset(forces + BASE, 0, N * sizeof *forces);
  for (int c = 0; c < TREE_JOINTS; c++) forces[BASE + MASTER(c)] += FACTOR(c) * found[BASE + c];
  return own_status(status, x, nu_dot, M);
#else
  memcpy(robot->x, x, sizeof robot->x);
  memcpy(given, nu_dot, M * sizeof *nu_dot);
  return own_status(robot->level->inverse_dynamics(ROBOT, robot->x, {{NAME}}_X, given, M, robot->ws, WORK, forces, M),
      x, nu_dot, M);
#endif
}

//: end
//: mass_matrix
int {{name}}_mass_matrix({{name}}_t *robot, const double *x, double *result) {
  if (robot == NULL || x == NULL || result == NULL) return {{NAME}}_BAD_ARGUMENT;
#if IS_TIED
  enum { ALL = BASE + TREE_JOINTS };
  double all[22 + 2 * TREE_JOINTS], found[ALL * ALL];
  memset(result, 0, sizeof(double) * M * M);
  expand(x, all);
  int64_t status = robot->level->mass_matrix(ROBOT, all, 22 + 2 * TREE_JOINTS, robot->ws, WORK, found, ALL * ALL);
  for (int i = 0; i < ALL; i++)
    for (int j = 0; j < ALL; j++) {
      int row = i < BASE ? i : BASE + (int)MASTER(i - BASE), column = j < BASE ? j : BASE + (int)MASTER(j - BASE);
      double factor = (i < BASE ? 1.0 : FACTOR(i - BASE)) * (j < BASE ? 1.0 : FACTOR(j - BASE));
      result[row * M + column] += factor * found[i * ALL + j];
    }
  return own_status(status, x, NULL, 0);
#else
  memcpy(robot->x, x, sizeof robot->x);
  return own_status(robot->level->mass_matrix(ROBOT, robot->x, {{NAME}}_X, robot->ws, WORK, result, M * M), x, NULL, 0);
#endif
}

//: end
//: discretize
/* to = x moved by z, K numbers stride apart, times scale. */
static void retract(const {{name}}_t *robot, const double *x, const double *z, int64_t stride, double scale, double *to) {
  double step[K];
  for (int i = 0; i < K; i++) step[i] = scale * z[i * stride];
#if {{NAME}}_FLOATING_BASE
  robot->level->retract(x, 4, step, 6, to, 4);
  for (int i = 0; i < 6 + 2 * N; i++) to[16 + i] = x[16 + i] + step[6 + i];
#else
  (void)robot;
  memcpy(to, x, {{NAME}}_X * sizeof *x);
  for (int i = 0; i < N; i++) to[16 + i] = x[16 + i] + step[i], to[22 + N + i] = x[22 + N + i] + step[N + i];
#endif
}

/* The rate of x: [v; r; nu_dot]. */
static void rate(const double *x, const double *nu_dot, double *f) {
  memcpy(f, x + {{NAME}}_X - M, M * sizeof *x);
  memcpy(f + M, nu_dot, M * sizeof *x);
}

/* to (K x width, stride apart) = unit + dt X + dt^2 / 2 A X */
static void second_order(const double *A, const double *X, int width, double dt, double *to) {
  for (int i = 0; i < K; i++) {
    double *row = to + i * width;
    for (int c = 0; c < width; c++) row[c] = dt * X[i * width + c];
    for (int j = 0; j < K; j++) {
      double a = 0.5 * dt * dt * A[i * K + j];
      if (a != 0.0)
        for (int c = 0; c < width; c++) row[c] += a * X[j * width + c];
    }
  }
}

static int zoh({{name}}_t *robot, const double *x, double dt, double *Phi, double *Gamma, double *next_x) {
  enum { WIDTH = K + INPUTS + 1, STRIDE = STEP_STRIDE };
  double f[K];
  rate(x, {{name}}_nu_dot(robot), f);
  for (int i = 0; i < K; i++) {
    double *row = robot->step + i * STRIDE;
    for (int j = 0; j < K; j++) row[j] = dt * {{name}}_A(robot)[i * K + j];
    for (int j = 0; j < INPUTS; j++) row[K + j] = dt * {{name}}_B(robot)[i * INPUTS + j];
    row[K + INPUTS] = dt * f[i];
  }
  int64_t part = robot->level->exponential(robot->step, STEP_WORK, robot->lists, STEP_LISTS, K, INPUTS + 1);
  const double *E = robot->step + part * STRIDE * STEP_ROWS;
  for (int i = 0; i < K; i++)
    for (int j = 0; j < WIDTH; j++)
      if (!isfinite(E[i * STRIDE + j])) return {{NAME}}_NOT_FINITE;
  for (int i = 0; i < K; i++) {
    if (Phi != NULL) memcpy(Phi + i * K, E + i * STRIDE, K * sizeof *E);
    if (Gamma != NULL) memcpy(Gamma + i * INPUTS, E + i * STRIDE + K, INPUTS * sizeof *E);
  }
  if (next_x != NULL) retract(robot, x, E + K + INPUTS, STRIDE, 1.0, next_x);
  return {{NAME}}_OK;
}

static int midpoint({{name}}_t *robot, const double *x, const double *tau, double dt, double *Phi, double *Gamma,
    double *next_x) {
  double f[K], middle[{{NAME}}_X];
  rate(x, {{name}}_nu_dot(robot), f);
  retract(robot, x, f, 1, 0.5 * dt, middle);
  int status = run(robot, middle, tau);
  if (status != {{NAME}}_OK) return status;
  const double *A = {{name}}_A(robot);
  if (Phi != NULL) {
    second_order(A, A, K, dt, Phi);
    for (int i = 0; i < K; i++) Phi[i * K + i] += 1.0;
  }
  if (Gamma != NULL) second_order(A, {{name}}_B(robot), INPUTS, dt, Gamma);
  rate(middle, {{name}}_nu_dot(robot), f);
  if (next_x != NULL) retract(robot, x, f, 1, dt, next_x);
  return {{NAME}}_OK;
}

int {{name}}_discretize({{name}}_t *robot, const double *x, const double *tau, double dt, int method, double *Phi,
    double *Gamma, double *next_x) {
  if (!(dt > 0.0 && isfinite(dt)) || (method != {{NAME}}_ZOH && method != {{NAME}}_MIDPOINT))
    return {{NAME}}_BAD_ARGUMENT;
  int status = run(robot, x, tau);
  if (status != {{NAME}}_OK) return status;
  return method == {{NAME}}_ZOH ? zoh(robot, x, dt, Phi, Gamma, next_x)
                                : midpoint(robot, x, tau, dt, Phi, Gamma, next_x);
}
//: end
