#' Communities in graphs larger than memory
#'
#' [outcore()] finds communities; [outcore_build()] stores a graph for several runs, [outcore_plan()] predicts memory,
#' disk and time, [outcore_score()] measures the quality of communities, [outcore_compare()] compares two results,
#' [outcore_export()] writes a graph for other programs, and [outcore_lab()] measures the disk.
#' [ExoLabel()] and [EstimateExoLabel()] have the arguments and results of the functions of the package SynExtend.
#'
#' All functions take the options of the command `outcore` as arguments: `--min-weight 0.5` is `min_weight = 0.5`, a
#' switch such as `--directed` is `directed = TRUE`, and several values are a vector. [outcore_options()] lists them.
#'
#' @section Errors:
#' An error is a condition of class `outcore_error`, and of a class with its kind, such as `outcore_bad_weight`. It has
#' the fields `kind`, `path`, `line`, `column`, `hint` and `kept`: what was saved for the next call. Warnings have the
#' class `outcore_warning`. An interrupt (Ctrl-C or Esc) stops a job within a moment; it keeps its progress where it
#' can, and the same call resumes.
#'
#' @useDynLib outcore, .registration = TRUE, .fixes = "c_"
#' @name outcore-package
#' @keywords internal
NULL

.onLoad <- function(libname, pkgname) {
  .Call(c_prepare)
}
