#' Find communities in a graph of any size, within a memory limit
#'
#' @param edges Edges: paths of files (text, also compressed by gzip, zstd, bzip2 or xz; Matrix Market, GML, GraphML, Pajek
#'   and others; Parquet or Arrow if the package was built with them), a graph of [outcore_build()], a data frame with a row
#'   for each edge, a graph of igraph, a square matrix (of base R or the package Matrix), a table, dataset or reader of
#'   arrow, or a function that returns data frames one after the other, and then NULL. A data frame has columns for the two nodes and perhaps a weight, found by their names and types or given by
#'   `columns`; nodes are text, factors or whole numbers. Data of R are passed on in parts, and not turned into text.
#' @param output Path of the file of communities: lines of node and community separated by a tab, or CSV, JSON lines, or a
#'   tree of Infomap, by its ending. Without it, the result is held in R. With several values of `resolution`,
#'   `min_weight` or `attenuation`, each result has the value before the ending of its name: `c.0.5.tsv` for `c.tsv`.
#' @param method What communities are: `"map-equation"` (as Infomap), `"modularity"` (as Leiden and Louvain), `"cpm"` (the
#'   constant Potts model), `"label-propagation"` (as ExoLabel) or `"components"`.
#' @param resolution Resolution of modularity (1 by default) or of the constant Potts model: larger values give smaller
#'   communities. Several values give a list of results, from one reading of the edges.
#' @param ... Further options of the command, such as `seed = 1`, `directed = TRUE`, `min_weight = 0.5`,
#'   `columns = c("from", "to")`, `stability = TRUE`, `levels = TRUE`, `summary = TRUE` (a table and a drawing of the
#'   communities) or `work_dir = "/scratch"`: see [outcore_options()].
#' @param memory Memory limit of the engine: bytes, `"4GiB"`, or a share of the free memory. Memory of R comes on top.
#' @param progress Whether to show the progress; or a function that is called with each event, a list of `kind`, `text`,
#'   `work` (done and total) and `unit`.
#' @return An object of class [outcore_communities]; a list of them, named by the values, if `resolution` or `attenuation`
#'   has several.
#' @references Rosvall and Bergstrom (2008) \doi{10.1073/pnas.0706851105}; Traag, Waltman and van Eck (2019)
#'   \doi{10.1038/s41598-019-41695-z}; Traag and Šubelj (2023) \doi{10.1038/s41598-023-29610-z}.
#' @examples
#' edges <- system.file("extdata", "karate.tsv", package = "outcore")
#' found <- outcore(edges, method = "modularity")
#' found
#' head(as.data.frame(found))
#'
#' # Several resolutions from one reading.
#' lapply(outcore(edges, method = "modularity", resolution = c(0.5, 1, 2)), length)
#' @export
outcore <- function(edges, output = NULL, method = "map-equation", resolution = NULL, ..., memory = "50%",
                    progress = interactive()) {
  options <- list(method = method, resolution = resolution, ..., memory = memory)
  find_communities(edges, output, options, progress, sys.call())
}

find_communities <- function(edges, output, options, progress, call) {
  source <- source_of(edges, options, call)
  owned <- is.null(output)
  if (owned) {
    output <- file.path(own_directory(source, options), "communities.tsv")
    dir.create(dirname(output), showWarnings = FALSE, recursive = TRUE)
    # Further columns are found by their names.
    further <- c("stability", "levels", "flow", "member_weights")
    options$output_header <- any(vapply(options[further], isTRUE, NA))
    # Without saved progress, the directory is empty after an error.
    on.exit(if (!length(list.files(dirname(output), all.files = TRUE, no.. = TRUE))) unlink(dirname(output), TRUE))
  }
  if (isTRUE(options$levels)) options$levels <- "columns"
  own_summary <- isTRUE(options$summary)
  if (own_summary) {
    options$summary <- if (owned) file.path(dirname(output), "summary.csv") else tempfile("summary-", fileext = ".csv")
  }
  output <- path.expand(output)
  report <- run_command(c("cluster", paste0("--output=", output)), as_options(options), source, progress, call)
  if (owned) {
    on.exit(unlink(dirname(output), recursive = TRUE))
  }
  table_of <- function(found) if (own_summary) read_table(file.path(dirname(options$summary), basename(found$summary)))
  if (!length(report$results)) {
    return(new_communities(report, output, source, owned, table_of(report$communities)))
  }
  results <- lapply(report$results, function(found) {
    path <- file.path(dirname(output), basename(found$output))
    one <- report
    one$results <- NULL
    one$output <- path
    one$communities <- found
    new_communities(one, path, source, owned, table_of(found))
  })
  lists <- Filter(function(values) length(values) > 1L, options[c("resolution", "min_weight", "attenuation")])
  several <- lists[[1L]]
  setNames(results, format_number(several))
}

# Reads a table of communities, and removes it. Representatives, which are nodes, stay text.
read_table <- function(path) {
  on.exit(unlink(path))
  utils::read.csv(path, colClasses = c(representative = "character"), na.strings = "", encoding = "UTF-8")
}

# Returns the directory of a result without `output`: the same call of the session finds its saved progress there.
own_directory <- function(source, options) {
  parent <- if (is.null(options$work_dir)) tempdir() else options$work_dir
  if (identical(source$paths, "-")) {
    return(tempfile("outcore-", parent))
  }
  options <- options[!names(options) %in% c("memory", "threads", "restart")]
  identity <- tempfile("identity")
  on.exit(unlink(identity))
  writeLines(c(as_options(options), normalizePath(source$paths, mustWork = FALSE)), identity, useBytes = TRUE)
  file.path(parent, paste0("outcore-", unname(tools::md5sum(identity))))
}
