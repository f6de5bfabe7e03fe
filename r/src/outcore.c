// Entry points of the package: passes calls on to the functions in Rust, and turns their errors into errors of R. Savvy
// marks an error by the lowest bit of the pointer that it returns (<https://github.com/yutannihilation/savvy>).

#include <stdint.h>
#include <Rinternals.h>
#include <R_ext/Rdynload.h>

static SEXP checked(SEXP result) {
  uintptr_t bits = (uintptr_t)result;
  if ((bits & 1) == 0) return result;
  SEXP error = (SEXP)(bits & ~(uintptr_t)1);
  if (TYPEOF(error) == CHARSXP) Rf_errorcall(R_NilValue, "%s", CHAR(error));
  // Not an error of Rust, but one of R on its way.
  R_ContinueUnwind(error);
  return R_NilValue;
}

SEXP savvy_prepare__ffi(void);
static SEXP prepare(void) { return checked(savvy_prepare__ffi()); }

SEXP savvy_run__ffi(SEXP a);
static SEXP run(SEXP a) { return checked(savvy_run__ffi(a)); }

SEXP savvy_options__ffi(SEXP a);
static SEXP options(SEXP a) { return checked(savvy_options__ffi(a)); }

SEXP savvy_version__ffi(void);
static SEXP version(void) { return checked(savvy_version__ffi()); }

SEXP savvy_read_nodes__ffi(SEXP a, SEXP b, SEXP c);
static SEXP read_nodes(SEXP a, SEXP b, SEXP c) { return checked(savvy_read_nodes__ffi(a, b, c)); }

SEXP savvy_read_rows__ffi(SEXP a, SEXP b, SEXP c);
static SEXP read_rows(SEXP a, SEXP b, SEXP c) { return checked(savvy_read_rows__ffi(a, b, c)); }

SEXP savvy_read_stability__ffi(SEXP a);
static SEXP read_stability(SEXP a) { return checked(savvy_read_stability__ffi(a)); }

SEXP savvy_read_groups__ffi(SEXP a, SEXP b);
static SEXP read_groups(SEXP a, SEXP b) { return checked(savvy_read_groups__ffi(a, b)); }

SEXP savvy_write_clusters__ffi(SEXP a, SEXP b, SEXP c);
static SEXP write_clusters(SEXP a, SEXP b, SEXP c) { return checked(savvy_write_clusters__ffi(a, b, c)); }

SEXP savvy_choose_columns__ffi(SEXP a, SEXP b);
static SEXP choose_columns(SEXP a, SEXP b) { return checked(savvy_choose_columns__ffi(a, b)); }

SEXP savvy_Job_start__ffi(SEXP a, SEXP b, SEXP c, SEXP d);
static SEXP job_start(SEXP a, SEXP b, SEXP c, SEXP d) { return checked(savvy_Job_start__ffi(a, b, c, d)); }

SEXP savvy_Job_wait__ffi(SEXP a);
static SEXP job_wait(SEXP a) { return checked(savvy_Job_wait__ffi(a)); }

SEXP savvy_Job_feed__ffi(SEXP a, SEXP b, SEXP c);
static SEXP job_feed(SEXP a, SEXP b, SEXP c) { return checked(savvy_Job_feed__ffi(a, b, c)); }

SEXP savvy_Job_stop__ffi(SEXP a);
static SEXP job_stop(SEXP a) { return checked(savvy_Job_stop__ffi(a)); }

SEXP savvy_Job_finish__ffi(SEXP a);
static SEXP job_finish(SEXP a) { return checked(savvy_Job_finish__ffi(a)); }

static const R_CallMethodDef entries[] = {
    {"prepare", (DL_FUNC)&prepare, 0},
    {"run", (DL_FUNC)&run, 1},
    {"options", (DL_FUNC)&options, 1},
    {"version", (DL_FUNC)&version, 0},
    {"read_nodes", (DL_FUNC)&read_nodes, 3},
    {"read_rows", (DL_FUNC)&read_rows, 3},
    {"read_stability", (DL_FUNC)&read_stability, 1},
    {"read_groups", (DL_FUNC)&read_groups, 2},
    {"write_clusters", (DL_FUNC)&write_clusters, 3},
    {"choose_columns", (DL_FUNC)&choose_columns, 2},
    {"job_start", (DL_FUNC)&job_start, 4},
    {"job_wait", (DL_FUNC)&job_wait, 1},
    {"job_feed", (DL_FUNC)&job_feed, 3},
    {"job_stop", (DL_FUNC)&job_stop, 1},
    {"job_finish", (DL_FUNC)&job_finish, 1},
    {NULL, NULL, 0},
};

void R_init_outcore(DllInfo *library) {
  R_registerRoutines(library, NULL, entries, NULL, NULL);
  R_useDynamicSymbols(library, FALSE);
  R_forceSymbols(library, TRUE);
}
