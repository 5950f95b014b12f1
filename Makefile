# Everything is built inside the checkout: .venv, target, report. Nothing here needs root.
# A second run of any target does only what changed; once the dependencies are fetched, no target needs a network.

PYTHON        ?= python3
REPORT        ?= report
STUDIES       ?=
BENCH         ?=
FUZZ_SECONDS  ?= 60
PROFILED      ?=
BENCH_COMMAND ?= $(PYTHON) tools/bench.py $(BENCH)
AS_WHEELS     := $(if $(PROFILED),--profiled)

VENV          := $(CURDIR)/.venv
INSTALL       := $(VENV)/bin/python -m pip --quiet install --require-hashes
MATURIN       := VIRTUAL_ENV=$(VENV) $(VENV)/bin/maturin
REQUIREMENTS  := requirements-build.txt requirements.txt requirements-dev.txt
BUILDER       := .venv/.builder-installed
INSTALLED     := .venv/.requirements-installed
TOOLS         := .venv/.tools-installed
SITE_READY    := .venv/.docs-installed
COMPILED      := .venv/.extension-compiled
EXTENSION     := .venv/.extension-built
CRATES        := Cargo.toml Cargo.lock pyproject.toml $(shell find crates -type f 2>/dev/null)

# CI must find the lock files up to date; elsewhere cargo may bring them up to date.
LOCKED        := $(if $(CI),--locked)
# The same flags for the extension and for the wheel: what one has compiled, the other takes.
RELEASE       := --release --strip $(LOCKED)

# Caches that would otherwise land in the home directory.
export PIP_CACHE_DIR ?= $(CURDIR)/.cache/pip
export MPLCONFIGDIR  ?= $(CURDIR)/.cache/matplotlib
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# One interpreter for every build of the bindings, or they would be compiled again for each.
export PYO3_PYTHON   := $(VENV)/bin/python

MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help sbom fit-accuracy fit-trust kernel-fits kernel-diagnoses diagnosis-accuracy audit reproduce test test-rust test-python tests-built rust-tests-built replay-built bench-built agreement endure host-load lint lint-rust lint-python lint-structure \
        fuzz bench docs docs-rust docs-site wheel wheel-portable wheel-test cross-check gallery fetch format clean distclean need-rust need-python

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

reproduce: ## the studies' tables beside the published figures; leaves report/index.html (STUDIES="rfc1106" for one)
	@$(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,--jobs=2) $(EXTENSION)
	$(VENV)/bin/netspurt reproduce $(STUDIES) --quick --out $(REPORT)

# A failed test of Rust does not keep those of Python from running.
test: ## all tests of all languages
	@status=0; \
	for language in rust python; do $(MAKE) --no-print-directory test-$$language || status=1; done; \
	exit $$status

# All that the tests need. The extension ends in one long step on one processor: 'make --jobs=2 tests-built' uses the other one meanwhile.
tests-built: $(EXTENSION) $(TOOLS) rust-tests-built replay-built

rust-tests-built: | need-rust
	cargo test --workspace --exclude netspurt-python --exclude netspurt-bench --no-run --quiet $(LOCKED)

# What the comparison with the running kernel replays scripts with. It waits for the extension, since cargo lets one build at a time into a folder.
replay-built: | need-rust $(EXTENSION)
	cargo build --release --quiet $(LOCKED) -p netspurt-packetdrill --bin netspurt-replay

bench-built: | need-rust
	$(PYTHON) tools/bench.py build

# The bindings are tested from Python: a Rust test of them would have to link an interpreter.
test-rust: | need-rust
	cargo test --workspace --exclude netspurt-python --exclude netspurt-bench --no-fail-fast $(LOCKED)

# Tests that depend on real time run afterwards: those that mostly wait four at once, the others one by one (see python/tests/conftest.py).
test-python: $(EXTENSION) $(TOOLS)
	status=0; \
	$(VENV)/bin/python -m pytest -rs -m "not waiting and not alone" --numprocesses auto python/tests || status=1; \
	$(VENV)/bin/python -m pytest -rs -m waiting --numprocesses 4 python/tests || status=1; \
	$(VENV)/bin/python -m pytest -rs -m alone python/tests || status=1; \
	exit $$status

agreement: $(EXTENSION) ## our TCP against the kernel's on 17 paths, simulated and emulated (needs root or user namespaces; half an hour)
	$(VENV)/bin/python tools/agreement.py

