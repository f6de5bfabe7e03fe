edges <- tempfile()
writeLines(c("a\tb\t0.9", "b\tc\t0.8", "a\tc\t0.7", "x\ty\t0.9"), edges)

# Returns the texts of the warnings of an expression.
warnings_of <- function(expression) {
  texts <- ""
  withCallingHandlers(expression, outcore_warning = function(w) {
    texts <<- paste(texts, conditionMessage(w))
    invokeRestart("muffleWarning")
  })
  texts
}

quietly <- function(expression) withCallingHandlers(expression, outcore_warning = function(w) invokeRestart("muffleWarning"))

test_that("the result has the form of SynExtend's", {
  one <- quietly(ExoLabel(edges))
  expect_named(one, c("parameters", "graph_stats", "results"))
  expect_identical(one$parameters, c(add_self_loops = 0, attenuation = 1, iterations = 10))
  expect_equal(one$graph_stats, c(num_vertices = 5, num_edges = 8))
  clusters <- read.delim(one$results, header = FALSE)
  expect_identical(clusters$V1, c("a", "b", "c", "x", "y"))
  expect_identical(clusters$V2, c(1L, 1L, 1L, 2L, 2L))
  table <- quietly(ExoLabel(edges, return_table = TRUE))$results
  expect_identical(table, data.frame(Vertex = clusters$V1, Cluster = clusters$V2))
})

test_that("it is the preset of the command", {
  found <- outcore(karate, method = "label-propagation", like = "exolabel", max_visits = 10)
  one <- ExoLabel(karate, return_table = TRUE)
  expect_identical(one$results$Cluster, as.data.frame(found)$community + 1L)
})

test_that("several clusterings share the graph", {
  files <- replicate(3, tempfile())
  several <- quietly(ExoLabel(edges, files, add_self_loops = c(0, 0.5, 1)))
  expect_length(several, 3L)
  expect_true(all(file.exists(files)))
  expect_identical(vapply(several, function(one) one$parameters[["add_self_loops"]], 0), c(0, 0.5, 1))
  expect_length(quietly(ExoLabel(edges, attenuation = c(0, 1), return_table = TRUE)), 2L)
  expect_error(ExoLabel(edges, files, attenuation = c(0, 1)), "has 2 values, but there are 3 files")
})

test_that("separators, headers and modes are those of the arguments", {
  path <- tempfile()
  writeLines(c("one,two,w", "a,b,0.5", "b,c,0.5"), path)
  one <- quietly(ExoLabel(path, mode = "dir", sep = ",", header = TRUE))
  expect_match(readLines(one$results)[[1]], "^a,[0-9]$")
  expect_equal(one$graph_stats[["num_edges"]], 2)
  expect_error(quietly(ExoLabel(path, sep = ",")), class = "outcore_error")
})

test_that("arguments that cannot be used are refused in words", {
  expect_error(ExoLabel(edges, inflation = 2), "`inflation` is not an argument")
  expect_error(ExoLabel(edges, header = 3L), "skips at most one line")
  expect_error(ExoLabel(edges, sep = "ab"), "not a single character")
  expect_error(ExoLabel(edges, attenuation = NA), "`attenuation` is NA")
  expect_error(ExoLabel(edges, mode = "sideways"))
  expect_warning(quietly(ExoLabel(edges, tempfile(), return_table = TRUE)), "`outfile` is ignored")
})

test_that("options of reading are taken, and hints name only arguments that are", {
  hits <- tempfile()
  columns <- "%s\t%s\t90\t100\t10\t0\t1\t100\t1\t100\t1e-50\t%d"
  writeLines(sprintf(columns, c("a", "b", "a", "b"), c("b", "a", "a", "b"), c(150L, 148L, 200L, 300L)), hits)
  expect_match(warnings_of(ExoLabel(hits, return_table = TRUE)), "`duplicates = \"max\", normalize = \"self-score\"`")
  expect_no_match(warnings_of(ExoLabel(hits, duplicates = "max", normalize = "self-score")), "use `duplicates")
  expect_equal(quietly(ExoLabel(hits, columns = "1,2", threads = 1))$graph_stats, c(num_vertices = 2, num_edges = 8))
  expect_error(ExoLabel(edges, delimiter = ","), "use `sep`")
  expect_error(ExoLabel(edges, method = "cpm"), "`method` is not an argument")
  expect_error(ExoLabel(edges, processors = 2), "use `threads`")
  expect_error(ExoLabel(edges, tempfile(), "dir", 0, 1, FALSE, 0, FALSE, TRUE, FALSE, "\t", FALSE, tempdir(), 1), "no name")
  # What is hinted at is a call that works, of this function or of outcore().
  as_own <- outcore:::as_own
  expect_identical(as_own("delimiter", "tab"), "sep = \"\\t\"")
  expect_identical(as_own("delimiter", ";"), "sep = \";\"")
  expect_identical(as_own("delimiter", "spaces"), "outcore(delimiter = \"spaces\")")
  expect_identical(as_own("header", "yes"), "header = TRUE")
  expect_identical(as_own("directed", NULL), "mode = \"directed\"")
  expect_identical(as_own("label-cutoff", "2"), "add_self_loops = 2")
  expect_identical(as_own("on-bad-line", "skip"), "on_bad_line = \"skip\"")
  expect_identical(as_own("resolution", "2"), "outcore(resolution = 2)")
  bad <- tempfile()
  writeLines(c("from,to,weight", "a,b,1", "b,c,x"), bad)
  error <- tryCatch(ExoLabel(bad, sep = ",", header = TRUE), outcore_bad_weight = identity)
  expect_identical(error$line, 3L)
  expect_identical(deparse(conditionCall(error)), "ExoLabel(bad, sep = \",\", header = TRUE)")
  expect_match(conditionMessage(error), "`on_bad_line = \"skip\"`")
  expect_equal(quietly(ExoLabel(bad, sep = ",", header = TRUE, on_bad_line = "skip"))$graph_stats[["num_vertices"]], 2)
})

test_that("only files of its own are removed", {
  directory <- tempfile()
  dir.create(directory)
  theirs <- file.path(directory, "ExoLabelTemp")
  writeLines("mine", theirs)
  quietly(ExoLabel(edges, tempfile(), tempfiledir = directory))
  expect_identical(list.files(directory), "ExoLabelTemp")
})

test_that("estimates are six numbers", {
  expect_output(estimate <- EstimateExoLabel(num_v = 100000, avg_degree = 2), "times that of the edges")
  expect_length(estimate, 6L)
  expect_output(more <- EstimateExoLabel(num_v = 100000, num_edges = 1e7), "MiB")
  expect_gt(more[[3]], estimate[[3]])
  expect_warning(capture.output(EstimateExoLabel(10, 2, num_edges = 5)), "only one")
})
