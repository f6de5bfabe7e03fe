test_that("files, data frames and the command have the same bytes", {
  files <- replicate(3, tempfile(fileext = ".tsv"))
  outcore(karate, files[[1]], method = "modularity")
  outcore(karate_frame, files[[2]], method = "modularity")
  command("cluster", karate, "-o", files[[3]], "--method", "modularity", "--quiet")
  expect_identical(bytes_of_file(files[[1]]), bytes_of_file(files[[3]]))
  expect_identical(bytes_of_file(files[[2]]), bytes_of_file(files[[3]]))
})

test_that("names may be integers, doubles, text or factors, and results have their type", {
  forms <- list(
    integer = karate_frame, double = as.data.frame(lapply(karate_frame, as.numeric)),
    text = as.data.frame(lapply(karate_frame, as.character)), factor = as.data.frame(lapply(karate_frame, factor))
  )
  found <- lapply(forms, function(frame) as.data.frame(outcore(frame, method = "modularity")))
  expect_type(found$integer$node, "integer")
  expect_type(found$double$node, "double")
  expect_type(found$text$node, "character")
  expect_type(found$factor$node, "character")
  for (frame in found) {
    expect_identical(as.character(frame$node), as.character(found$text$node))
    expect_identical(frame$community, found$text$community)
  }
})

test_that("numbers of the package bit64 are read exactly", {
  large <- c("9007199254740993", "9007199254740994", "9007199254740995")
  # 64-bit integers in the place of doubles, as bit64 has them.
  bits <- function(low) structure(readBin(writeBin(as.vector(rbind(low, 2097152L)), raw()), "double", 3L), class = "integer64")
  frame <- data.frame(from = 1:3, to = 1:3)
  frame$from <- bits(1:3)
  frame$to <- bits(c(2L, 3L, 1L))
  found <- as.data.frame(outcore(frame, method = "components"))
  # They stay such numbers, so that they can be joined.
  expect_s3_class(found$node, "integer64")
  expect_setequal(unclass(found$node), unclass(frame$from))
  graph <- outcore_build(frame, tempfile(fileext = ".graph"))
  expect_identical(as.data.frame(outcore(graph, method = "components")), found)
  path <- tempfile(fileext = ".csv")
  outcore(frame, path, method = "components")
  expect_setequal(utils::read.csv(path, colClasses = "character")$node, large)
  by_path <- as.data.frame(outcore(graph$path, method = "components"))$node
  if (!requireNamespace("bit64", quietly = TRUE)) expect_setequal(by_path, large)
})

test_that("whole numbers of a source stay whole numbers, and can be joined with their tables", {
  skip_if_not_installed("Matrix")
  nodes <- data.frame(id = c(100000L, 3L, 7L, 20L), text = letters[1:4])
  edges <- data.frame(from = c(100000L, 3L), to = c(3L, 7L))
  wide <- data.frame(from = c(100000, 3), to = c(3, 2^40))
  path <- tempfile(fileext = ".graph")
  sources <- list(
    edges, outcore_build(edges, path), path, once(edges)
  )
  for (source in sources) {
    found <- outcore(source, method = "components")
    expect_type(as.data.frame(found)$node, "integer")
    joined <- merge(nodes, as.data.frame(found), by.x = "id", by.y = "node")
    expect_identical(joined$community[match(c(3L, 7L, 100000L), joined$id)], c(0L, 0L, 0L))
    expect_identical(found[["100000"]], 0L)
  }
  of_doubles <- outcore_build(wide, tempfile(fileext = ".graph"))
  for (source in list(wide, of_doubles, of_doubles$path)) {
    found <- outcore(source, method = "components")
    expect_identical(as.data.frame(found)$node, c(100000, 3, 2^40))
    expect_identical(names(found$membership), c("100000", "3", "1099511627776"))
    # Their names are the same in files.
    expect_equal(outcore_score(of_doubles, found)$unnamed_count, 0)
  }
  # A double stays one, also if it is small.
  small <- outcore_build(data.frame(from = 1, to = 2), tempfile(fileext = ".graph"))
  expect_identical(as.data.frame(outcore(small, method = "components"))$node, c(1, 2))
  matrix <- Matrix::sparseMatrix(1:3, c(2, 3, 1), x = 1)
  graph <- outcore_build(matrix, tempfile(fileext = ".graph"))
  expect_type(as.data.frame(outcore(graph, method = "components"))$node, "integer")
  # Text stays text, whatever it looks like.
  text <- data.frame(from = c("1", "2"), to = c("2", "03"))
  expect_identical(as.data.frame(outcore(text, method = "components"))$node, c("1", "2", "03"))
  mixed <- data.frame(from = 1:2, to = c("2", "3"))
  expect_type(as.data.frame(outcore(mixed, method = "components"))$node, "character")
  file <- tempfile()
  writeLines(c("1\t2", "2\t3"), file)
  expect_type(as.data.frame(outcore(file, method = "components"))$node, "character")
})

