#' ExoLabel by another engine
#'
#' Has the arguments and the result of the function `ExoLabel()` of SynExtend, so that a script that uses it needs another
#' `library()` only. The method is the same, fast label propagation with attenuation of labels by the share of nodes that
#' change, limited visits and a cutoff of weights; the search is that of outcore: parallel, within a memory limit, without
#' random choices that depend on the order of lines, and exact weights. [outcore()] has better methods.
#'
#' Differences: the result does not depend on `set.seed()`. A label needs votes whose weights *sum* to the cutoff, where
#' ExoLabel compares the heaviest. A line that is not an edge stops the run with its place. Nothing but files of its own is
#' removed from `tempfiledir`. Names may be UTF-8 and of any length. Nodes have the order of the file, and the largest
#' cluster is number 1.
#'
#' @param edgelistfiles Paths of files of edges: two nodes and a weight in each line.
#' @param outfile Path of the file of clusters; several for several clusterings of the same graph.
#' @param mode `"undirected"` or `"directed"`, or the beginning of it.
#' @param add_self_loops Cutoff: a node takes a label only if the weights of its votes sum to at least this. TRUE is 1.
#' @param attenuation Exponent of the attenuation; TRUE is 1, FALSE is none.
#' @param ignore_weights Whether every edge has weight 1.
#' @param iterations Maximum number of visits to a node; 0 is twice the square root of the largest degree, but at least 10:
#'   here, groups of nodes are decided together, which takes more visits.
#' @param return_table Whether `results` is a data frame instead of the path of the file.
#' @param use_fast_sort Without effect: the memory limit decides how edges are sorted.
#' @param verbose Whether to show the progress.
#' @param sep Separator of columns, in files of edges and of clusters.
#' @param header Whether the first line of each file is skipped.
#' @param tempfiledir Directory for temporary files.
#' @param memory Memory limit, as for [outcore()]: an addition.
#' @param ... Further options of reading, as for [outcore()], such as `columns = "1,2,12"`, `duplicates = "max"` or
#'   `on_bad_line = "skip"`: an addition. Warnings and errors name options as they are written here. Arguments of earlier
#'   versions of SynExtend are refused.
#' @return A list with `parameters`, a vector with the values of `add_self_loops`, `attenuation` and `iterations`;
#'   `graph_stats`, the numbers of nodes and of directed edges, of which an undirected one is two; and `results`: the path of
#'   the file, with a node and its cluster from 1 in each line, or a data frame with the columns `Vertex` and `Cluster`.
#'   For several clusterings invisibly a list of such lists.
#' @examples
#' edges <- tempfile()
#' writeLines(c("a\tb\t0.9", "b\tc\t0.8", "a\tc\t0.7", "x\ty\t0.9"), edges)
#' ExoLabel(edges, return_table = TRUE)$results
#'
#' # Several clusterings of one graph.
#' files <- replicate(2, tempfile())
#' several <- ExoLabel(edges, files, add_self_loops = c(0, 0.85))
#' lapply(several, function(one) read.delim(one$results, header = FALSE))
#' @references Traag and Šubelj (2023) \doi{10.1038/s41598-023-29610-z}; Leung et al. (2009)
#'   \doi{10.1103/PhysRevE.79.066107}.
#' @export
ExoLabel <- function(edgelistfiles, outfile = tempfile(tmpdir = tempfiledir), mode = c("undirected", "directed"),
                     add_self_loops = FALSE, attenuation = TRUE, ignore_weights = FALSE, iterations = 0L,
                     return_table = FALSE, use_fast_sort = TRUE, verbose = interactive(), sep = "\t", header = FALSE,
                     tempfiledir = tempdir(), ..., memory = "50%") {
  call <- sys.call()
  further <- further_of(list(...), call)
  mode <- match.arg(mode)
  if (is.null(iterations)) iterations <- 0L
  several <- max(length(add_self_loops), length(attenuation), length(iterations))
  if (return_table) {
    if (!missing(outfile)) warning("`outfile` is ignored, because `return_table` is TRUE")
    outfile <- replicate(several, tempfile(tmpdir = tempfiledir))
    on.exit(unlink(outfile))
  }
  count <- length(outfile)
  values <- data.frame(
    add_self_loops = one_each(add_self_loops, "add_self_loops", count),
    attenuation = one_each(attenuation, "attenuation", count), iterations = one_each(iterations, "iterations", count)
  )
  source <- tempfile("graph", tempfiledir)
  on.exit(unlink(source, recursive = TRUE), add = TRUE)
  options <- list(
    directed = mode == "directed", ignore_weights = ignore_weights, delimiter = delimiter_of(sep),
    header = header_of(header), memory = memory, progress = isTRUE(as.logical(verbose))
  )
  graph <- in_own_words(do.call(outcore_build, c(list(edgelistfiles, source), options, further)), call)
  stats <- c(
    num_vertices = graph$report$graph$node_count,
    num_edges = graph$report$input$edge_count * if (mode == "directed") 1 else 2
  )
  # Twice the limit of ExoLabel, which decides nodes one by one; here, groups of nodes are decided from one state.
  limit <- 2 * max(5, floor(sqrt(graph$report$graph$max_degree)))
  results <- lapply(seq_len(count), function(at) {
    parameters <- unlist(values[at, ])
    if (parameters[["iterations"]] == 0) parameters[["iterations"]] <- limit
    resources <- c(options[c("memory", "progress")], further[names(further) == "threads"])
    in_own_words(run_exolabel(graph, outfile[[at]], parameters, sep, resources), call)
    table <- if (return_table) {
      utils::read.table(outfile[[at]],
        sep = sep, quote = "", comment.char = "", col.names = c("Vertex", "Cluster"),
        colClasses = c("character", "integer"), encoding = "UTF-8"
      )
    }
    list(parameters = parameters, graph_stats = stats, results = if (return_table) table else outfile[[at]])
  })
  if (count == 1L) results[[1L]] else invisible(results)
}

