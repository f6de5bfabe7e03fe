#' Build a graph for several runs
#'
#' Reads edges once and stores a graph on disk, which [outcore()], [outcore_score()] and the command take as edges.
#'
#' @inheritParams outcore
#' @param output Directory of the graph, which must not exist, or be a graph to replace.
#' @param ... Further options of `outcore build`, such as `directed = TRUE` or `duplicates = "max"`: see [outcore_options()].
#' @return An object of class `outcore_graph`: a list of its `path`, the `report`, and the `kind` of its nodes.
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
  structure(list(path = normalizePath(output), report = report, kind = source$kind), class = "outcore_graph")
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
#' Measures communities in their graph, and with `against` how well they agree with others, such as known ones.
#'
#' @param graph A graph of [outcore_build()], or its path.
#' @param communities A result of [outcore()]; the path of a file of communities; a data frame with the columns `node` and
#'   `community`, or of these two columns; communities of igraph; or a vector with the names of the nodes.
#' @param against Communities to compare with, over the nodes that both have: as `communities`.
#' @param ... Further options of `outcore score`, such as `resolution = 0.5` or `well_connected = TRUE`: see
#'   [outcore_options()].
#' @return A list of class `outcore_score`, with the modularity, the code length of the map equation and others under
#'   `quality`, and under `against$agreement` the normalized mutual information (`nmi`), also adjusted for chance (`ami`), the
#'   adjusted Rand index (`ari`), and the F1 measure of pairs of nodes in one community (`pair_f1`): its fields are those of
#'   `outcore score --json`. They are printed.
#' @examples
#' edges <- system.file("extdata", "karate.tsv", package = "outcore")
#' graph <- outcore_build(edges, tempfile(fileext = ".graph"))
#' found <- outcore(graph, method = "modularity")
#' outcore_score(graph, found)
#' outcore_score(graph, found, against = outcore(graph))
#' @export
outcore_score <- function(graph, communities, against = NULL, ...) {
  source <- paths_of(graph, "a score", sys.call())
  own <- own_files()
  on.exit(unlink(own, recursive = TRUE))
  source$paths <- c(source$paths, file_of(communities, "communities", own))
  options <- list(..., against = if (!is.null(against)) file_of(against, "against", own))
  score <- run_command(c("score", "--json"), as_options(options), source)
  structure(score, class = "outcore_score")
}

# Returns a new directory for files that a call removes.
own_files <- function() {
  path <- tempfile("outcore-")
  dir.create(path)
  path
}

#' @export
print.outcore_score <- function(x, ...) {
  if (!is.null(x$against)) {
    print_agreement(x$against$agreement)
    cat("\n")
  }
  quality <- Filter(is.numeric, x$quality)
  for (name in names(quality)) print_line(name, format(quality[[name]], digits = 6L, big.mark = ","))
  invisible(x)
}

print_line <- function(name, text) cat(sprintf("%-24s %s\n", name, text))

print_agreement <- function(agreement) {
  digits <- function(number) sprintf("%.4f", number)
  print_line("nodes in both", count_of(agreement$node_count))
  print_line("NMI", digits(agreement$nmi))
  print_line("AMI", digits(agreement$ami))
  print_line("ARI", digits(agreement$ari))
  parts <- sprintf("precision %s, recall %s", digits(agreement$pair_precision), digits(agreement$pair_recall))
  print_line("F1 of pairs", paste0(digits(agreement$pair_f1), ", ", parts))
}

