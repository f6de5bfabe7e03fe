library(testthat)
library(outcore)

test_check("outcore")
