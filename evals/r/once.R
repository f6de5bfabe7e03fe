# One measured process of evals/r/run.py: `Rscript once.R WHAT FILE OUTPUT`; the last line of its output is JSON.
#
#   ours    clusters a file by ExoLabel() of outcore
#   theirs  clusters a file by ExoLabel() of SynExtend, from the folder SYNEXTEND
#   frame   clusters a data frame by outcore(), after reading the file into it
#   file    clusters the file by outcore()
#   loaded  only reads the file into a data frame

arguments <- commandArgs(trailingOnly = TRUE)
what <- arguments[[1]]
path <- arguments[[2]]
output <- arguments[[3]]

peak <- function() {
  status <- readLines("/proc/self/status")
  as.numeric(sub("[^0-9]*([0-9]+).*", "\\1", grep("^VmHWM", status, value = TRUE))) * 1024
}
# Resets the peak, so that it is that of the call.
reset <- function() {
  gc()
  cat("5", file = "/proc/self/clear_refs")
}

theirs <- function() {
  folder <- Sys.getenv("SYNEXTEND")
  dyn.load(file.path(folder, "exo.so"))
  envir <- new.env()
  sys.source(file.path(folder, "ExoLabel.R"), envir)
  # Its temporary files take a folder of their own, which it empties.
  work <- tempfile("exolabel")
  dir.create(work)
  function() envir$ExoLabel(path, output, verbose = FALSE, tempfiledir = work)
}

if (what %in% c("frame", "loaded")) {
  # As the reader of a user's choice would leave it.
  fields <- scan(path, list("", "", 0), sep = "\t", quote = "", quiet = TRUE)
  frame <- structure(fields, names = c("from", "to", "weight"), row.names = .set_row_names(length(fields[[1]])), class = "data.frame")
  rm(fields)
}
limit <- Sys.getenv("LIMIT", "1GiB")
quietly <- function(expression) suppressWarnings(suppressMessages(expression))
call <- switch(what,
  ours = function() quietly(outcore::ExoLabel(path, output, verbose = FALSE, memory = limit)),
  theirs = theirs(),
  file = function() quietly(outcore::outcore(path, output, method = "label-propagation", memory = limit)),
  frame = function() quietly(outcore::outcore(frame, output, method = "label-propagation", memory = limit)),
  loaded = function() NULL
)
if (what != "theirs") invisible(outcore::outcore_options("plan"))
reset()
before <- peak()
seconds <- system.time(call())[["elapsed"]]
cat(sprintf('{"seconds": %.3f, "before_bytes": %.0f, "added_bytes": %.0f}\n', seconds, before, peak() - before))