test_that("a large data frame is passed on in parts", {
  count <- 600000L
  frame <- data.frame(from = seq_len(count), to = seq_len(count) + 1L, weight = 1)
  found <- outcore(frame, method = "components")
  expect_identical(length(found), 1L)
  expect_identical(as.data.frame(found)$node, seq_len(count + 1L))
})

test_that("functions return data frames one after the other", {
  parts <- split(karate_frame, rep(1:4, length.out = nrow(karate_frame)))
  read <- function() {
    part <- if (length(parts)) parts[[1]]
    parts <<- parts[-1]
    part
  }
  whole <- do.call(rbind, parts)
  expect_identical(as.data.frame(outcore(read)), as.data.frame(outcore(whole)))
  expect_error(outcore(function() NULL), "no edges")
  expect_error(outcore(function() 1), "class `numeric`")
})

test_that("columns are found by name and type, or given", {
  frame <- data.frame(score = c(0.5, 2, 1), target = c("b", "c", "a"), source = c("a", "b", "c"))
  found <- outcore(frame, method = "components")
  expect_identical(as.data.frame(found)$node, c("a", "b", "c"))
  expect_true(found$report$graph$is_weighted)
  swapped <- outcore(frame, method = "components", columns = c("target", "source"))
  expect_identical(as.data.frame(swapped)$node, c("b", "a", "c"))
  expect_false(swapped$report$graph$is_weighted)
  expect_identical(as.data.frame(outcore(frame, method = "components", columns = c(2, 3))), as.data.frame(swapped))
})

test_that("nodes of two kinds, and lists of nodes, are text", {
  pairs <- data.frame(user_id = c(1L, 1L, 2L), item_id = c(1L, 2L, 1L))
  found <- as.data.frame(outcore(pairs, method = "components", two_mode = TRUE))
  expect_setequal(found$node, c("user_id:1", "user_id:2", "item_id:1", "item_id:2"))
  list <- tempfile()
  writeLines(c("1", "other"), list)
  found <- as.data.frame(outcore(data.frame(from = 1L, to = 2L), method = "components", nodes = list))
  expect_identical(found$node, c("1", "2", "other"))
})

test_that("a failed call leaves no directory behind", {
  directory <- tempfile()
  dir.create(directory)
  expect_error(outcore("missing.tsv", work_dir = directory))
  expect_error(outcore(data.frame(a = c("x", NA), b = c("y", "z")), work_dir = directory))
  expect_length(list.files(directory, all.files = TRUE, no.. = TRUE), 0L)
  outcore(karate, work_dir = directory)
  expect_length(list.files(directory, all.files = TRUE, no.. = TRUE), 0L)
})

test_that("graphs of igraph have the order of their nodes, whatever their names", {
  skip_if_not_installed("igraph")
  made <- planted()
  graph <- igraph::make_empty_graph(length(made$names), directed = FALSE)
  graph <- igraph::add_edges(graph, t(made$pairs))
  numbered <- as.data.frame(outcore(graph, method = "modularity"))
  expect_identical(numbered$node, seq_along(made$names))
  expect_true(same_partition(numbered$community, made$of))
  igraph::V(graph)$name <- made$names
  named <- outcore(graph, method = "modularity")
  expect_identical(as.data.frame(named)$node, made$names)
  expect_true(same_partition(as.data.frame(named)$community, made$of))
  clusters <- as_communities(named, graph)
  expect_equal(igraph::modularity(clusters), named$report$communities$modularity)
  expect_identical(as.numeric(igraph::membership(clusters)), as.data.frame(named)$community + 1)
  expect_identical(names(igraph::membership(clusters)), made$names)
  igraph::E(graph)$weight <- 2
  expect_true(outcore(graph, method = "modularity")$report$graph$is_weighted)
  igraph::V(graph)$name[2] <- igraph::V(graph)$name[1]
  expect_error(outcore(graph), "two nodes have the name")
})

