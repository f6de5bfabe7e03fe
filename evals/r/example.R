# The documented example of SynExtend's ExoLabel() with a hundred seeds: how often both functions have the same clusters,
# how often SynExtend has the same ones twice, and by how much the modularity differs. The last line is JSON.

folder <- Sys.getenv("SYNEXTEND")
dyn.load(file.path(folder, "exo.so"))
theirs <- new.env()
sys.source(file.path(folder, "ExoLabel.R"), theirs)

# Clusters numbered by the first of their nodes in order of names.
partition <- function(table) {
  clusters <- table$Cluster[order(table$Vertex)]
  match(clusters, unique(clusters))
}
modularity <- function(table, edges) {
  cluster <- setNames(table$Cluster, table$Vertex)
  whole <- sum(edges$w)
  inside <- sum(edges$w[cluster[edges$a] == cluster[edges$b]])
  degree <- tapply(c(edges$w, edges$w), c(edges$a, edges$b), sum)
  inside / whole - sum((tapply(degree, cluster[names(degree)], sum) / (2 * whole))^2)
}

one <- function(seed) {
  set.seed(seed)
  nodes <- sample(letters, 20L)
  line <- function(i) paste(c(sample(nodes, 2L), as.character(round(runif(1), 3))), collapse = "\t")
  path <- tempfile()
  writeLines(vapply(seq_len(20L), line, ""), path)
  edges <- setNames(read.table(path, sep = "\t", colClasses = c("character", "character", "numeric")), c("a", "b", "w"))
  ours <- suppressWarnings(outcore::ExoLabel(path, return_table = TRUE, verbose = FALSE))$results
  first <- theirs$ExoLabel(path, return_table = TRUE, verbose = FALSE)$results
  second <- theirs$ExoLabel(path, return_table = TRUE, verbose = FALSE)$results
  c(
    same = identical(partition(ours), partition(first)), twice = identical(partition(first), partition(second)),
    gain = modularity(ours, edges) - modularity(first, edges)
  )
}
found <- rowSums(vapply(1:100, one, numeric(3)))
cat(sprintf('{"same": %.0f, "theirs_twice": %.0f, "modularity_gain": %.5f}\n', found[[1]], found[[2]], found[[3]] / 100))
