# Runs the tests of the R package, its vignettes, and the R code of the documentation: `Rscript tests/r/run.R` from the
# root of the repository, with the installed package in R_LIBS. The last line is the summary.

library(testthat)
library(outcore)

# Code of a page, in which lines after `#>` are what it prints.
check_page <- function(path) {
  lines <- readLines(path, encoding = "UTF-8")
  begins <- which(lines == "```r")
  envir <- new.env(parent = globalenv())
  for (begin in begins) {
    end <- begin + which(lines[-seq_len(begin)] == "```")[[1]]
    block <- lines[seq_len(end - begin - 1L) + begin]
    if (begin > 1L && grepl("^<!-- not run: .* -->$", lines[[begin - 1L]])) next
    test_that(paste0(path, ":", begin), check_block(block, envir))
  }
}

# Runs the statements of a block one after the other, and compares what they print with the lines after them.
check_block <- function(block, envir) {
  is_output <- startsWith(block, "#>")
  statements <- parse(text = ifelse(is_output, "", block), keep.source = TRUE)
  lasts <- vapply(attr(statements, "srcref"), function(source) source[[3L]], 1L)
  nexts <- c(vapply(attr(statements, "srcref"), function(source) source[[1L]], 1L)[-1L], length(block) + 1L)
  for (at in seq_along(statements)) {
    after <- seq_len(nexts[[at]] - lasts[[at]] - 1L) + lasts[[at]]
    expected <- trimws(sub("^#> ?", "", block[after][is_output[after]]), "right")
    printed <- utils::capture.output({
      value <- withVisible(eval(statements[[at]], envir))
      if (value$visible) print(value$value)
    })
    expect_identical(trimws(printed, "right"), expected, info = deparse(statements[[at]])[[1L]])
  }
}

check_vignette <- function(path) {
  test_that(path, {
    knitr::opts_chunk$set(error = FALSE)
    output <- tempfile(fileext = ".md")
    old <- setwd(tempdir())
    on.exit(setwd(old))
    expect_silent(knitr::knit(file.path(old, path), output, quiet = TRUE, envir = new.env(parent = globalenv())))
    expect_false(any(grepl("^#> Warning|^#> Error", readLines(output))))
  })
}

# Pages of the manual are those that roxygen writes.
check_manual <- function() {
  test_that("the manual is that of the comments", {
    noted <- read.dcf("r/DESCRIPTION")[[1, "RoxygenNote"]]
    skip_if(as.character(utils::packageVersion("roxygen2")) != noted, paste("roxygen2 is not", noted))
    copy <- file.path(tempfile(), "outcore")
    dir.create(dirname(copy))
    system2("cp", c("-rL", "r", copy))
    suppressMessages(utils::capture.output(roxygen2::roxygenise(copy, load_code = "source"), type = "output"))
    for (name in c("NAMESPACE", file.path("man", list.files(file.path(copy, "man"))))) {
      expect_identical(readLines(file.path("r", name)), readLines(file.path(copy, name)), info = name)
    }
    expect_setequal(list.files("r/man"), list.files(file.path(copy, "man")))
  })
}


results <- test_dir("r/tests/testthat", package = "outcore", load_package = "installed", reporter = "summary", stop_on_failure = FALSE)
results <- as.data.frame(results)
reporter <- SummaryReporter$new()
listed <- ListReporter$new()
with_reporter(MultiReporter$new(list(reporter, listed)), {
  check_manual()
  lapply(list.files("r/vignettes", "Rmd$", full.names = TRUE), check_vignette)
  lapply(commandArgs(trailingOnly = TRUE), check_page)
})
others <- as.data.frame(listed$get_results())
all <- rbind(results[c("nb", "failed", "skipped", "error")], others[c("nb", "failed", "skipped", "error")])
failed <- sum(all$failed) + sum(all$error)
cat(sprintf("%d passed, %d failed, %d skipped in R\n", sum(all$nb) - sum(all$failed) - sum(all$skipped), failed, sum(all$skipped)))
quit(status = if (failed) 1L else 0L)
