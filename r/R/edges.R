# Sources of edges as arguments of the command, or as columns that the engine takes in parts. No source is turned into
# text; a matrix is copied once.

#' @importFrom stats setNames
NULL

# Rows of a part of a data frame: many, because each part leaves some garbage, and R visits all texts to collect it.
PART_ROWS <- 262144L

# A source has `paths`, and for data of R also the `names` and `types` of columns, `part(first)`, which returns the next rows
# from number `first` on as `part_of()` has them, or NULL at the end; `kind`, the type of the nodes in results, and
# `nodes`, their names in the order of the source if that differs from the order in which edges name them.
source_of <- function(edges, options, call = sys.call(-1L)) {
  if (inherits(edges, "outcore_graph")) {
    return(list(paths = edges$path, kind = edges$kind))
  }
  if (is.character(edges) && is.null(dim(edges)) && length(edges)) {
    return(list(paths = path.expand(edges), kind = "text"))
  }
  is_directed <- isTRUE(options$directed)
  if (is.data.frame(edges)) {
    of_frame(edges, options$columns)
  } else if (inherits(edges, "igraph")) {
    of_igraph(edges)
  } else if (inherits(edges, "Matrix") || (is.matrix(edges) && !is.character(edges))) {
    of_matrix(edges, is_directed, call)
  } else if (inherits(edges, c("ArrowTabular", "RecordBatchReader", "Dataset", "arrow_dplyr_query"))) {
    of_arrow(edges, options$columns)
  } else if (is.function(edges)) {
    of_frames(edges, options$columns)
  } else {
    refuse(
      paste0("cannot read edges from an object of class `", class(edges)[[1L]], "`"),
      paste(
        "pass paths, a data frame with a row for each edge, a graph of igraph, a square matrix, a table of arrow, or a",
        "function that returns data frames;",
        if (inherits(edges, "dist")) {
          "turn distances into similarities of pairs, as a data frame of `from`, `to` and `weight`"
        } else {
          "of a matrix of names `as.data.frame(edges)`"
        }
      ),
      call = call
    )
  }
}

# Returns the type of a column for the engine; a name that is a double must be a whole number.
type_of <- function(column, is_name) {
  if (inherits(column, "integer64")) {
    "integer64"
  } else if (is.factor(column) || is.character(column) || inherits(column, c("Date", "POSIXt", "difftime"))) {
    "text"
  } else if (is.integer(column)) {
    "int32"
  } else if (is.double(column)) {
    if (is_name) "int64" else "float64"
  } else {
    "none"
  }
}

# Returns the columns of the source, the target and perhaps the weight, from 1; none if the engine must ask.
chosen_columns <- function(frame, columns) {
  if (is.null(columns)) {
    numbers <- vapply(frame, function(column) is.numeric(column) && !is.factor(column), NA)
    return(.Call(c_choose_columns, enc2utf8(names(frame)), numbers))
  }
  if (is.character(columns) && length(columns) == 1L) {
    columns <- strsplit(columns, ",", fixed = TRUE)[[1L]]
  }
  found <- match(as.character(columns), names(frame))
  numbers <- suppressWarnings(as.integer(as.character(columns)))
  found <- ifelse(is.na(found), numbers, found)
  found[!is.na(found) & found >= 1L & found <= length(frame)]
}

of_frame <- function(frame, columns) {
  rows <- nrow(frame)
  form <- form_of(frame, columns)
  part <- function(first) if (first <= rows) part_of(frame, form, first - 1, min(PART_ROWS, rows - first + 1), first)
  c(form[c("names", "types", "kind")], list(paths = "-", part = part))
}

# Returns the names and types of the columns of a table, and the type of its nodes.
form_of <- function(frame, columns) {
  if (!length(frame)) {
    refuse("the data frame has no columns", "an edge needs two: its nodes", kind = "bad-input")
  }
  chosen <- chosen_columns(frame, columns)
  ends <- utils::head(chosen, 2L)
  types <- vapply(seq_along(frame), function(at) type_of(frame[[at]], at %in% ends), "")
  of_ends <- types[ends]
  kind <- if (!length(of_ends) || any(of_ends %in% c("text", "none"))) {
    "text"
  } else if ("integer64" %in% of_ends) {
    "integer64"
  } else {
    if (all(of_ends == "int32")) "integer" else "double"
  }
  list(names = enc2utf8(names(frame)), types = types, kind = kind, room = new.env())
}