endure: $(EXTENSION) $(TOOLS) ## 1 GB each way against the kernel over a bad path, and a minute of hostile segments (as above)
	NETSPURT_ENDURE=1 $(VENV)/bin/python -m pytest -rs -s python/tests/emulation/test_endure.py

host-load: $(EXTENSION) ## honest clients of 'netspurt host http' under five loads (docs/engineering/host-load.md; needs the same, ten minutes)
	$(VENV)/bin/python tools/host_load.py

lint: lint-structure lint-rust lint-python ## formatting, lints, types, and which crate may import which

lint-structure: | need-python
	$(PYTHON) tools/check_layers.py --self-test
	$(PYTHON) tools/check_layers.py
	$(PYTHON) tools/check_size.py
	$(PYTHON) tools/requirements.py --check

lint-rust: $(BUILDER) | need-rust
	cargo fmt --all --check
	cargo fmt --manifest-path fuzz/Cargo.toml --check
	cargo clippy --workspace --all-targets --quiet $(LOCKED) -- -D warnings

lint-python: $(TOOLS)
	$(VENV)/bin/ruff check python tools
	$(VENV)/bin/ruff format --check python tools
	$(VENV)/bin/mypy python/netspurt tools

fuzz: | need-rust ## the fuzz targets, FUZZ_SECONDS=60 shared among them
	tools/fuzz.sh $(FUZZ_SECONDS)

bench: | need-rust ## how fast and how small, each figure beside its goal (BENCH=short for a quick look; PEERS=1: ns-2 and ns-3 too; PROFILED=1: compiled as wheels are)
	$(BENCH_COMMAND) $(AS_WHEELS)
	$(if $(PEERS),$(PYTHON) tools/peers.py $(AS_WHEELS))

docs: docs-rust docs-site ## the documentation: the site into site/, the Rust API's pages into target/doc

docs-rust: $(BUILDER) | need-rust
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps $(LOCKED)

# The studies' pages show the numbers of the last report, whoever made it.
docs-site: $(EXTENSION) $(SITE_READY) | report/reproduce.json
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict --quiet

report/reproduce.json:
	$(MAKE) reproduce REPORT=report STUDIES=

wheel: $(BUILDER) | need-rust ## a Python wheel, into dist/
	$(MATURIN) build $(RELEASE) --out dist

wheel-portable: $(BUILDER) | need-rust ## a wheel for Linux with glibc 2.28 and newer, into dist/
	$(INSTALL) -r requirements-wheel.txt
	settings=$$($(PYTHON) tools/profiled.py) && \
	env $$settings PATH=$(VENV)/bin:$$PATH $(MATURIN) build $(RELEASE) --zig --compatibility manylinux_2_28 --target-dir target/portable --out dist

wheel-test: $(EXTENSION) wheel ## installs the wheel in an empty environment and uses it; checks the source distribution
	$(MATURIN) sdist --out dist
	$(VENV)/bin/python tools/wheel_test.py

gallery: $(EXTENSION) ## the pictures of the gallery, into gallery/, and its page
	$(VENV)/bin/python tools/gallery.py --page --out gallery

# A target whose standard library is not installed is left out: rustup target add x86_64-apple-darwin aarch64-unknown-linux-gnu
cross-check: $(BUILDER) | need-rust ## whether everything compiles for aarch64, and everything but the kernel parts for macOS
	@for target in aarch64-unknown-linux-gnu x86_64-apple-darwin; do \
		if [ -d "$$(rustc --print sysroot)/lib/rustlib/$$target" ]; then \
			echo "cargo check for $$target"; cargo check --quiet $(LOCKED) --target $$target -p netspurt-python || exit 1; \
		else echo "make: the standard library of $$target is not installed; not checked" >&2; fi; \
	done

diagnosis-accuracy: | need-rust ## how often the diagnosis of a capture is right, on seeds that chose no parameter (docs/diagnosis/accuracy.md)
	mkdir -p target
	cargo run --release $(LOCKED) --quiet -p netspurt-observe --bin netspurt-why-judge -- 10060000 400 target/judged.pcapng page > target/accuracy.md
	mv target/accuracy.md docs/diagnosis/accuracy.md

fit-accuracy: | need-python ## how near fits are to random paths, on seeds that chose no parameter (docs/fit/accuracy.md)
	mkdir -p target
	$(PYTHON) tools/fit_accuracy.py 7830000 60 > target/fit-accuracy.md
	mv target/fit-accuracy.md docs/fit/accuracy.md

fit-trust: | need-python ## whether fits that predict wrongly say so, on paths that fits hardly explain (docs/fit/trust.md)
	mkdir -p target
	$(PYTHON) tools/fit_trust.py 8500000 300 > target/fit-trust.md
	mv target/fit-trust.md docs/fit/trust.md

