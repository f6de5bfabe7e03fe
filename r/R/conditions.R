# Errors of the engine as conditions of R.

# Returns the parts of a text, in which options are spelled as arguments of R: `memory = "2GiB"`. `as` spells an option
# with a value.
spelled <- function(text, as = as_argument) {
  if (is.character(text)) {
    return(respelled(text, as))
  }
  part <- function(part) {
    if (is.character(part) && length(part) == 1L) {
      return(respelled(part, as))
    }
    options <- vapply(part, function(option) as(option[[1L]], option[[2L]]), "")
    paste0("`", paste(options, collapse = ", "), "`")
  }
  paste(vapply(text, part, ""), collapse = "")
}

# Returns a sentence whose options of the command, such as `--min-weight 2`, are arguments of R.
respelled <- function(text, as = as_argument) {
  found <- gregexpr("`--[a-z][a-z-]*([ =][^`]*)?`", text)
  regmatches(text, found) <- lapply(regmatches(text, found), function(options) {
    vapply(options, function(option) {
      words <- strsplit(substring(option, 4L, nchar(option) - 1L), " --", fixed = TRUE)[[1L]]
      value <- sub("^[a-z-]+[ =]?", "", words)
      arguments <- Map(as, sub("[ =].*", "", words), ifelse(nzchar(value), value, list(NULL)))
      paste0("`", paste(arguments, collapse = ", "), "`")
    }, "")
  })
  text
}

as_argument <- function(name, value) {
  name <- gsub("-", "_", name, fixed = TRUE)
  if (is.null(value)) {
    return(name)
  }
  is_number <- grepl("^-?[0-9.]+$", value)
  paste0(name, " = ", if (is_number) value else encodeString(value, quote = "\""))
}

# Returns the condition for the facts of an error.
condition_of <- function(facts, call = NULL, as = as_argument) {
  place <- if (!is.null(facts$line)) {
    paste0(facts$path, ":", facts$line, ":", facts$column, ": ")
  }
  kept <- if (!is.null(facts$kept)) spelled(facts$kept, as)
  hint <- if (!is.null(facts$hint)) spelled(facts$hint, as)
  notes <- vapply(facts$notes, spelled, "", as)
  lines <- c(
    paste0(place, spelled(facts$message, as)),
    if (length(facts$text) && nzchar(facts$text)) paste("  in:", facts$text),
    if (!is.null(kept)) paste("  kept:", kept),
    if (length(notes)) paste("  note:", notes),
    if (!is.null(hint)) paste("  hint:", hint)
  )
  class <- c(paste0("outcore_", gsub("-", "_", facts$kind)), "outcore_error")
  structure(
    class = c(class, if (facts$kind == "interrupted") "interrupt" else "error", "condition"),
    list(
      message = paste(lines, collapse = "\n"), call = call, kind = facts$kind, path = facts$path, line = facts$line,
      column = facts$column, hint = hint, kept = kept, facts = facts
    )
  )
}

# Raises the condition for the facts of an error.
raise <- function(facts, call = NULL) {
  condition <- condition_of(facts, call)
  if (!inherits(condition, "interrupt")) {
    stop(condition)
  }
  signalCondition(condition)
  # Nobody handles the interrupt, so it ends the call, as Ctrl-C does.
  message(conditionMessage(condition))
  invokeRestart("abort")
}

# Raises an error of usage.
refuse <- function(message, hint = NULL, kind = "usage", call = NULL) {
  raise(list(kind = kind, message = message, hint = hint, notes = list()), call)
}

parse_json <- function(text) {
  jsonlite::fromJSON(text, simplifyVector = FALSE)
}

# Raises the error that a native function described, and other errors as they are.
described <- function(expression, call = NULL) {
  tryCatch(expression, error = function(error) {
    facts <- tryCatch(parse_json(conditionMessage(error)), error = function(cause) NULL)
    if (is.null(facts$kind)) stop(error)
    raise(facts, call)
  })
}
