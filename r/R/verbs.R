#' Build a graph for several runs
#'
#' Reads edges once and stores a graph on disk, which [outcore()], [outcore_score()] and the command take as edges.
#'
#' @inheritParams outcore
#' @param output Directory of the graph, which must not exist, or be a graph to replace.
#' @param ... Further options of `outcore build`, such as `directed = TRUE` or `duplicates = "max"`: see [outcore_options()].
#' @return An object of class `outcore_graph`: a list of its `path` and the `report`.
#' @examples
#' edges <- system.file("extdata", "karate.tsv", package = "outcore")
#' graph <- outcore_build(edges, tempfile(fileext = ".graph"))
#' graph
#' outcore(graph, method = "modularity")
#' @export
outcore_build <- function(edges, output, ..., memory = "50%", progress = interactive()) {
  options <- list(..., memory = memory)
  output <- path.expand(output)
  source <- source_of(edges, options)
  report <- run_command(c("build", paste0("--output=", output)), as_options(options), source, progress)
  structure(list(path = normalizePath(output), report = report), class = "outcore_graph")
}

#' @export
print.outcore_graph <- function(x, ...) {
  graph <- x$report$graph
  cat(sprintf("<outcore_graph: %s nodes, %s edges>\n", count_of(graph$node_count), count_of(graph$edge_count)))
  cat("file:", x$path, "\n")
  invisible(x)
}

#' Predict memory, disk and time
#'
#' @param edges Paths of files of edges, or a graph of [outcore_build()]; or the number of edges, with that of `nodes`.
#' @param ... Options of `outcore plan`, which are those of [outcore()], and `nodes`, `name_bytes` and `weighted` for a number
#'   of edges: see `outcore_options("plan")`.
#' @param memory Memory limit.
#' @return The plan, as a list of class `outcore_plan`: its fields are those of `outcore plan --json`.
#' @examples
#' edges <- system.file("extdata", "karate.tsv", package = "outcore")
#' outcore_plan(edges, memory = "1GiB")
#' outcore_plan(1e9, nodes = 1e7, memory = "4GiB")
#' @export
outcore_plan <- function(edges, ..., memory = "50%") {
  options <- list(..., memory = memory)
  source <- NULL
  if (is.numeric(edges)) options$edges <- edges else source <- paths_of(edges, "a plan")
  plan <- run_command(c("plan", "--json"), as_options(options), source)
  structure(plan, class = "outcore_plan")
}

# Returns the source of edges in files.
paths_of <- function(edges, what, call = sys.call(-1L)) {
  source <- source_of(edges, list(), call)
  if (!is.null(source$part)) {
    refuse(paste(what, "needs edges in files, or a graph on disk"), "use `outcore_build()` first", call = call)
  }
  source
}

#' Measure the quality of communities
#'
#' @param graph A graph of [outcore_build()], or its path.
#' @param communities A result of [outcore()], or the path of a file of communities.
#' @param ... Options of `outcore score`, such as `against = "truth.tsv"`: see [outcore_options()].
#' @return A list of class `outcore_score`, with the modularity, the code length of the map equation and others: its fields
#'   are those of `outcore score --json`.
#' @examples
#' edges <- system.file("extdata", "karate.tsv", package = "outcore")
#' graph <- outcore_build(edges, tempfile(fileext = ".graph"))
#' outcore_score(graph, outcore(graph, method = "modularity"))
#' @export
outcore_score <- function(graph, communities, ...) {
  source <- paths_of(graph, "a score", sys.call())
  if (!inherits(communities, "outcore_communities") && !is.character(communities)) {
    refuse("`communities` is neither a result nor the path of a file")
  }
  file <- if (is.character(communities)) path.expand(communities) else file_of(communities)
  source$paths <- c(source$paths, file)
  score <- run_command(c("score", "--json"), as_options(list(...)), source)
  structure(score, class = "outcore_score")
}

#' @export
print.outcore_score <- function(x, ...) {
  quality <- Filter(is.numeric, x$quality)
  for (name in names(quality)) cat(sprintf("%-24s %s\n", name, format(quality[[name]], digits = 6L, big.mark = ",")))
  invisible(x)
}

#' @export
print.outcore_plan <- function(x, ...) {
  line <- function(name, text) cat(sprintf("%-8s %s\n", name, text))
  line("input", sprintf("%s edges, %s nodes", count_of(x$input$edge_count), count_of(x$input$node_count)))
  line("memory", sprintf("%s of %s", bytes_of(x$peak_memory_bytes), trimws(bytes_of(x$limits$memory_bytes))))
  line("disk", bytes_of(x$disk_bytes_most))
  line("time", sprintf("about %s", format(round(as.difftime(x$seconds, units = "secs"), 1L))))
  invisible(x)
}

#' Measure the disk
#'
#' Runs an experiment of the laboratory of file access: `"sequential-read"`, `"random-read"` and others, `"all"`, or
#' `"tune"`, which stores a profile of the disk that later runs use. What it prints goes to the terminal.
#'
#' @param experiment Name of the experiment: see `outcore_lab("--help")`.
#' @param ... Options of `outcore lab`, such as `path = "/data"`: see [outcore_options()].
#' @return The exit status, invisibly: 0 if it has succeeded.
#' @examples
#' outcore_lab("--help")
#' @export
outcore_lab <- function(experiment, ...) {
  # Output of the command comes after that of R.
  flush(stdout())
  status <- .Call(c_run, enc2utf8(c("outcore", "lab", experiment, as_options(list(...)))))
  if (status != 0L) {
    refuse("the experiment failed", "see its message above", kind = "experiment-failed")
  }
  invisible(status)
}

#' Options of a command
#'
#' @param command Name of the command: `"cluster"`, `"build"`, `"plan"`, `"score"`, or `"lab random-read"`.
#' @return A data frame with a row for each option: its `name` as an argument of R, its `default`, the possible `values`, and
#'   `help`.
#' @examples
#' options <- outcore_options("cluster")
#' options[options$name == "min_weight", ]
#' @export
outcore_options <- function(command = "cluster") {
  found <- jsonlite::fromJSON(.Call(c_options, enc2utf8(command)))
  if (!length(found)) {
    refuse(paste0("`", command, "` is not a command of outcore"), "use `cluster`, `build`, `plan`, `score` or `lab tune`")
  }
  data.frame(
    name = gsub("-", "_", found$name, fixed = TRUE), default = found$default,
    values = vapply(found$values, paste, "", collapse = ", "), help = vapply(found$help, respelled, "", USE.NAMES = FALSE),
    stringsAsFactors = FALSE
  )
}