# Clusters a graph, and writes the clusters to `output`.
run_exolabel <- function(graph, output, parameters, sep, resources) {
  dir.create(dirname(output), showWarnings = FALSE, recursive = TRUE)
  found <- tempfile("communities", dirname(graph$path), fileext = ".tsv")
  on.exit(unlink(found))
  preset <- list(
    method = "label-propagation", like = "exolabel", attenuation = parameters[["attenuation"]],
    label_cutoff = parameters[["add_self_loops"]], max_visits = parameters[["iterations"]]
  )
  do.call(outcore, c(list(graph, found), preset, resources))
  described(.Call(c_write_clusters, enc2utf8(found), enc2utf8(normalizePath(output, mustWork = FALSE)), sep))
}

# Returns one number for each clustering.
one_each <- function(value, name, count) {
  number <- suppressWarnings(as.numeric(value))
  if (!length(number) || anyNA(number) || any(number < 0) || !all(is.finite(number))) {
    refuse(paste0("`", name, "` is ", deparse(value), ", not TRUE, FALSE or a number from 0"))
  }
  if (!length(number) %in% c(1L, count)) {
    refuse(
      sprintf("`%s` has %d values, but there are %d files", name, length(number), count),
      "give a single value, or one for each of `outfile`"
    )
  }
  rep_len(number, count)
}

delimiter_of <- function(sep) {
  if (!is.character(sep) || length(sep) != 1L || nchar(sep) != 1L) {
    refuse("`sep` is not a single character", "use `\"\\t\"` or `\",\"`")
  }
  if (sep == "\t") "tab" else sep
}

header_of <- function(header) {
  lines <- as.integer(header)
  if (length(lines) != 1L || is.na(lines) || lines > 1L) {
    refuse("`header` skips at most one line", "remove further lines, or mark them with `#`, which skips them")
  }
  if (lines == 1L) "yes" else "no"
}

# Arguments of ExoLabel() by the options of the command that they are.
OWN <- c(
  delimiter = "sep", directed = "mode", label_cutoff = "add_self_loops", max_visits = "iterations", output = "outfile",
  work_dir = "tempfiledir", attenuation = "attenuation", header = "header", ignore_weights = "ignore_weights",
  memory = "memory"
)

# Returns the options of reading that ExoLabel() takes beyond its arguments.
further_options <- function() {
  setdiff(outcore_options("build")$name, c(names(OWN), "append", "report", "restart", "edges"))
}

# Returns further options of a call, and refuses what is none.
further_of <- function(given, call) {
  former <- c(
    inflation = "it has been removed there, too; `outcore(method = \"cpm\", resolution = )` sets the scale",
    consensus_cluster = "it has been removed there, too; `outcore(stability = TRUE)` tells what several starts agree on",
    normalize_weights = "it has been removed there, too; use `normalize = \"self-score\"`",
    processors = "all cores are used; use `threads` to limit them",
    dist_scaling = "it has been removed there, too; use `attenuation`"
  )
  if (length(given) && (is.null(names(given)) || !all(nzchar(names(given))))) {
    refuse("an argument has no name", "see `?ExoLabel`", call = call)
  }
  for (name in setdiff(names(given), further_options())) {
    hint <- if (name %in% names(former)) {
      former[[name]]
    } else if (name %in% names(OWN)) {
      paste0("use `", OWN[[name]], "`")
    } else {
      "see `?ExoLabel`"
    }
    refuse(paste0("`", name, "` is not an argument of `ExoLabel()`"), hint, call = call)
  }
  given
}

