# Run before `R CMD build` in a checkout of the repository, by pkgbuild, remotes and r-universe: brings the engine into
# the package. `packaging/dist.sh r` does the same.
if (file.exists("../packaging/r_engine.py")) {
  unlink("src/rust", recursive = TRUE)
  status <- system2("python3", c("../packaging/r_engine.py", "src/rust"))
  if (status != 0L) stop("packaging/r_engine.py failed: it needs Python 3.10 and Cargo")
}
