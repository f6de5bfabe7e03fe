// Entry points of the package: passes calls on to the functions in Rust, and turns their errors into errors of R. Savvy
// marks an error by the lowest bit of the pointer that it returns (<https://github.com/yutannihilation/savvy>).

#include <limits.h>
#include <stdint.h>
#include <string.h>
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

SEXP savvy_read_nodes__ffi(SEXP a, SEXP b);
static SEXP read_nodes(SEXP a, SEXP b) { return checked(savvy_read_nodes__ffi(a, b)); }

SEXP savvy_read_stability__ffi(SEXP a);
static SEXP read_stability(SEXP a) { return checked(savvy_read_stability__ffi(a)); }

SEXP savvy_read_groups__ffi(SEXP a, SEXP b);
static SEXP read_groups(SEXP a, SEXP b) { return checked(savvy_read_groups__ffi(a, b)); }

SEXP savvy_write_clusters__ffi(SEXP a, SEXP b, SEXP c);
static SEXP write_clusters(SEXP a, SEXP b, SEXP c) { return checked(savvy_write_clusters__ffi(a, b, c)); }

SEXP savvy_place_network__ffi(SEXP a, SEXP b, SEXP c, SEXP d, SEXP e);
static SEXP place_network(SEXP a, SEXP b, SEXP c, SEXP d, SEXP e) {
  return checked(savvy_place_network__ffi(a, b, c, d, e));
}

SEXP savvy_choose_columns__ffi(SEXP a, SEXP b);
static SEXP choose_columns(SEXP a, SEXP b) { return checked(savvy_choose_columns__ffi(a, b)); }

SEXP savvy_Job_start__ffi(SEXP a, SEXP b, SEXP c);
static SEXP job_start(SEXP a, SEXP b, SEXP c) { return checked(savvy_Job_start__ffi(a, b, c)); }

SEXP savvy_Job_wait__ffi(SEXP a);
static SEXP job_wait(SEXP a) { return checked(savvy_Job_wait__ffi(a)); }

SEXP savvy_Job_feed__ffi(SEXP a, SEXP b, SEXP c, SEXP d, SEXP e);
static SEXP job_feed(SEXP a, SEXP b, SEXP c, SEXP d, SEXP e) { return checked(savvy_Job_feed__ffi(a, b, c, d, e)); }

SEXP savvy_Job_stop__ffi(SEXP a);
static SEXP job_stop(SEXP a) { return checked(savvy_Job_stop__ffi(a)); }

SEXP savvy_Job_finish__ffi(SEXP a);
static SEXP job_finish(SEXP a) { return checked(savvy_Job_finish__ffi(a)); }

// Number of rows by which texts are fetched ahead.
#define AHEAD 24
#if defined(__GNUC__)
#define FETCH(place) __builtin_prefetch(place)
#else
#define FETCH(place) ((void)(place))
#endif

// Returns a text of a vector, or that of a code of a factor.
static SEXP text_at(const SEXP *of, const int *code, int row) {
  if (!code) return of[row];
  return code[row] == NA_INTEGER ? NA_STRING : of[code[row] - 1];
}

// Returns texts as one vector of bytes and one of their ends, NA for a missing text: Rust reads both as they are, and R's
// objects are visited only here. The texts are those of `vector` after the first `from`, or at the places `codes` in it,
// from 1. Both vectors are those of `room`, an earlier result, if they are long enough: garbage of this size would make R
// collect, which takes as long as reading. Returns NULL if a text is marked as another encoding than UTF-8.
static SEXP texts(SEXP vector, SEXP codes, SEXP from, SEXP count, SEXP room) {
  R_xlen_t begin = (R_xlen_t)Rf_asReal(from);
  int rows = (int)Rf_asReal(count);
  SEXP found = PROTECT(Rf_allocVector(VECSXP, 2));
  int has_room = room != R_NilValue;
  SEXP ends = has_room ? VECTOR_ELT(room, 1) : R_NilValue;
  if (!has_room || XLENGTH(ends) < rows) ends = Rf_allocVector(INTSXP, rows);
  SET_VECTOR_ELT(found, 1, ends);
  SEXP bytes = has_room ? VECTOR_ELT(room, 0) : Rf_allocVector(RAWSXP, 16 * (R_xlen_t)rows);
  SET_VECTOR_ELT(found, 0, bytes);
  const int *code = codes == R_NilValue ? NULL : INTEGER_RO(codes) + begin;
  const SEXP *of = STRING_PTR_RO(vector) + (code ? 0 : begin);
  int *end = INTEGER(ends);
  Rbyte *first = RAW(bytes);
  R_xlen_t used = 0, most = XLENGTH(bytes);
  for (int row = 0; row < rows; row++) {
    // Texts lie anywhere in memory, so they are fetched some rows ahead: their length, and what follows it.
    if (row + AHEAD < rows) {
      const char *later = (const char *)text_at(of, code, row + AHEAD);
      FETCH(later + 32);
      FETCH(later + 64);
    }
    SEXP text = text_at(of, code, row);
    if (text == NA_STRING) {
      end[row] = NA_INTEGER;
      continue;
    }
    int length = LENGTH(text);
    if (used + length > most) {
      most = 2 * (used + length);
      if (most / 2 > INT_MAX) Rf_error("the names of %d rows take more than 2 GiB", rows);
      SEXP larger = Rf_allocVector(RAWSXP, most);
      if (used) memcpy(RAW(larger), first, used);
      SET_VECTOR_ELT(found, 0, larger);
      first = RAW(larger);
    }
    if (length) memcpy(first + used, CHAR(text), length);
    used += length;
    end[row] = (int)used;
  }
  unsigned char high = 0;
  for (R_xlen_t byte = 0; byte < used; byte++) high |= first[byte];
  for (int row = 0; high > 127 && row < rows; row++) {
    if (end[row] == NA_INTEGER) continue;
    cetype_t encoding = Rf_getCharCE(text_at(of, code, row));
    if (encoding != CE_UTF8 && encoding != CE_NATIVE) {
      found = R_NilValue;
      break;
    }
  }
  UNPROTECT(1);
  return found;
}

static const R_CallMethodDef entries[] = {
    {"texts", (DL_FUNC)&texts, 5},
    {"prepare", (DL_FUNC)&prepare, 0},
    {"run", (DL_FUNC)&run, 1},
    {"options", (DL_FUNC)&options, 1},
    {"read_nodes", (DL_FUNC)&read_nodes, 2},
    {"read_stability", (DL_FUNC)&read_stability, 1},
    {"read_groups", (DL_FUNC)&read_groups, 2},
    {"write_clusters", (DL_FUNC)&write_clusters, 3},
    {"place_network", (DL_FUNC)&place_network, 5},
    {"choose_columns", (DL_FUNC)&choose_columns, 2},
    {"job_start", (DL_FUNC)&job_start, 3},
    {"job_wait", (DL_FUNC)&job_wait, 1},
    {"job_feed", (DL_FUNC)&job_feed, 5},
    {"job_stop", (DL_FUNC)&job_stop, 1},
    {"job_finish", (DL_FUNC)&job_finish, 1},
    {NULL, NULL, 0},
};

void R_init_outcore(DllInfo *library) {
  R_registerRoutines(library, NULL, entries, NULL, NULL);
  R_useDynamicSymbols(library, FALSE);
  R_forceSymbols(library, TRUE);
}
