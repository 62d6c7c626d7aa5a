/* SPDX-FileCopyrightText: 2026 geolin_ros contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * {{robot}}, linearized: written by geolin export, version {{version}}.
 *
 * Units are SI: m, rad, kg, N, N m, s. Six-vectors are [linear; angular].
 *
 * The state x has {{NAME}}_X numbers, [H | s | v | r]:
 *   H (16)  pose of the base frame in the world, a 4 x 4 matrix by rows, last row 0 0 0 1
 *   s ({{n}})  joint positions [rad or m]
 *   v (6)   twist of the base, linear before angular, in axes of the base [m/s, rad/s]{{fixed}}
 *   r ({{n}})  joint rates [rad/s or m/s]
 * Joints are in the order of {{name}}_joint_names, everywhere.
 *
 * About a state, and efforts tau ({{n}}) of all joints [N m or N]:
 *   d/dt z = A z + B du,   nu_dot the acceleration there
 * z ({{NAME}}_STATES) is what x is displaced by, in the order of {{name}}_state_names{{z}};
 * the displaced pose is H exp(z_H), z_H in axes of the base. It is measured from the motion through
 * the state, so there is no constant term. du ({{NAME}}_INPUTS) are changes of the efforts of
 * {{name}}_input_names. nu_dot ({{NAME}}_M) is {{nu_dot}}.
 * Matrices are row-major, without gaps.
 *
 * Functions that compute return {{NAME}}_OK = 0, or a status that {{name}}_status_text explains;
 * their results are then not to be used. They do not allocate, lock or make system calls.
 * An instance belongs to one thread at a time; different instances do not share anything.
 * Pointers to results may be NULL: then they are not copied out. Results may not overlap with inputs.
 */
#ifndef {{NAME}}_H
#define {{NAME}}_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define {{NAME}}_API __attribute__((visibility("default")))
#else
#define {{NAME}}_API
#endif

#define {{NAME}}_JOINTS {{n}}        /* joints, n */
#define {{NAME}}_M {{m}}             /* velocities: n{{plus6}} */
#define {{NAME}}_STATES {{k}}        /* rows of A: 2 m */
#define {{NAME}}_INPUTS {{inputs}}   /* columns of B */
#define {{NAME}}_X {{x}}             /* numbers of a state x */
#define {{NAME}}_CONTACTS {{contacts}}      /* frames that may be in contact */
#define {{NAME}}_CONTACT_ROWS {{contact_rows}}  /* rows of contact forces with all of them in force */
#define {{NAME}}_WRENCHES {{wrenches}}      /* places where external wrenches may act */
#define {{NAME}}_FLOATING_BASE {{floating}}
#define {{NAME}}_MEMORY {{memory}}  /* bytes of an instance */
#define {{NAME}}_MODEL_HASH "{{hash}}"  /* of all numbers and names of the model */
#define {{NAME}}_GEOLIN_VERSION "{{version}}"

enum {
  {{NAME}}_OK = 0,
  {{NAME}}_NOT_FINITE = -1,   /* an input or a result holds NaN or inf */
  {{NAME}}_REDUNDANT = -2,    /* contacts in force depend on each other */
  {{NAME}}_BAD_ARGUMENT = -3, /* a null pointer, a number out of range, an H that is no pose, or a twist of a fixed base */
  {{NAME}}_NO_PROCESSOR = -4, /* no level of this library runs on this processor */
  {{NAME}}_NO_MEMORY = -5,    /* less than {{NAME}}_MEMORY bytes */
  {{NAME}}_SINGULAR = 1       /* this + k: velocity k (0-5: the base, then joints) moves no inertia */
};

/* Names, for all time of the program. */
{{NAME}}_API extern const char *const {{name}}_joint_names[{{NAME}}_JOINTS + 1]; /* NULL ends all lists */
{{NAME}}_API extern const char *const {{name}}_input_names[{{NAME}}_INPUTS + 1];
{{NAME}}_API extern const char *const {{name}}_state_names[{{NAME}}_STATES + 1];
{{NAME}}_API extern const char *const {{name}}_state_units[{{NAME}}_STATES + 1];
{{NAME}}_API extern const char *const {{name}}_contact_names[{{NAME}}_CONTACTS + 1];
{{NAME}}_API extern const char *const {{name}}_wrench_names[{{NAME}}_WRENCHES + 1];
{{NAME}}_API extern const char *const {{name}}_base_link;

/* Limits of joints, infinite where the description has none. */
{{NAME}}_API extern const double {{name}}_lower[{{NAME}}_JOINTS + 1];    /* [rad or m] */
{{NAME}}_API extern const double {{name}}_upper[{{NAME}}_JOINTS + 1];
{{NAME}}_API extern const double {{name}}_velocity[{{NAME}}_JOINTS + 1]; /* [rad/s or m/s] */
{{NAME}}_API extern const double {{name}}_effort[{{NAME}}_JOINTS + 1];   /* [N m or N] */

/* Make an instance: the robot with memory of its own. */
typedef struct {{name}}_instance {{name}}_t;