# Evaluates an expression whose warnings and errors are those of `call`, which is one of ExoLabel().
in_own_words <- function(expression, call) {
  withCallingHandlers(expression,
    outcore_warning = function(condition) {
      warning(warning_of(condition$text, call, as_own))
      invokeRestart("muffleWarning")
    },
    outcore_error = function(condition) {
      if (inherits(condition, "error")) stop(condition_of(condition$facts, call, as_own))
    }
  )
}

# Spells an option of the command as an argument of ExoLabel(), or of outcore() if it has none.
as_own <- function(name, value) {
  name <- gsub("-", "_", name, fixed = TRUE)
  argument <- as_argument(name, value)
  if (name %in% further_options()) {
    return(argument)
  }
  separator <- c(tab = "\t", space = " ", "','" = ",")
  if (name == "header" && !is.null(value)) {
    value <- switch(value, yes = TRUE, no = FALSE)
  } else if (name == "delimiter" && !is.null(value)) {
    value <- if (value %in% names(separator)) separator[[value]] else if (nchar(value) == 1L) value
  } else if (name == "directed") {
    return("mode = \"directed\"")
  }
  is_own <- name %in% names(OWN) && (is.null(value) == !grepl("=", argument, fixed = TRUE))
  if (!is_own) {
    return(paste0("outcore(", argument, ")"))
  }
  if (is.logical(value)) paste(OWN[[name]], "=", value) else as_argument(OWN[[name]], value)
}

#' Estimate memory and disk for ExoLabel
#'
#' Has the arguments and the result of the function of SynExtend, with the estimates of [outcore_plan()] for this engine.
#'
#' @param num_v Number of nodes.
#' @param avg_degree Mean number of neighbors of a node.
#' @param is_undirected Whether edges are undirected.
#' @param num_edges Number of edges.
#' @param node_name_length Mean length of a node's name, in bytes.
#' @param memory Memory limit, as for [outcore()]: an addition.
#' @return Invisibly a vector of six numbers: memory, size of the file of edges, disk during the run (twice, because the
#'   memory limit decides how edges are sorted), size of the file of clusters, in bytes, and the ratio of disk to the file of
#'   edges. They are printed.
#' @examples
#' EstimateExoLabel(num_v = 100000, avg_degree = 2)
#' EstimateExoLabel(num_v = 10000, num_edges = 50000)
#' @export
EstimateExoLabel <- function(num_v, avg_degree = 2, is_undirected = TRUE, num_edges = num_v * avg_degree,
                             node_name_length = 10L, memory = "50%") {
  if (!missing(avg_degree) && !missing(num_edges)) {
    warning("only one of `avg_degree` and `num_edges` is needed, so `num_edges` is ignored")
    num_edges <- num_v * avg_degree
  }
  plan <- outcore_plan(num_edges,
    nodes = num_v, name_bytes = node_name_length, weighted = TRUE, directed = !is_undirected,
    method = "label-propagation", like = "exolabel", memory = memory
  )
  # Two names, a weight of five characters, and three separators.
  file <- (2 * node_name_length + 8) * num_edges
  clusters <- (node_name_length + 2 + log10(num_v)) * num_v
  estimate <- c(
    "RAM Upper Bound Estimate" = plan$peak_memory_bytes, "Expected Input File Size" = file,
    "Expected Internal File Size (SlowSort)" = plan$disk_bytes_most,
    "Expected Internal File Size (FastSort)" = plan$disk_bytes_most, "Expected Final File Size" = clusters,
    "Disk Usage Ratio" = plan$disk_bytes_most / file
  )
  sizes <- estimate[-6L]
  cat(sprintf("%*s: %s\n", max(nchar(names(sizes))), names(sizes), vapply(sizes, bytes_of, "")), sep = "")
  cat(sprintf("\nDisk during the run is about %.2f times that of the edges.\n", estimate[[6L]]))
  invisible(estimate)
}

bytes_of <- function(bytes) {
  power <- max(0, min(6, floor(log(max(bytes, 1), 1024))))
  sprintf("%5.1f %s", bytes / 1024^power, c("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")[[power + 1]])
}
