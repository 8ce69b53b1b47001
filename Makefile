# SPDX-License-Identifier: BSD-2-Clause
# The front door: `make run` to try tarn, `make test` to check it, `make help` for the rest.
# The building itself is CMake's (CMakeLists.txt, CMakePresets.json).

.PHONY: help run test build debug asan tsan fuzz bench format check-layers install clean \
	deps-build deps-test deps-format deps-fuzz client-modules

# Arguments for ctest, for example: make test T='-R compat'; for make fuzz, seconds: T=600
T ?=
# Arguments for the benchmarks, for example: make bench B='--b tarantool --only yield,txn'
B ?=
PREFIX ?= /usr/local
CTEST = ctest --output-on-failure --no-tests=error -j2

help:
	@echo 'make run           install what is missing, build, start the example, open its console'
	@echo 'make test          install what is missing, build, run every test'
	@echo 'make build         build the server: build/tarn'
	@echo 'make debug         build with assertions in build-debug/ and run every test there'
	@echo 'make asan          the same with address and undefined-behaviour sanitizers, build-asan/'
	@echo 'make tsan          run the tests of threads that serve sockets with the thread sanitizer'
	@echo 'make fuzz          run each fuzzer for a minute (T=600: ten), build-fuzz/'
	@echo 'make bench         run the benchmarks (B="--b tarantool" compares with another server)'
	@echo 'make format        format the lines of C that differ from the last commit'
	@echo 'make check-layers  check that each layer includes only from the layers below it'
	@echo 'make install       install under PREFIX (/usr/local)'
	@echo 'make clean         remove the build folders; the data under var/ stays'

# Always configured anew before tests: what they need may have been installed meanwhile.
CONFIGURE = cmake --log-level=WARNING --preset

run: build
	@exec tools/run-example build/tarn

build: deps-build
	@[ -f build/build.ninja ] || $(CONFIGURE) release
	cmake --build build --target tarn

test: deps-test client-modules
	@$(CONFIGURE) release
	cmake --build build
	$(CTEST) --test-dir build $(T)

debug: deps-test client-modules
	@$(CONFIGURE) debug
	cmake --build build-debug
	$(CTEST) --test-dir build-debug $(T)

asan: deps-test client-modules
	@$(CONFIGURE) asan
	cmake --build build-asan
	$(CTEST) --test-dir build-asan $(T)

# Those that have to do with more threads than tx.
TSAN_TARGETS = tarn unit_core_mailbox unit_net_load unit_net_protocol unit_net_sessions
tsan: deps-test
	@$(CONFIGURE) tsan
	cmake --build build-tsan --target $(TSAN_TARGETS)
	$(CTEST) --test-dir build-tsan -R '_threads$$|_mailbox$$' $(T)

fuzz: deps-fuzz
	@$(CONFIGURE) fuzz
	cmake --build build-fuzz
	tools/fuzz build-fuzz $(or $(T),60)

bench: build
	python3 bench/compare.py --a build/tarn $(B)

format: deps-format
	git clang-format --extensions c,h

check-layers:
	@tools/check-layers

install: build
	cmake --install build --prefix $(PREFIX)

clean:
	rm -rf build build-debug build-asan build-tsan build-fuzz

deps-build:
	@tools/install-deps build

deps-test:
	@tools/install-deps test

deps-format:
	@tools/install-deps format

deps-fuzz:
	@tools/install-deps fuzz

# The connector that the client tests drive; fetched once, and again when its lock file changes.
client-modules: test/client/node_modules/.package-lock.json
test/client/node_modules/.package-lock.json: test/client/package-lock.json | deps-test
	cd test/client && npm ci --no-audit --no-fund
	@touch $@
