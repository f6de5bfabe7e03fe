karate <- system.file("extdata", "karate.tsv", package = "outcore")
karate_frame <- utils::read.delim(karate, header = FALSE, col.names = c("from", "to"))

bytes_of_file <- function(path) readBin(path, "raw", file.size(path))

# Runs the command in this process.
command <- function(...) {
  status <- .Call(outcore:::c_run, c("outcore", ...))
  stopifnot(status == 0L)
}

# Edges of planted groups, with isolated nodes: names are shuffled so that no order is that of the edges.
planted <- function(groups = 5L, size = 20L, seed = 1L) {
  set.seed(seed)
  count <- groups * size
  of <- rep(seq_len(groups), each = size)
  pairs <- t(utils::combn(count, 2L))
  inside <- of[pairs[, 1L]] == of[pairs[, 2L]]
  kept <- stats::runif(nrow(pairs)) < ifelse(inside, 0.5, 0.01)
  names <- sample(sprintf("n%03d", seq_len(count + 2L)))
  list(pairs = pairs[kept, ], names = names, of = c(of, groups + 1L, groups + 2L))
}

planted_frame <- function() {
  made <- planted(groups = 12L, size = 15L)
  data.frame(from = made$names[made$pairs[, 1L]], to = made$names[made$pairs[, 2L]])
}

# Returns a function that returns a data frame, and then NULL.
once <- function(frame) {
  function() {
    now <- frame
    frame <<- NULL
    now
  }
}

# Whether two vectors of labels are the same partition.
same_partition <- function(a, b) {
  pairs <- unique(data.frame(a, b))
  !anyDuplicated(pairs$a) && !anyDuplicated(pairs$b)
}
