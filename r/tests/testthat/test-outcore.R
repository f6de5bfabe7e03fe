test_that("results hold their nodes, or leave them in a file", {
  held <- outcore(karate, method = "modularity")
  path <- tempfile(fileext = ".tsv")
  stored <- outcore(karate, path, method = "modularity")
  expect_identical(as.data.frame(held), as.data.frame(stored))
  expect_identical(length(held), 4L)
  expect_null(held$path)
  expect_identical(stored$path, normalizePath(path))
  expect_output(print(stored), "34 nodes in 4 communities, modularity 0.42")
  expect_output(print(summary(held)), "largest +12 11")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(plot(held))
  expect_identical(sort(unname(held$membership)), sort(as.data.frame(held)$community + 1))
  copied <- unserialize(serialize(held, NULL))
  expect_identical(as.data.frame(copied), as.data.frame(held))
})

test_that("several resolutions have a result each", {
  several <- outcore(karate, method = "modularity", resolution = c(0.8, 1, 2))
  expect_named(several, c("0.8", "1", "2"))
  expect_identical(vapply(several, length, 0L), c("0.8" = 3L, "1" = 4L, "2" = 7L))
  path <- tempfile(fileext = ".tsv")
  outcore(karate, path, method = "modularity", resolution = c(0.5, 1))
  expect_true(file.exists(sub("tsv$", "0.5.tsv", path)))
})

test_that("further columns come along", {
  found <- as.data.frame(outcore(karate, method = "modularity", stability = TRUE))
  expect_named(found, c("node", "community", "stability"))
  expect_true(all(found$stability >= 0 & found$stability <= 1))
})

test_that("graphs are built once, scored and clustered", {
  graph <- outcore_build(karate, tempfile(fileext = ".graph"))
  expect_output(print(graph), "34 nodes, 78 edges")
  found <- outcore(graph, method = "modularity")
  expect_identical(as.data.frame(found), as.data.frame(outcore(karate, method = "modularity")))
  score <- outcore_score(graph, found)
  expect_equal(score$quality$modularity, found$report$communities$modularity)
  expect_output(print(score), "modularity")
  expect_error(outcore_score(karate_frame, found), "use `outcore_build\\(\\)` first")
  again <- outcore(karate, method = "modularity", initial = found)
  expect_identical(as.data.frame(again), as.data.frame(found))
  expect_error(outcore_score(graph, 1), "neither a result nor the path")
})

test_that("plans and options are data", {
  plan <- outcore_plan(karate, memory = "1GiB")
  expect_equal(plan$limits$memory_bytes, 2^30)
  expect_output(print(plan), "78 edges, 34 nodes")
  expect_output(print(outcore_plan(1e9, nodes = 1e7, memory = "4GiB")), "1,000,000,000 edges")
  expect_error(outcore_plan(karate_frame), "use `outcore_build\\(\\)` first")
  options <- outcore_options("cluster")
  expect_true(all(c("min_weight", "directed", "memory") %in% options$name))
  expect_error(outcore_options("bake"), "`bake` is not a command")
})

test_that("errors are conditions with their place and a hint in the words of R", {
  expect_error(outcore(karate, method = "leiden"), "`method = \"modularity\"`", class = "outcore_usage")
  expect_error(outcore(karate, trails = 3), "did you mean `trials`", class = "outcore_error")
  expect_error(outcore(karate, "a.tsv", "modularity", 1, 2), "an argument has no name")
  path <- tempfile(fileext = ".tsv")
  writeLines(c("from\tto\tweight", "a\tb\t1", "b\tc\tx"), path)
  error <- tryCatch(outcore(path), outcore_bad_weight = identity)
  expect_identical(error$path, path)
  expect_identical(c(error$line, error$column), c(3L, 5L))
  expect_match(conditionMessage(error), "hint: .*`on_bad_line = \"skip\"`")
  expect_identical(deparse(conditionCall(error)), "outcore(path)")
  expect_error(outcore(karate, memory = "1KiB"), "`memory", class = "outcore_error")
  expect_error(outcore("missing.tsv"), class = "outcore_io")
  expect_error(outcore(karate, initial = data.frame(1)), "write a data frame to a file first")
})

test_that("options in sentences are spelled as arguments", {
  spelled <- outcore:::respelled("use `--duplicates max --normalize self-score` or `--min-weight=2`, not `a`")
  expect_identical(spelled, "use `duplicates = \"max\", normalize = \"self-score\"` or `min_weight = 2`, not `a`")
  expect_identical(outcore:::respelled("a larger `--resolution`"), "a larger `resolution`")
})

test_that("warnings are warnings of R, and may become errors", {
  edges <- data.frame(from = c("a", "b", "c", "x"), to = c("b", "c", "a", "y"))
  expect_warning(outcore(edges, method = "modularity"), "a larger `resolution`", class = "outcore_warning")
  old <- options(warn = 2)
  on.exit(options(old))
  expect_error(outcore(edges, method = "modularity"), "one community holds")
})

test_that("a function sees the progress, and its error ends the job", {
  stages <- character()
  outcore(karate, progress = function(event) if (event$kind == "begin") stages <<- c(stages, event$text))
  expect_identical(stages[1], "read")
  expect_true("cluster" %in% stages)
  expect_error(outcore(karate, progress = function(event) stop("enough")), "enough")
  shown <- capture.output(found <- outcore(karate, progress = TRUE), type = "message")
  expect_match(paste(shown, collapse = " "), "read: 78 edges")
})

test_that("an interrupt keeps the work, and the same call resumes", {
  skip_on_os("windows")
  path <- tempfile(fileext = ".tsv")
  output <- tempfile(fileext = ".tsv")
  command("generate", "planted", "--nodes", "30000", "--edges", "300000", "-o", path, "--quiet")
  interrupt <- function(event) {
    # Once the graph is built, so that there is work to keep.
    if (event$kind == "begin" && event$text == "cluster") tools::pskill(Sys.getpid(), tools::SIGINT)
  }
  run <- function(...) outcore(path, output, method = "modularity", ...)
  stopped <- tryCatch(run(progress = interrupt), interrupt = identity)
  expect_s3_class(stopped, "outcore_interrupted")
  expect_false(file.exists(output))
  expect_match(conditionMessage(stopped), "kept:")
  resumed <- run()
  expect_true(resumed$report$resumed)
  whole <- outcore(path, method = "modularity")
  expect_identical(as.data.frame(resumed), as.data.frame(whole))
})

test_that("an interrupt ends a data frame that is being read", {
  skip_on_os("windows")
  frame <- data.frame(from = seq_len(2e6), to = seq_len(2e6) + 1L)
  interrupt <- function(event) if (event$kind == "begin") tools::pskill(Sys.getpid(), tools::SIGINT)
  stopped <- tryCatch(outcore(frame, method = "components", progress = interrupt), interrupt = identity)
  expect_s3_class(stopped, "interrupt")
  # R is as before.
  expect_identical(length(outcore(karate, method = "modularity")), 4L)
})

test_that("results do not depend on memory and threads", {
  expected <- as.data.frame(outcore(karate, method = "modularity"))
  expect_identical(as.data.frame(outcore(karate, method = "modularity", memory = "64MiB", threads = 1)), expected)
})