# Returns `count` rows of a table after the first `from`: with a function that returns their columns for the engine, numbers
# as whole columns. `first` is the number of the first of the rows in the source. If the function is told that text is not
# UTF-8, it converts text that is marked as another encoding, and refuses the rest.
part_of <- function(frame, form, from, count, first) {
  columns <- function(is_text) {
    lapply(seq_along(form$types), function(at) {
      values <- frame[[at]]
      if (form$types[[at]] != "text") {
        return(if (form$types[[at]] == "none") list() else values)
      }
      texts <- if (is_text) {
        texts_of(values, from, count, form$room[[as.character(at)]])
      } else {
        converted(values[seq.int(from + 1, length.out = count)], form$names[[at]], first)
      }
      # The next part takes the same vectors.
      assign(as.character(at), texts, form$room)
      texts
    })
  }
  list(from = from, count = count, columns = columns)
}

# Returns texts as their bytes and their ends; NULL if one of them is marked as another encoding.
texts_of <- function(values, from, count, room = NULL) {
  if (is.factor(values)) {
    return(.Call(c_texts, levels(values), values, from, count, room))
  }
  if (!is.character(values)) {
    values <- as.character(values[seq.int(from + 1, length.out = count)])
    from <- 0
  }
  .Call(c_texts, values, NULL, from, count, room)
}

converted <- function(values, name, first) {
  values <- as.character(values)
  encoding <- Encoding(values)
  latin <- encoding == "latin1"
  if (l10n_info()[["Latin-1"]]) latin <- latin | encoding == "unknown"
  values[latin] <- enc2utf8(values[latin])
  wrong <- which(!validUTF8(values))
  if (length(wrong)) {
    refuse(
      sprintf("row %.0f: column `%s` has text that is not UTF-8", first + wrong[[1L]] - 1, name),
      "say how it is encoded: `Encoding(x) <- \"latin1\"`, or convert it with `iconv()`",
      kind = "bad-input"
    )
  }
  texts_of(values, 0, length(values))
}

of_arrow <- function(table, columns) {
  if (!requireNamespace("arrow", quietly = TRUE)) {
    refuse("a table of arrow needs the package arrow", "`install.packages(\"arrow\")`")
  }
  reader <- arrow::as_record_batch_reader(table)
  of_frames(function() {
    batch <- reader$read_next_batch()
    if (!is.null(batch)) as.data.frame(batch)
  }, columns)
}

# Returns the source of the data frames that a function returns one after the other, and then NULL.
of_frames <- function(read, columns) {
  frame <- checked_frame(read())
  if (is.null(frame)) {
    refuse("the input holds no edges", "the first call of the function returned NULL", kind = "bad-input")
  }
  form <- form_of(frame, columns)
  done <- 0
  part <- function(first) {
    while (!is.null(frame) && done >= nrow(frame)) {
      frame <<- checked_frame(read(), form)
      done <<- 0
    }
    if (!is.null(frame)) {
      from <- done
      done <<- min(nrow(frame), from + PART_ROWS)
      part_of(frame, form, from, done - from, first)
    }
  }
  c(form[c("names", "types", "kind")], list(paths = "-", part = part))
}

checked_frame <- function(frame, form = NULL) {
  if (is.null(frame)) {
    return(NULL)
  }
  if (!is.data.frame(frame)) {
    refuse(paste0("the function returned an object of class `", class(frame)[[1L]], "`"), "return data frames, and then NULL")
  }
  if (!is.null(form) && !identical(enc2utf8(names(frame)), form$names)) {
    refuse("two data frames of the function have different columns", "return the same columns each time", kind = "bad-input")
  }
  frame
}

