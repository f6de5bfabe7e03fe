# Results.

# A result holds its `report`, its `path` or the data frame of its nodes, `table` (the communities, if they were asked for)
# and the `kind` and the `nodes` of its source.
new_communities <- function(report, path, source, owned, table = NULL) {
  result <- structure(
    list(
      report = report, path = if (!owned) normalizePath(path), frame = NULL, table = table,
      source = source[c("kind", "nodes")]
    ),
    class = "outcore_communities"
  )
  if (!is.null(table)) result$table$representative <- as_nodes(table$representative, kind_of(result))
  # A result without a file of its own holds its nodes.
  if (owned) {
    result$frame <- read_frame(result, path)
  }
  result
}

# Returns the type of the nodes: that of the columns of a data frame, or what the engine knows of another source. Text
# stays text, also of whole numbers.
kind_of <- function(result) {
  type <- result$report$graph$name_type
  kind <- result$source$kind
  if (is.null(type) || type == "text") "text" else if (is.null(kind) || kind == "text") "integer" else kind
}

# Reads a file of communities as a data frame: in the order of the nodes of a matrix or of a graph of igraph.
read_frame <- function(result, path) {
  read <- read_nodes(path, kind_of(result))
  nodes <- result$source$nodes
  found <- if (!is.null(nodes)) match(nodes, read$node)
  in_order <- function(values) if (is.null(found)) values else values[found]
  frame <- data.frame(node = seq_along(in_order(read$node)), community = in_order(read$community))
  # `data.frame()` refuses `integer64` unless bit64 is loaded.
  frame$node <- if (is.null(nodes)) read$node else nodes
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

# Returns the nodes of a file and their communities. Whole numbers beyond 2^53 are those of the package bit64, or text.
read_nodes <- function(path, kind) {
  read <- described(.Call(c_read_nodes, enc2utf8(path), kind))
  if (kind == "integer" && is.character(read$node) && requireNamespace("bit64", quietly = TRUE)) {
    return(read_nodes(path, "integer64"))
  }
  if (kind == "integer64" && is.double(read$node)) class(read$node) <- "integer64"
  read
}

# Returns nodes that were read as text as nodes of a type, as `read_nodes()` does.
as_nodes <- function(texts, kind) {
  if (kind == "text") {
    return(texts)
  }
  numbers <- as.numeric(texts)
  largest <- max(0, abs(numbers), na.rm = TRUE)
  if (kind == "integer64" || largest > 2^53) {
    return(if (requireNamespace("bit64", quietly = TRUE)) bit64::as.integer64(texts) else texts)
  }
  if (kind == "integer" && largest <= .Machine$integer.max) as.integer(numbers) else numbers
}

# Returns names as text, as files have them: whole numbers without an exponent.
as_texts <- function(names) {
  if (inherits(names, "integer64") && !requireNamespace("bit64", quietly = TRUE)) {
    refuse("numbers of the class `integer64` need the package bit64", "`install.packages(\"bit64\")`")
  }
  texts <- as.character(names)
  if (is.double(names) && !is.object(names)) {
    whole <- which(names == trunc(names))
    texts[whole] <- sprintf("%.0f", names[whole])
  }
  enc2utf8(texts)
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

# Returns the file of communities: that of a result, a path, or one that is written to `directory`.
file_of <- function(communities, name = "communities", directory = tempdir(), call = sys.call(-1L)) {
  if (inherits(communities, "outcore_communities") && !is.null(communities$path)) {
    return(communities$path)
  }
  if (is.character(communities) && is.null(names(communities)) && length(communities) == 1L) {
    return(path.expand(communities))
  }
  frame <- frame_of(communities, name, call)
  frame <- frame[!is.na(frame$community), ]
  quoted <- function(values) paste0("\"", gsub("\"", "\"\"", as_texts(values), fixed = TRUE), "\"")
  path <- tempfile(paste0(name, "-"), directory, ".csv")
  writeLines(c("node,community", paste(quoted(frame$node), quoted(frame$community), sep = ",")), path, useBytes = TRUE)
  path
}

# Returns communities of R as a data frame of nodes and communities: a result, a data frame, communities of igraph or a
# vector with names.
frame_of <- function(communities, name, call) {
  if (inherits(communities, "outcore_communities")) {
    return(communities$frame[c("node", "community")])
  }
  if (inherits(communities, "communities")) {
    number <- igraph::membership(communities)
    nodes <- communities$names
    return(data.frame(node = if (is.null(nodes)) seq_along(number) else nodes, community = as.numeric(number)))
  }
  columns <- c("node", "community")
  if (is.data.frame(communities) && all(columns %in% names(communities))) {
    return(communities[columns])
  }
  if (is.data.frame(communities) && length(communities) == 2L) {
    return(setNames(communities, columns))
  }
  if (is.atomic(communities) && !is.null(names(communities))) {
    return(data.frame(node = names(communities), community = communities))
  }
  is_frame <- is.data.frame(communities)
  refuse(
    paste0("`", name, "` is ", if (is_frame) "a data frame without the columns `node` and `community`" else {
      paste0("of class `", class(communities)[[1L]], "`")
    }),
    paste(
      "pass a result, the path of a file, a data frame of nodes and communities, communities of igraph, or a vector with",
      "the names of the nodes"
    ),
    call = call
  )
}

#' Communities of a graph
#'
#' [outcore()] returns an object of this class. With `output`, the nodes stay in that file until one of these functions
#' reads it; without, the object holds them.
#'
#' Communities have the same numbers everywhere: from 0, the largest community first, as in files, reports and options of
#' outcore. Only [ExoLabel()] and [as_communities()] number from 1, as SynExtend and igraph do. Nodes are integers if those
#' of the source are: the columns of a data frame, a matrix or a graph of igraph without names, a graph of such a
#' source. They are doubles if the columns are, or if some are larger than integers of R, and `integer64` if the columns
#' are. So results can be joined with tables of the nodes: `merge(nodes, found, by.x = "id", by.y = "node")`. Nodes of files
#' of text are text.
#'
#' @param x,object A result of [outcore()].
#' @param row.names,optional,... As for the generic functions.
#' @return `as.data.frame()` returns a data frame with a row for each node and the columns `node` and `community`; with
#'   `stability = TRUE` also `stability`, with `levels = TRUE` `group1` and so on, with `flow = TRUE` `flow`, and with
#'   `member_weights = TRUE` `weight`; also of a text file with `output`. Rows have
#'   the order of the file; for a matrix or a graph of igraph, that of its nodes, and the community is NA where `min_size`
#'   left out the node.
#'
#'   `members(x, 3)` and `x[[3]]` return the nodes of community 3; `x[["a"]]` returns the number of the community of the node
#'   `a`, also of a node whose name is a number: `x[["17"]]`. `x[c(0, 3)]` returns a list of members, `x[c("a", "b")]` a vector
#'   of numbers with the names of the nodes, and `as.list(x)` the members of all communities, named by their numbers.
#'
#'   `summary()` returns a list of class `summary.outcore_communities` with the numbers that it prints; after
#'   `outcore(summary = TRUE)`, `table` is a data frame of the communities: their sizes, representatives, weights
#'   inside and outside, and more.
#' @examples
#' edges <- data.frame(from = c("a", "b", "c", "x"), to = c("b", "c", "a", "y"))
#' found <- outcore(edges, method = "modularity", summary = TRUE)
#' found
#' as.data.frame(found)
#' members(found, 0)
#' found[["x"]]
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
      peak_memory_bytes = object$report$peak_memory_bytes, table = object$table
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
#' @param name Name of an element: `report`, `path`, or `membership`, which is computed: the communities with the names of
#'   the nodes.
#' @export
`$.outcore_communities` <- function(x, name) {
  if (name == "membership") membership_of(x) else unclass(x)[[name, exact = TRUE]]
}

membership_of <- function(result) {
  frame <- as.data.frame(result)
  setNames(frame$community, as_texts(frame$node))
}

#' @rdname outcore_communities
#' @export
members <- function(x, ...) UseMethod("members")

#' @rdname outcore_communities
#' @param community Number of a community.
#' @export
members.outcore_communities <- function(x, community, ...) {
  if (!is.numeric(community) || length(community) != 1L) {
    refuse("`community` is not the number of a community", "use a number, such as `members(x, 0)`")
  }
  members_of(x, community, sys.call())[[1L]]
}

#' @rdname outcore_communities
#' @param i Numbers of communities, or names of nodes as text.
#' @export
`[[.outcore_communities` <- function(x, i, ...) {
  if (length(i) != 1L) {
    refuse(sprintf("`[[` takes one community or one node, not %d", length(i)), "use `[`", call = sys.call())
  }
  taken(x, i, sys.call())[[1L]]
}

#' @rdname outcore_communities
#' @export
`[.outcore_communities` <- function(x, i, ...) {
  if (missing(i)) as.list(x) else taken(x, i, sys.call())
}

#' @rdname outcore_communities
#' @export
as.list.outcore_communities <- function(x, ...) {
  frame <- as.data.frame(x)
  split(frame$node, frame$community)
}

# Returns the members of communities, or the communities of nodes.
taken <- function(result, i, call) {
  if (is.factor(i)) i <- as.character(i)
  if (is.character(i)) {
    return(communities_of(result, i, call))
  }
  if (!is.numeric(i)) {
    refuse("a community is a number, and a node is text", "use `x[[0]]` or `x[[\"a\"]]`", call = call)
  }
  members_of(result, i, call)
}

# Returns the nodes of each community, as a list named by the numbers.
members_of <- function(result, numbers, call) {
  frame <- as.data.frame(result)
  unknown <- numbers[!numbers %in% frame$community]
  if (length(unknown)) {
    refuse(
      paste("the result has no community", format_number(unknown[[1L]])),
      paste0("the largest is 0, and the last is ", max(frame$community, na.rm = TRUE)),
      call = call
    )
  }
  found <- lapply(numbers, function(number) frame$node[which(frame$community == number)])
  setNames(found, format_number(numbers))
}

# Returns the communities of nodes by their names.
communities_of <- function(result, names, call) {
  frame <- as.data.frame(result)
  found <- match(enc2utf8(names), as_texts(frame$node))
  if (anyNA(found)) {
    refuse(
      paste0("the result has no node `", names[is.na(found)][[1L]], "`"),
      "the names of elements such as `report` follow `$`: `x$report`",
      call = call
    )
  }
  setNames(frame$community[found], names)
}

#' @importFrom utils str
#' @export
str.outcore_communities <- function(object, ...) str(unclass(object), ...)

#' Communities for igraph
#'
#' `as_communities()` returns the class of igraph's own results, so that its functions that compare, measure and plot them
#' apply. Communities are numbered from 1 there, as igraph does: its number is one more than that of outcore. Nodes that
#' `min_size` left out are alone.
#'
#' @param x A result of [outcore()].
#' @param graph The graph of igraph that was clustered.
#' @param ... Not used.
#' @return An object of the class `communities`, as [igraph::cluster_leiden()] returns it.
#' @examplesIf requireNamespace("igraph", quietly = TRUE)
#' karate <- igraph::make_graph("Zachary")
#' found <- outcore(karate, method = "modularity")
#' clusters <- as_communities(found, karate)
#' igraph::membership(clusters)
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
  found <- x$membership
  nodes <- igraph::V(graph)$name
  if (is.null(nodes)) nodes <- seq_len(igraph::vcount(graph))
  at <- match(as_texts(nodes), names(found))
  if (anyNA(at)) {
    refuse(
      paste0("the node `", nodes[is.na(at)][[1L]], "` of the graph has no community"),
      "pass the graph that was clustered"
    )
  }
  number <- as.numeric(found[at]) + 1
  left_out <- which(is.na(number))
  number[left_out] <- max(0, number, na.rm = TRUE) + seq_along(left_out)
  clusters <- igraph::make_clusters(graph, number, algorithm = paste("outcore", x$report$communities$method))
  clusters$names <- igraph::V(graph)$name
  clusters
}