test_that("matrices of all classes give the same communities, in the order of their rows", {
  skip_if_not_installed("Matrix")
  made <- planted()
  count <- length(made$names)
  pairs <- rbind(made$pairs, made$pairs[, 2:1])
  general <- Matrix::sparseMatrix(pairs[, 1], pairs[, 2], x = 1, dims = c(count, count))
  pattern <- Matrix::sparseMatrix(pairs[, 1], pairs[, 2], dims = c(count, count))
  forms <- list(
    dgCMatrix = general, dsCMatrix = Matrix::forceSymmetric(general), dgTMatrix = methods::as(general, "TsparseMatrix"),
    dgRMatrix = methods::as(general, "RsparseMatrix"), ngCMatrix = pattern, matrix = as.matrix(general),
    logical = as.matrix(general) > 0, dense = methods::as(general, "unpackedMatrix")
  )
  expected <- as.data.frame(outcore(general, method = "modularity"))
  expect_true(same_partition(expected$community, made$of))
  for (form in forms) expect_identical(as.data.frame(outcore(form, method = "modularity")), expected)
  dimnames(general) <- list(made$names, made$names)
  expect_identical(as.data.frame(outcore(general, method = "modularity"))$node, made$names)
  rows <- c(5:1, 6:count)
  subset <- outcore(general[rows, rows], method = "modularity")
  expect_identical(as.data.frame(subset)$node, made$names[rows])
  expect_true(same_partition(as.data.frame(subset)$community, made$of[rows]))
  expect_error(outcore(general[1:3, ]), "one of edges is square")
})

test_that("a symmetric matrix has edges in both directions where they count", {
  skip_if_not_installed("Matrix")
  ring <- Matrix::sparseMatrix(c(1, 2, 3), c(2, 3, 1), x = 1, dims = c(3, 3))
  both <- ring + Matrix::t(ring)
  edge_count <- function(...) outcore(..., method = "components")$report$graph$edge_count
  expect_equal(edge_count(both), 3)
  expect_equal(edge_count(both, directed = TRUE), 6)
  expect_equal(edge_count(ring, directed = TRUE), 3)
})

test_that("nodes left out have no community", {
  skip_if_not_installed("igraph")
  graph <- igraph::make_graph(c(1, 2, 2, 3, 3, 1), n = 4, directed = FALSE)
  found <- outcore(graph, method = "components", min_size = 2)
  expect_identical(as.data.frame(found)$community, c(0L, 0L, 0L, NA))
  expect_identical(unname(found$membership), c(0L, 0L, 0L, NA))
  expect_identical(as.numeric(igraph::membership(as_communities(found, graph))), c(1, 1, 1, 2))
  expect_identical(lapply(as.list(found), as.numeric), list("0" = c(1, 2, 3)))
  made <- planted(groups = 12L, size = 15L)
  graph <- igraph::add_edges(igraph::make_empty_graph(length(made$names), directed = FALSE), t(made$pairs))
  levels <- function(...) as.data.frame(outcore(graph, method = "modularity", levels = TRUE, ...))
  expect_identical(names(levels(min_size = 2)), names(levels()))
  expect_true(anyNA(levels(min_size = 2)$group1))
})

test_that("what is no edge list is refused in words", {
  expect_error(outcore(1L), "cannot read edges from an object of class `integer`", class = "outcore_usage")
  expect_error(outcore(stats::dist(1:3)), "similarities of pairs")
  expect_error(outcore(data.frame()), "no columns")
  expect_error(outcore(data.frame(a = 1:2)), "needs two", class = "outcore_bad_input")
  expect_error(outcore(data.frame(a = c(1, 2.5), b = 3:4)), "row 2: the node 2.5 is not a whole number")
  expect_error(outcore(data.frame(a = c("x", NA), b = c("y", "z"))), class = "outcore_empty_name")
  expect_error(outcore(data.frame(a = I(list(1, 2)), b = 3:4)), "names are text or whole numbers")
  bad <- data.frame(a = c("x", "\xff"), b = c("y", "z"))
  expect_error(outcore(bad), "row 2: column `a` has text that is not UTF-8")
  weights <- data.frame(from = 1:2, to = 2:3, weight = c(1, -1))
  expect_error(outcore(weights), class = "outcore_bad_weight")
  expect_error(outcore(data.frame(from = character(), to = character())), "no edges")
})

test_that("names in other encodings are the same names", {
  latin <- c("caf\xe9", "th\xe9")
  Encoding(latin) <- "latin1"
  frame <- data.frame(from = latin, to = enc2utf8(rev(latin)))
  found <- as.data.frame(outcore(frame, method = "components"))
  expect_identical(found$node, enc2utf8(latin))
})
