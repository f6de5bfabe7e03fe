# Results.

new_communities <- function(report, path, source, owned) {
  result <- structure(
    list(report = report, path = if (!owned) normalizePath(path), frame = NULL, source = source[c("kind", "nodes")]),
    class = "outcore_communities"
  )
  # A result without a file of its own holds its nodes.
  if (owned) {
    result$frame <- read_frame(result, path)
  }
  result
}

# Reads a file of communities as a data frame: in the order of the nodes of a matrix or of a graph of igraph.
read_frame <- function(result, path) {
  # Nodes of two kinds have the names of their kinds before their own.
  kind <- if (is.null(result$report$graph$kinds)) result$source$kind else "text"
  read <- described(.Call(c_read_nodes, enc2utf8(path), kind))
  nodes <- result$source$nodes
  found <- if (!is.null(nodes)) match(nodes, read$node)
  in_order <- function(values) if (is.null(found)) values else values[found]
  frame <- data.frame(
    node = if (is.null(nodes)) read$node else nodes, community = in_order(read$community), stringsAsFactors = FALSE
  )
  for (name in c("weight", "flow")) frame[[name]] <- in_order(column_of(path, name))
  shares <- described(.Call(c_read_stability, enc2utf8(path)))
  if (length(shares)) frame$stability <- in_order(shares)
  levels <- length(result$report$communities$group_counts)
  groups <- if (levels) described(.Call(c_read_groups, enc2utf8(path), as.numeric(levels)))
  for (level in seq_len(if (length(groups)) levels else 0L)) {
    nodes <- length(groups) / levels
    frame[[paste0("group", level)]] <- in_order(groups[(level - 1L) * nodes + seq_len(nodes)])
  }
  frame
}

# Returns a column of numbers of a file of text whose first line names its columns; NULL if it has none of this name.
column_of <- function(path, name) {
  sep <- if (grepl("\\.csv$", path)) "," else "\t"
  header <- strsplit(readLines(path, 1L, warn = FALSE), sep, fixed = TRUE)[[1L]]
  if (!identical(header[1L], "node") || !name %in% header) {
    return(NULL)
  }
  classes <- ifelse(header == name, "numeric", "NULL")
  utils::read.table(path, header = TRUE, sep = sep, quote = "\"", comment.char = "", colClasses = classes)[[1L]]
}

# Returns the file of a result, writing one if it has none.
file_of <- function(result) {
  if (!is.null(result$path)) {
    return(result$path)
  }
  path <- tempfile("communities", fileext = ".tsv")
  kept <- result$frame[!is.na(result$frame$community), c("node", "community")]
  utils::write.table(kept, path, sep = "\t", quote = FALSE, row.names = FALSE, col.names = FALSE)
  path
}

#' Communities of a graph
#'
#' [outcore()] returns an object of this class. With `output`, the nodes stay in that file until one of these functions
#' reads it; without, the object holds them.
#'
#' Communities are numbered from 0 with the largest first, as in files and reports of outcore. `x$membership`,
#' [igraph::membership()] and [as_communities()] number from 1, as igraph does.
#'
#' @param x,object A result of [outcore()].
#' @param row.names,optional,... As for the generic functions.
#' @return `as.data.frame()` returns a data frame with a row for each node and the columns `node` and `community`; with
#'   `stability = TRUE` also `stability`, with `levels = TRUE` `group1` and so on, with `flow = TRUE` `flow`, and with
#'   `member_weights = TRUE` `weight`; also of a text file with `output`. Rows have
#'   the order of the file; for a matrix or a graph of igraph, that of its nodes, and the community is NA where `min_size`
#'   left out the node.
#'   `summary()` returns a list of class `summary.outcore_communities` with the numbers that it prints.
#' @examples
#' edges <- data.frame(from = c("a", "b", "c", "x"), to = c("b", "c", "a", "y"))
#' found <- outcore(edges, method = "modularity")
#' found
#' as.data.frame(found)
#' summary(found)
#' plot(found)
#' @name outcore_communities
NULL

#' @rdname outcore_communities
#' @export
print.outcore_communities <- function(x, ...) {
  found <- x$report$communities
  score <- if (!is.null(found$modularity)) sprintf(", modularity %.2f", found$modularity)
  cat(sprintf(
    "<outcore_communities: %s nodes in %s communities%s>\n", count_of(x$report$graph$node_count),
    count_of(found$community_count), paste0(score, collapse = "")
  ))
  if (!is.null(x$path)) cat("file:", x$path, "\n")
  invisible(x)
}