#' Compare two results
#'
#' Tells how well two results agree, which nodes moved and what became of each community. Neither needs its graph.
#'
#' @param a,b Communities, as in [outcore_score()]. Nodes are compared by their names.
#' @param ... Further options of `outcore compare`, such as `output = "overlaps.csv"`, `moved = "moved.csv"` or
#'   `report = "compared.html"`, a page with a drawing: see `outcore_options("compare")`.
#' @param memory Memory limit, as for [outcore()].
#' @return A list of class `outcore_comparison` with the fields of `outcore compare --json`: `moved_count`, and under
#'   `agreement` the measures of [outcore_score()]. Without `output`, `as.data.frame()` returns the pairs of communities that
#'   share nodes: `a` and `b`, the number of nodes that they share, the sizes of both, and the Jaccard index.
#' @examples
#' edges <- system.file("extdata", "karate.tsv", package = "outcore")
#' compared <- outcore_compare(outcore(edges), outcore(edges, method = "modularity"))
#' compared
#' as.data.frame(compared)
#' @export
outcore_compare <- function(a, b, ..., memory = "50%") {
  own <- own_files()
  on.exit(unlink(own, recursive = TRUE))
  source <- list(paths = c(file_of(a, "a", own), file_of(b, "b", own)))
  options <- list(..., memory = memory)
  overlaps <- if (is.null(options$output)) file.path(own, "overlaps.csv")
  if (!is.null(overlaps)) options$output <- overlaps
  found <- run_command(c("compare", "--json"), as_options(options), source)
  if (!is.null(overlaps)) found$overlaps <- utils::read.csv(overlaps)
  structure(found, class = "outcore_comparison")
}

#' @export
print.outcore_comparison <- function(x, ...) {
  cat(sprintf("<outcore_comparison: %s of %s nodes moved>\n", count_of(x$moved_count), count_of(x$node_count)))
  print_agreement(x$agreement)
  words <- list(
    a = c(into_one = "merged", into_several = "split", alone = "gone"),
    b = c(into_one = "parts of a split", into_several = "formed by a merge", alone = "new")
  )
  for (side in c("a", "b")) {
    fates <- unlist(x[[side]]$fates)
    fates <- fates[fates > 0]
    known <- words[[side]][names(fates)]
    said <- paste(fates, ifelse(is.na(known), names(fates), known), collapse = ", ")
    print_line(paste("communities of", side), paste0(count_of(x[[side]]$community_count), ": ", said))
  }
  invisible(x)
}

#' @export
as.data.frame.outcore_comparison <- function(x, row.names = NULL, optional = FALSE, ...) {
  if (is.null(x$overlaps)) refuse("the pairs of communities are in the file `output`", "leave out `output`")
  x$overlaps
}

#' Write a graph for other programs
#'
#' Writes a graph, the part of it inside some communities, or the network of its communities.
#'
#' @param graph A graph of [outcore_build()], or its path.
#' @param output File to write, whose ending selects the format: `.tsv`, `.csv`, `.jsonl`, `.mtx` (Matrix Market), `.metis`,
#'   `.mci` (mcl), `.net` (Pajek), `.graphml` or `.gexf` (Gephi); also `.parquet` and `.arrow` if the package was built
#'   with them.
#' @param communities Communities of the graph, as in [outcore_score()]: an attribute of the nodes.
#' @param ... Further options of `outcore export`, such as `members = c(0, 3)`, which writes these communities alone, or
#'   `quotient = TRUE`, which writes the network of communities: see `outcore_options("export")`.
#' @param memory Memory limit, as for [outcore()].
#' @return Invisibly a list with the numbers of nodes and edges that were written: the fields of the
#'   [report](https://github.com/outcore/outcore/blob/main/docs/reference/fields.md#export).
#' @examples
#' edges <- system.file("extdata", "karate.tsv", package = "outcore")
#' graph <- outcore_build(edges, tempfile(fileext = ".graph"))
#' found <- outcore(graph, method = "modularity")
#' file <- tempfile(fileext = ".graphml")
#' outcore_export(graph, file, found)
#' outcore_export(graph, file, found, members = c(0, 3))$node_count
#' outcore_export(graph, file, found, quotient = TRUE)$node_count
#' @export
outcore_export <- function(graph, output, communities = NULL, ..., memory = "50%") {
  source <- paths_of(graph, "an export", sys.call())
  own <- own_files()
  on.exit(unlink(own, recursive = TRUE))
  options <- list(..., memory = memory)
  if (!is.null(communities)) options$communities <- file_of(communities, "communities", own)
  command <- c("export", paste0("--output=", path.expand(output)))
  invisible(run_command(command, as_options(options), source))
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