/* In memory from malloc; NULL if there is none, or no level runs here. */
{{NAME}}_API {{name}}_t *{{name}}_create(void);
{{NAME}}_API void {{name}}_destroy({{name}}_t *robot);
/* In the caller's memory, which stays the caller's; at least {{NAME}}_MEMORY bytes, any alignment. NULL as above. */
{{NAME}}_API {{name}}_t *{{name}}_init(void *memory, size_t size);

{{NAME}}_API const char *{{name}}_status_text(int status);
/* Name of the level of instructions that is used. */
{{NAME}}_API const char *{{name}}_level(const {{name}}_t *robot);
/* Use another one; {{NAME}}_NO_PROCESSOR if it is not in the library or the processor lacks it. */
{{NAME}}_API int {{name}}_set_level({{name}}_t *robot, const char *level);

/* Linearize about a state x ({{NAME}}_X) and efforts tau ({{NAME}}_JOINTS).
 * A ({{NAME}}_STATES x {{NAME}}_STATES), B ({{NAME}}_STATES x {{NAME}}_INPUTS), nu_dot ({{NAME}}_M). */
{{NAME}}_API int {{name}}_linearize({{name}}_t *robot, const double *x, const double *tau,
    double *A, double *B, double *nu_dot);
/* The results of the last linearization where they were computed, valid until the next call with
 * this instance: what is not copied costs nothing. */
{{NAME}}_API const double *{{name}}_A(const {{name}}_t *robot);
{{NAME}}_API const double *{{name}}_B(const {{name}}_t *robot);
{{NAME}}_API const double *{{name}}_nu_dot(const {{name}}_t *robot);

/* The same about count states one after another: x (count x {{NAME}}_X), and so on.
 * All are done; the first status that is not 0 is returned. */
{{NAME}}_API int {{name}}_linearize_batch({{name}}_t *robot, size_t count, const double *x,
    const double *tau, double *A, double *B, double *nu_dot);

//: contacts
/* Contacts. Bit c of a set says whether {{name}}_contact_names[c] is in force; at first
 * all are. A ball is held at the point that touches level ground at x. A point has 3 rows (force), a sole 6 (force, torque), in axes of the contact frame, on
 * the robot; rows of contacts that are not in force are left out. A, B and nu_dot obey them.
 * Contacts that depend on each other (two flat feet of one leg, a third sole ...) give {{NAME}}_REDUNDANT. */
{{NAME}}_API int {{name}}_set_contacts({{name}}_t *robot, unsigned set);
{{NAME}}_API unsigned {{name}}_contacts(const {{name}}_t *robot);
{{NAME}}_API int {{name}}_contact_rows(const {{name}}_t *robot);
/* Contact forces (rows) of the last linearization, and their derivatives by z (rows x
 * {{NAME}}_STATES) and by the efforts (rows x {{NAME}}_INPUTS), valid until the next call. */
{{NAME}}_API const double *{{name}}_forces(const {{name}}_t *robot);
{{NAME}}_API const double *{{name}}_forces_by_state(const {{name}}_t *robot);
{{NAME}}_API const double *{{name}}_forces_by_effort(const {{name}}_t *robot);

//: end
//: wrenches
/* External wrenches: value is [force; moment] (6) at {{name}}_wrench_names[place], zero at first; it
 * stays until it is set again. Inverse dynamics does not count them. */
{{NAME}}_API int {{name}}_set_wrench({{name}}_t *robot, int place, const double *value);

//: end
//: forward_dynamics
/* nu_dot ({{NAME}}_M) by efforts tau ({{NAME}}_JOINTS), contacts and wrenches. */
{{NAME}}_API int {{name}}_forward_dynamics({{name}}_t *robot, const double *x, const double *tau, double *nu_dot);

//: end
//: inverse_dynamics
/* The forces ({{NAME}}_M), on the base in its axes and at the joints, that nu_dot ({{NAME}}_M) needs
 * without contacts. */
{{NAME}}_API int {{name}}_inverse_dynamics({{name}}_t *robot, const double *x, const double *nu_dot, double *forces);

//: end
//: mass_matrix
/* M ({{NAME}}_M x {{NAME}}_M), rotors included. */
{{NAME}}_API int {{name}}_mass_matrix({{name}}_t *robot, const double *x, double *M);

//: end
//: discretize
enum {
  {{NAME}}_ZOH = 1,     /* matrix exponential; local error dt^2, exact at equilibria */
  {{NAME}}_MIDPOINT = 2 /* linearized half a step ahead; local error dt^3 */
};

/* One step of dt [s] > 0 with constant efforts: z(t + dt) = Phi z(t) + Gamma du about the motion through
 * x, which arrives at next_x ({{NAME}}_X). Phi and Gamma are as large as A and B. */
{{NAME}}_API int {{name}}_discretize({{name}}_t *robot, const double *x, const double *tau, double dt, int method,
    double *Phi, double *Gamma, double *next_x);

//: end
#ifdef __cplusplus
}
#endif

#endif
