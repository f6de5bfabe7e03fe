# Runs commands of the engine. A job runs on threads of its own, and R polls it: R thus handles interrupts and warnings as
# it does elsewhere, and hands over data frames in parts.

# Returns arguments of R as options of the command, without those that are NULL or FALSE.
as_options <- function(arguments) {
  if (length(arguments) && (is.null(names(arguments)) || !all(nzchar(names(arguments))))) {
    refuse("an argument has no name", "write options with their names: `min_weight = 0.5`")
  }
  options <- Map(function(name, value) {
    option <- paste0("--", gsub("_", "-", name, fixed = TRUE))
    if (is.null(value) || isFALSE(value)) {
      return(NULL)
    }
    if (isTRUE(value)) option else paste0(option, "=", as_value(name, value))
  }, names(arguments), arguments)
  as.character(unlist(options))
}

# Returns a value as text for the command.
as_value <- function(name, value) {
  if (inherits(value, "outcore_communities")) {
    return(file_of(value))
  }
  if (!is.atomic(value) || !length(value) || anyNA(value)) {
    refuse(
      paste0("`", name, "` is ", described_value(value), ", but an option takes text, numbers or TRUE"),
      "write a data frame to a file first, and pass its path"
    )
  }
  if (is.factor(value)) value <- as.character(value)
  if (is.numeric(value)) {
    value <- format_number(value)
  } else if (is.character(value)) {
    value <- ifelse(startsWith(value, "~"), path.expand(value), value)
  }
  paste(value, collapse = ",")
}

described_value <- function(value) {
  if (is.atomic(value) && length(value)) "NA" else paste("of class", class(value)[[1L]])
}

format_number <- function(value) {
  formatC(value, digits = 15L, width = 1L, format = "fg", flag = "")
}

# Runs `outcore COMMAND OPTIONS INPUTS` and returns its report.
run_command <- function(command, options, edges = NULL, progress = FALSE, call = sys.call(-1L)) {
  inputs <- if (!is.null(edges)) c("--", edges$paths)
  args <- c(command, options, "--quiet", inputs)
  outcome <- run_job(args, edges, display_of(progress), call)
  if (nzchar(outcome[[2L]])) {
    raise(parse_json(outcome[[2L]]), call)
  }
  parse_json(outcome[[1L]])
}

# Runs a job until it has ended; returns its report and its error, as JSON.
run_job <- function(args, edges, display, call) {
  job <- .Call(c_job_start, enc2utf8(args), as.character(edges$names), as.character(edges$types))
  is_done <- FALSE
  on.exit(if (!is_done) abandon(job))
  next_row <- 1
  step <- function() {
    event <- .Call(c_job_wait, job)
    if (event$kind == "want") {
      part <- edges$part(next_row)
      feed <- function(columns) {
        described(.Call(c_job_feed, job, columns, next_row, part$from, part$count), call)
      }
      if (is.null(part)) {
        .Call(c_job_feed, job, list(), next_row, 0, 0)
      } else {
        columns <- part$columns(TRUE)
        is_text <- !any(vapply(columns, is.null, NA)) && feed(columns)
        if (!is_text) feed(part$columns(FALSE))
        next_row <<- next_row + part$count
      }
    } else if (event$kind == "warning") {
      warning(warning_of(parse_json(event$text), call))
    } else {
      display(event)
    }
    event$kind
  }
  # Interrupts arrive within a step and nowhere else. The job then saves its progress, and still sends events.
  suspendInterrupts(repeat {
    kind <- tryCatch(allowInterrupts(step()), interrupt = function(interrupt) {
      .Call(c_job_stop, job)
      "stopped"
    })
    if (kind == "ended") break
  })
  is_done <- TRUE
  .Call(c_job_finish, job)
}

# Stops a job after an error of R, and waits for it to remove its files.
abandon <- function(job) {
  .Call(c_job_stop, job)
  .Call(c_job_feed, job, list(), 0, 0, 0)
  while (.Call(c_job_wait, job)$kind != "ended") NULL
  .Call(c_job_finish, job)
}

warning_of <- function(text, call, as = as_argument) {
  structure(class = c("outcore_warning", "warning", "condition"), list(message = spelled(text, as), call = call, text = text))
}

# Returns the function that shows events: `progress` is TRUE, FALSE or such a function.
display_of <- function(progress) {
  if (is.function(progress)) {
    return(progress)
  }
  if (!isTRUE(progress)) {
    return(function(event) NULL)
  }
  stage <- ""
  width <- 0L
  # Overwrites the line of the running stage.
  show <- function(text, end) {
    cat("\r", formatC(text, width = -width), end, sep = "", file = stderr())
    width <<- if (nzchar(end)) 0L else nchar(text)
  }
  function(event) {
    switch(event$kind,
      begin = {
        stage <<- event$text
        show(stage, "")
      },
      advance = show(paste0(stage, ": ", event$text), ""),
      end = if (nzchar(stage)) {
        show(paste0(stage, ": ", event$text), "\n")
        stage <<- ""
      }
    )
    NULL
  }
}