kernel-fits: | need-python ## fits of captures of the kernel, and remedies predicted from them and proven (docs/fit/kernel.md); needs root
	$(PYTHON) tools/kernel_fits.py capture target/kernel-fits
	$(PYTHON) tools/kernel_fits.py fit target/kernel-fits > target/kernel-fits.md
	$(PYTHON) tools/kernel_fits.py prove target/kernel-fits > target/kernel-pairs.md
	$(PYTHON) tools/kernel_fits.py page target/kernel-fits > docs/fit/kernel.md

kernel-diagnoses: $(EXTENSION) ## how often the diagnosis names a cause that limits the kernel's TCP (docs/diagnosis/kernel.md); needs root and dumpcap
	$(VENV)/bin/python tools/kernel_diagnoses.py capture target/kernel-diagnoses
	$(VENV)/bin/python tools/kernel_diagnoses.py judge target/kernel-diagnoses
	$(VENV)/bin/python tools/kernel_diagnoses.py page target/kernel-diagnoses > target/kernel-diagnoses.md
	mv target/kernel-diagnoses.md docs/diagnosis/kernel.md

sbom: | need-python ## a bill of materials of all dependencies (CycloneDX JSON), into dist/
	$(PYTHON) tools/sbom.py dist/sbom.cdx.json

# Both tools are looked for, not installed. The requirement files are pinned, so pip-audit resolves nothing.
audit: ## known vulnerabilities, licences and sources of dependencies (needs cargo-deny and pip-audit)
	@if command -v cargo-deny >/dev/null; then cargo deny check; else echo "make: cargo-deny is not installed; crates were not checked" >&2; fi
	@command -v pip-audit >/dev/null || { echo "make: pip-audit is not installed; Python packages were not checked" >&2; exit 0; }; \
	for file in requirements.txt requirements-dask.txt requirements-docs.txt requirements-wheel.txt requirements-build.txt requirements-dev.txt; do \
		pip-audit --disable-pip --require-hashes --progress-spinner off --cache-dir .cache/pip-audit -r $$file || exit 1; \
	done

fetch: $(TOOLS) $(SITE_READY) | need-rust ## every dependency, so that all the rest works without a network
	cargo fetch $(LOCKED)
	cargo fetch $(LOCKED) --manifest-path fuzz/Cargo.toml

format: $(TOOLS) | need-rust ## puts all sources into the form that lint asks for
	cargo fmt --all
	cargo fmt --manifest-path fuzz/Cargo.toml
	$(VENV)/bin/ruff check --fix python tools
	$(VENV)/bin/ruff format python tools

clean: ## removes what was built and reported; keeps .venv and what was fetched
	cargo clean --quiet
	rm -rf fuzz/target fuzz/artifacts dist report site gallery python/netspurt/_core*.so $(COMPILED) $(EXTENSION)

distclean: clean ## removes all that make ever made
	rm -rf .venv .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis fuzz/corpus

# The environment, with what compiles the extension. It is made anew when any of its packages change.
$(BUILDER): $(REQUIREMENTS) | need-python
	$(PYTHON) -m venv --clear .venv || { echo "make: $(PYTHON) cannot make a virtual environment (on Debian: apt-get install python3-venv)" >&2; exit 1; }
	$(INSTALL) -r requirements-build.txt
	@touch $@

# What the package needs to run.
$(INSTALLED): $(BUILDER)
	$(INSTALL) -r requirements.txt
	@touch $@

# What checks and tests need besides.
$(TOOLS): $(INSTALLED)
	$(INSTALL) -r requirements-dev.txt
	@touch $@

$(SITE_READY): requirements-docs.txt $(TOOLS)
	$(INSTALL) -r $<
	@touch $@

# Compiling does not need the packages: with two jobs they are installed meanwhile.
$(COMPILED): $(BUILDER) $(CRATES) | need-rust
	$(MATURIN) develop --skip-install $(RELEASE)
	@touch $@

$(EXTENSION): $(COMPILED) $(INSTALLED)
	$(MATURIN) develop $(RELEASE)
	@touch $@

need-rust:
	@cargo --version >/dev/null || { echo "make: netspurt needs Rust, stable, 1.93 or newer: https://rustup.rs" >&2; exit 1; }

need-python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit("make: netspurt needs Python 3.11 or newer, $(PYTHON) is %d.%d; name another one with: make PYTHON=python3.12" % v[:2])'
