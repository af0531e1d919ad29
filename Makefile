# The front door. It calls CMake; everything it makes is in $(BUILD).
BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
J ?= $(shell nproc 2>/dev/null || echo 2)
CMAKE ?= cmake
CMAKE_ARGS ?=
# make has defaults of its own for these: only what the user says is passed on.
ifneq ($(origin CC),default)
compilers += -DCMAKE_C_COMPILER=$(CC)
endif
ifneq ($(origin CXX),default)
compilers += -DCMAKE_CXX_COMPILER=$(CXX)
endif

.PHONY: all configure clean
all: configure
	@$(CMAKE) --build $(BUILD) -j $(J)

configure:
	@mkdir -p $(BUILD)
	@$(CMAKE) -S . -B $(BUILD) $(compilers) $(CMAKE_ARGS) > $(BUILD)/configure.log 2>&1 || { cat $(BUILD)/configure.log; exit 1; }

clean:
	@rm -rf $(BUILD)