count_of <- function(number) format(number, big.mark = ",", scientific = FALSE)

#' @rdname outcore_communities
#' @export
summary.outcore_communities <- function(object, ...) {
  found <- object$report$communities
  structure(
    class = "summary.outcore_communities",
    list(
      method = found$method, node_count = object$report$graph$node_count, edge_count = object$report$graph$edge_count,
      community_count = found$community_count, singleton_count = found$singleton_count,
      largest_sizes = as.numeric(unlist(found$largest_sizes)), modularity = found$modularity,
      code_length = found$code_length, coverage = found$coverage, seconds = object$report$seconds,
      peak_memory_bytes = object$report$peak_memory_bytes
    )
  )
}

#' @export
print.summary.outcore_communities <- function(x, ...) {
  line <- function(name, value) if (length(value)) cat(sprintf("%-12s %s\n", name, paste(value, collapse = " ")))
  line("method", x$method)
  line("nodes", count_of(x$node_count))
  line("edges", count_of(x$edge_count))
  line("communities", count_of(x$community_count))
  line("singletons", count_of(x$singleton_count))
  line("largest", count_of(x$largest_sizes))
  line("modularity", if (!is.null(x$modularity)) sprintf("%.4f", x$modularity))
  line("code length", if (!is.null(x$code_length)) sprintf("%.4f bits", x$code_length))
  line("coverage", if (!is.null(x$coverage)) sprintf("%.4f", x$coverage))
  invisible(x)
}

#' @rdname outcore_communities
#' @export
as.data.frame.outcore_communities <- function(x, row.names = NULL, optional = FALSE, ...) {
  frame <- if (is.null(x$frame)) read_frame(x, x$path) else x$frame
  if (!is.null(row.names)) rownames(frame) <- row.names
  frame
}

#' @rdname outcore_communities
#' @export
length.outcore_communities <- function(x) x$report$communities$community_count

#' @rdname outcore_communities
#' @param name Name of an element: `report`, `path`, or `membership`, which is computed.
#' @export
`$.outcore_communities` <- function(x, name) {
  if (name == "membership") membership_of(x) else x[[name, exact = TRUE]]
}

# Returns the communities from 1, as igraph has them: nodes that `min_size` left out are alone.
membership_of <- function(result) {
  frame <- as.data.frame(result)
  number <- frame$community + 1
  left_out <- which(is.na(number))
  number[left_out] <- max(0, number, na.rm = TRUE) + seq_along(left_out)
  setNames(number, frame$node)
}

#' Communities for igraph
#'
#' [igraph::membership()] takes a result of [outcore()] as it is; `as_communities()` returns the class of igraph's own
#' results, so that its functions that compare and plot them apply.
#'
#' @param x A result of [outcore()].
#' @param graph The graph of igraph that was clustered.
#' @param ... Not used.
#' @return An object of the class `communities`, as [igraph::cluster_leiden()] returns it.
#' @examplesIf requireNamespace("igraph", quietly = TRUE)
#' karate <- igraph::make_graph("Zachary")
#' found <- outcore(karate, method = "modularity")
#' igraph::membership(found)
#' clusters <- as_communities(found, karate)
#' igraph::sizes(clusters)
#' igraph::compare(clusters, igraph::cluster_louvain(karate), method = "nmi")
#' @name igraph
NULL

#' @rdname igraph
#' @export
as_communities <- function(x, ...) UseMethod("as_communities")

#' @rdname igraph
#' @export
as_communities.outcore_communities <- function(x, graph, ...) {
  number <- x$membership
  nodes <- igraph::V(graph)$name
  if (is.null(nodes)) nodes <- seq_len(igraph::vcount(graph))
  number <- number[match(as.character(nodes), names(number))]
  if (anyNA(number)) {
    refuse(
      paste0("the node `", nodes[is.na(number)][[1L]], "` of the graph has no community"),
      "pass the graph that was clustered"
    )
  }
  igraph::make_clusters(graph, as.numeric(number), algorithm = paste("outcore", x$report$communities$method))
}

#' @rdname outcore_communities
#' @importFrom graphics barplot
#' @export
plot.outcore_communities <- function(x, ...) {
  sizes <- as.numeric(unlist(x$report$communities$largest_sizes))
  drawn <- list(height = sizes, names.arg = seq_along(sizes) - 1L, xlab = "community", ylab = "nodes", border = NA)
  drawn[names(list(...))] <- list(...)
  do.call(barplot, drawn)
  invisible(x)
}
