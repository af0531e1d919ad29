# The front door: it calls CMake, and what it makes is in $(BUILD). `make help` lists what there is.
BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
J ?= $(shell nproc 2>/dev/null || echo 2)
CMAKE ?= cmake
CMAKE_ARGS ?=
NPES ?= 8
NPES_GNN ?= 4
PYTHON ?=
# make has values of its own for these: only what the user says is passed on.
ifneq ($(origin CC),default)
compilers += -DCMAKE_C_COMPILER="$(CC)"
endif
ifneq ($(origin CXX),default)
compilers += -DCMAKE_CXX_COMPILER="$(CXX)"
endif
ifneq ($(PYTHON),)
compilers += -DHBMESH_PYTHON="$(PYTHON)"
endif
export CMAKE PYTHON
MAKEFLAGS += --no-print-directory

configure = mkdir -p '$(BUILD)' && $(CMAKE) -S . -B '$(BUILD)' $(compilers) $(CMAKE_ARGS) \
	> '$(BUILD)/configure.log' 2>&1 || { cat '$(BUILD)/configure.log'; exit 1; }; \
	sed -n 's/^-- \(hbmesh: \)/\1/p' '$(BUILD)/configure.log'
build = $(CMAKE) --build '$(BUILD)' -j $(J)
# A test that does not build is one failed test, no reason to run none.
build_tests = $(build) --target tests -- $(if $(wildcard $(BUILD)/build.ninja),-k 0,-k) || \
	echo 'hbmesh: some tests could not be built'
ctest = cd '$(BUILD)' && $(dir $(shell command -v $(CMAKE)))ctest --output-on-failure -j $(J)

.PHONY: all help setup demo demo-gnn demo-npu check check-all check-roce bench bench-more doc install uninstall symbols clean
all:
	@command -v $(CMAKE) >/dev/null || { echo 'CMake is missing. Install it and a C and C++ compiler' \
		'(Debian: apt-get install cmake gcc g++), or let make demo or make check do that.'; exit 1; }
	@$(configure)
	@$(build)

help:
	@echo 'make              build: $(BUILD)/bin/{oshcc,oshc++,oshrun,shmem-info} work in place, and the Python'
	@echo '                  package in $(BUILD)/python where python3 has NumPy and Python.h'
	@echo 'make demo         install what is missing (apt-get), build, run examples/graph on $(NPES) PEs'
	@echo 'make demo-gnn     the same for examples/gnn: a graph neural network in PyTorch, on $(NPES_GNN) PEs'
	@echo 'make demo-npu     the same for examples/npu: $(NPES) NPUs in software as one global memory'
	@echo 'make check        install what is missing (apt-get), build, run the tests'
	@echo 'make check-all    the long tests too: stress, aarch64 under qemu'
	@echo 'make check-roce   all those over RDMA, in virtual machines with a soft device (make check has a short form)'
	@echo 'make bench        install peers (apt-get), measure them beside this library: doc/benchmarks.md; BENCH_ARGS=--help'
	@echo 'make bench-more   measure several machines, device heaps and the Python package'
	@echo 'make doc          the manual pages, in $(BUILD)/man'
	@echo 'make install      into PREFIX=$(PREFIX) (which can be moved afterwards), under DESTDIR=$(DESTDIR)'
	@echo 'make uninstall    remove what make install put there'
	@echo 'make symbols      write test/abi/symbols.txt anew from the library (after a change that is meant)'
	@echo 'make clean        remove $(BUILD)'
	@echo 'Variables: BUILD, CC, CXX, PREFIX, DESTDIR, J (parallel jobs: $(J)), NPES, NPES_GNN, CMAKE, CMAKE_ARGS,'
	@echo 'PYTHON (the interpreter of the Python part; OFF: none; default: the first of python3 and /usr/bin/python3'
	@echo 'that has NumPy)'

setup-%:
	@BUILD='$(BUILD)' sh tools/setup.sh $*

demo: setup-build
	@echo 'hbmesh: building'
	@mkdir -p '$(BUILD)' && $(MAKE) --no-print-directory all > '$(BUILD)/build.log' 2>&1 || \
		{ cat '$(BUILD)/build.log'; exit 1; }
	@mkdir -p '$(BUILD)/demo'
	@'$(BUILD)/bin/oshcc' -O2 examples/graph/*.c -o '$(BUILD)/demo/graph' -lm
	'$(BUILD)/bin/oshrun' -n $(NPES) '$(BUILD)/demo/graph' $(DEMO_ARGS)

# The interpreter is the one that has PyTorch: it need not be the one a plain make takes.
demo-gnn: setup-demo-gnn
	@echo 'hbmesh: building'
	@python=$$(sh tools/python.sh numpy Python.h torch matplotlib) && mkdir -p '$(BUILD)' && \
	{ $(MAKE) --no-print-directory all PYTHON="$$python" > '$(BUILD)/build.log' 2>&1 || \
		{ cat '$(BUILD)/build.log'; exit 1; }; } && \
	PYTHONPATH='$(BUILD)/python' '$(BUILD)/bin/oshrun' -n $(NPES_GNN) "$$python" examples/gnn/gnn.py \
		--out '$(BUILD)/gnn' $(DEMO_ARGS)

demo-npu: setup-build
	@echo 'hbmesh: building'
	@mkdir -p '$(BUILD)' && $(MAKE) --no-print-directory all > '$(BUILD)/build.log' 2>&1 || \
		{ cat '$(BUILD)/build.log'; exit 1; }
	@OSHCC='$(BUILD)/bin/oshcc' OSHRUN='$(BUILD)/bin/oshrun' NPES=$(NPES) sh examples/npu/demo.sh

check: setup-check all
	@$(build_tests)
	@$(ctest) -LE long

check-all: setup-check-all all
	@$(build_tests)
	@$(ctest)

check-roce: setup-check all
	@$(ctest) -R '^roce/'

# Any Python does; one that has matplotlib draws the plots, too.
bench: setup-bench all
	@python=$$(sh tools/python.sh matplotlib 2>/dev/null || command -v python3) && \
	OSHCC='$(BUILD)/bin/oshcc' OSHRUN='$(BUILD)/bin/oshrun' "$$python" bench/run.py $(BENCH_ARGS)

bench-more: setup-bench-more all
	@OSHCC='$(BUILD)/bin/oshcc' OSHRUN='$(BUILD)/bin/oshrun' sh bench/run.sh

doc: all
	@$(build) --target man
	@echo 'man -M $(BUILD)/man shmem_put'

install: all
	@DESTDIR='$(DESTDIR)' $(CMAKE) --install '$(BUILD)' --prefix '$(PREFIX)' > '$(BUILD)/install.log' \
		|| { cat '$(BUILD)/install.log'; exit 1; }
	@echo 'hbmesh is in $(DESTDIR)$(PREFIX)'

uninstall:
	@test -f '$(BUILD)/install_manifest.txt' || \
		{ echo 'make install has left no list of files in $(BUILD)/install_manifest.txt'; exit 1; }
	@sh tools/uninstall.sh '$(BUILD)/install_manifest.txt' '$(DESTDIR)'

symbols: all
	@sh tools/exports.sh '$(BUILD)/lib/libhbmesh.so' > test/abi/symbols.txt
	@echo "test/abi/symbols.txt lists $$(wc -l < test/abi/symbols.txt) names"

clean:
	@rm -rf '$(BUILD)'