# Returns the source of edges between nodes that are numbered from 1. `weight` may be NULL. Nodes without edges get a loop
# of weight 0, so that they are not lost.
of_numbers <- function(source, target, weight, nodes) {
  edges <- data.frame(source = source, target = target)
  edges$weight <- if (is.null(weight)) rep(1, nrow(edges)) else weight
  alone <- which(tabulate(c(source, target), length(nodes)) == 0L)
  loops <- data.frame(source = alone, target = alone, weight = numeric(length(alone)))
  is_text <- is.character(nodes)
  named <- function(numbers) if (is_text) structure(numbers, levels = nodes, class = "factor") else numbers
  frames <- lapply(list(edges, loops), function(frame) {
    frame[1:2] <- lapply(frame[1:2], named)
    frame
  })
  source <- of_frames(function() {
    frame <- if (length(frames)) frames[[1L]]
    frames <<- frames[-1L]
    frame
  }, c("source", "target", "weight"))
  source$nodes <- nodes
  source
}

of_igraph <- function(graph) {
  nodes <- igraph::V(graph)$name
  nodes <- if (is.null(nodes)) seq_len(igraph::vcount(graph)) else enc2utf8(as.character(nodes))
  check_nodes(nodes, "igraph::V(graph)$name <- make.unique(igraph::V(graph)$name)")
  ends <- igraph::as_edgelist(graph, names = FALSE)
  storage.mode(ends) <- "integer"
  weight <- igraph::E(graph)$weight
  of_numbers(ends[, 1L], ends[, 2L], if (!is.null(weight)) as.numeric(weight), nodes)
}

check_nodes <- function(nodes, hint) {
  if (!length(nodes)) {
    refuse("the graph has no nodes", "pass a graph with edges", kind = "bad-input")
  }
  twice <- anyDuplicated(nodes)
  if (twice) {
    refuse(paste0("two nodes have the name `", nodes[[twice]], "`"), paste0("rename them: `", hint, "`"), kind = "bad-input")
  }
}

of_matrix <- function(matrix, is_directed, call) {
  if (nrow(matrix) != ncol(matrix)) {
    refuse(
      sprintf("cannot read edges from a matrix of %d x %d: one of edges is square", nrow(matrix), ncol(matrix)),
      paste(
        "if columns are features of rows, pass similarities of the rows, such as `tcrossprod(matrix)`;",
        "for a matrix with a row for each edge `as.data.frame(matrix)`"
      ),
      call = call
    )
  }
  if (!requireNamespace("Matrix", quietly = TRUE)) {
    refuse("a matrix needs the package Matrix", "`install.packages(\"Matrix\")`")
  }
  names <- rownames(matrix)
  if (!is.null(names) && !is.null(colnames(matrix)) && !identical(names, colnames(matrix))) {
    refuse("rows and columns of the matrix have different names", "give both the names of the nodes", call = call)
  }
  if (is.null(names)) names <- colnames(matrix)
  nodes <- if (is.null(names)) seq_len(nrow(matrix)) else enc2utf8(names)
  check_nodes(nodes, "rownames(matrix) <- colnames(matrix) <- make.unique(rownames(matrix))")
  matrix <- as_columns(matrix)
  target <- rep.int(seq_len(ncol(matrix)), diff(matrix@p))
  source <- matrix@i + 1L
  weight <- matrix@x
  # Each pair of a symmetric matrix is one edge.
  if (!is_directed && is_symmetric(matrix)) {
    upper <- source <= target
    source <- source[upper]
    target <- target[upper]
    weight <- weight[upper]
  }
  of_numbers(source, target, weight, nodes)
}

# Returns a matrix as a general one of doubles in compressed columns.
as_columns <- function(matrix) {
  for (class in c("CsparseMatrix", "generalMatrix", "dMatrix")) {
    matrix <- methods::as(matrix, class)
  }
  matrix@Dimnames <- list(NULL, NULL)
  matrix
}

is_symmetric <- function(matrix) {
  turned <- Matrix::t(matrix)
  identical(matrix@p, turned@p) && identical(matrix@i, turned@i) && identical(matrix@x, turned@x)
}
