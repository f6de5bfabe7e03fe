# The drawing of a result.

# Colors of circles, and of lines between them.
CIRCLE <- "#4c78a8"
LINE <- "#9aa5b1"
# Width of the thickest and of the thinnest line, in units of `lwd`.
THICK <- 8
THIN <- 0.7
# Height of text, in points, and mean width of a character as a share of it.
TEXT <- 8
WIDE <- 0.55

#' @rdname outcore_communities
#' @param what What is drawn: the `"network"` of the communities, at most the 100 largest, after `outcore(summary = TRUE)`; or
#'   the `"sizes"` of the ten largest. By default the network if the result has it. The area of a circle is the number of
#'   nodes, and the width of a line the weight between two communities; a circle is named by its community and
#'   representative if there is room. Further arguments are those of [graphics::symbols()] for the circles, or of
#'   [graphics::barplot()].
#' @export
plot.outcore_communities <- function(x, what = c("network", "sizes"), ...) {
  largest <- x$report$communities$largest
  what <- if (missing(what)) c("sizes", "network")[[1L + !is.null(largest)]] else match.arg(what)
  if (what == "sizes") {
    draw_sizes(x, ...)
  } else if (is.null(largest)) {
    refuse("this result has no summary, which the network is drawn from", "use `outcore(..., summary = TRUE)`")
  } else {
    draw_network(largest, ...)
  }
  invisible(x)
}

#' @importFrom graphics barplot
draw_sizes <- function(result, ...) {
  sizes <- as.numeric(unlist(result$report$communities$largest_sizes))
  drawn <- list(height = sizes, names.arg = seq_along(sizes) - 1L, xlab = "community", ylab = "nodes", border = NA)
  drawn[names(list(...))] <- list(...)
  do.call(barplot, drawn)
}

# Draws communities and the weights between them, as in a report.
#' @importFrom graphics par plot.new plot.window segments symbols text
draw_network <- function(largest, ...) {
  number_of <- function(field, of) vapply(of, function(one) as.numeric(one[[field]]), 0)
  numbers <- number_of("community", largest$communities)
  ends <- rbind(
    match(number_of("source", largest$links), numbers), match(number_of("target", largest$links), numbers)
  )
  old <- par(mar = c(0, 0, 0, 0) + 0.5)
  on.exit(par(old))
  plot.new()
  page <- 72 * par("pin")
  sizes <- number_of("size", largest$communities)
  placed <- .Call(c_place_network, sizes, as.integer(ends), number_of("weight", largest$links), page[[1L]], page[[2L]])
  circles <- matrix(placed$circles, 3L)
  lines <- matrix(placed$lines, 3L)
  # A unit is a point.
  plot.window(c(0, page[[1L]]), c(page[[2L]], 0), asp = 1, xaxs = "i", yaxs = "i")
  if (ncol(lines)) {
    from <- circles[, lines[1L, ], drop = FALSE]
    to <- circles[, lines[2L, ], drop = FALSE]
    width <- pmax(THICK * lines[3L, ] / max(lines[3L, ]), THIN)
    segments(from[1L, ], from[2L, ], to[1L, ], to[2L, ], col = LINE, lwd = width)
  }
  drawn <- list(
    x = circles[1L, ], y = circles[2L, ], circles = circles[3L, ], inches = FALSE, add = TRUE, bg = CIRCLE, fg = "white"
  )
  drawn[names(list(...))] <- list(...)
  do.call(symbols, drawn)
  name_circles(circles, numbers, vapply(largest$communities, function(one) as_texts(one$representative), ""))
}

# Names circles by their communities and representatives, or only by their communities, if there is room.
name_circles <- function(circles, numbers, representatives) {
  short <- as.character(numbers)
  long <- paste0(short, ": ", representatives)
  has_room <- function(names) nchar(names) * TEXT * WIDE < 2 * circles[3L, ]
  names <- ifelse(has_room(long), long, ifelse(has_room(short), short, ""))
  shown <- nzchar(names)
  if (any(shown)) text(circles[1L, shown], circles[2L, shown], names[shown], col = "white", cex = TEXT / par("ps"))
}
