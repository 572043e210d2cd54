# Everything that is done with this repository. Needed: Go, make (GNU 3.81 or newer), git, POSIX sh.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.SUFFIXES:

# Results must not depend on what happens to be set on a machine, nor on a go.work above.
export GOFLAGS := -buildvcs=false
export GOWORK := off

GO ?= go
BIN := bin
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
FUZZTIME ?= 20s
BENCH ?= .
RESULTS := $(CURDIR)/test/bench/RESULTS.md

# The race detector needs cgo, and so a C compiler; Go turns cgo off where there is none.
RACE := $(if $(filter 1,$(shell $(GO) env CGO_ENABLED)),-race)
# Without vet, which make verify runs.
GO_TEST_RACE := $(if $(RACE),env CGO_ENABLED=1 )$(GO) test -vet=off $(RACE)
# With cgo, the linker keeps all methods for what plugins of kustomize might call, and leaves the rest to that of C: a link
# takes half as much CPU again. Without cgo, as in what is released, there are no such plugins.
NO_PLUGINS := kustomize_disable_go_plugin_support
# Without cgo and -trimpath, whatever is compiled without the race detector is compiled once: programs, tests, the
# demo, and what they share with its servers. `make image` trims the paths.
export CGO_ENABLED := 0
# Each program would wait a second at its end for reports of races.
export GORACE ?= atexit_sleep_ms=0

# An argument for the shell, whatever characters it has.
quoted = '$(subst ','\'',$(1))'

# Tools are pinned by modules of their own, and built once for all clones on a machine.
TOOLS_CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/winnow/tools
SHA256 := $(shell command -v sha256sum || echo shasum -a 256)
tool-key = $(shell { cat test/tools/$(1)/go.mod test/tools/$(1)/go.sum; $(GO) env GOVERSION GOHOSTOS GOHOSTARCH; } | $(SHA256) | cut -c1-32)
tool-path = $(TOOLS_CACHE)/$(call tool-key,$(1))/$(1)
CONTROLLER_GEN := $(call tool-path,controller-gen)
GOLANGCI_LINT := $(call tool-path,golangci-lint)
KO := $(call tool-path,ko)
GOVULNCHECK := $(call tool-path,govulncheck)
CONTROLLER_GEN_PACKAGE := sigs.k8s.io/controller-tools/cmd/controller-gen
GOLANGCI_LINT_PACKAGE := github.com/golangci/golangci-lint/v2/cmd/golangci-lint
KO_PACKAGE := github.com/google/ko
GOVULNCHECK_PACKAGE := golang.org/x/vuln/cmd/govulncheck

##@ Develop

.PHONY: help
help: ## Show this help.
	@awk 'BEGIN { FS = ":.*## "; printf "Usage: make [target]\n" } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-zA-Z0-9_-]+:.*## / { printf "  %-17s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: generate
generate: $(CONTROLLER_GEN) ## Write what is generated: code, CRDs, role, charts, docs.
	@$(call generate-into,.)

# verify generates into an empty directory and compares, so that it judges the generated files and
# not what else is being edited.
define generate-into
$(CONTROLLER_GEN) object paths=./api/v1alpha1 output:object:dir=$(1)/api/v1alpha1 && \
$(CONTROLLER_GEN) crd paths=./api/... output:crd:artifacts:config=$(1)/config/crd/bases && \
$(CONTROLLER_GEN) rbac:roleName=winnow-controller paths=./controllers/... output:rbac:artifacts:config=$(1)/config/rbac && \
$(GO) run ./test/reference markdown $(1)/docs/reference && \
$(GO) run ./test/reference schemas $(1)/docs/schemas && \
$(GO) run ./test/licenses $(1)/THIRD_PARTY.md && \
$(GO) run ./test/install/chart $(1)/charts/winnow
endef

.PHONY: fmt
fmt: $(GOLANGCI_LINT) ## Format the code and sort its imports.
	@$(GOLANGCI_LINT) fmt

.PHONY: lint
lint: $(GOLANGCI_LINT) ## Run golangci-lint.
	@$(GOLANGCI_LINT) run --allow-parallel-runners

.PHONY: vulncheck
vulncheck: $(GOVULNCHECK) ## Look what is linked up in the database of vulnerabilities.
	@$(GOVULNCHECK) ./cmd/winnow ./cmd/winnow-controller

VERSION_PACKAGE := github.com/winnow-dev/winnow/cmd/winnow/verbs/version
COMMIT ?= $(shell git log -1 --format=%H 2>/dev/null)
COMMIT_DATE ?= $(shell TZ=UTC0 git log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ 2>/dev/null)
LDFLAGS = -s -w -X main.version=$(VERSION) -X $(VERSION_PACKAGE).linked=$(VERSION) -X $(VERSION_PACKAGE).commit=$(COMMIT) -X $(VERSION_PACKAGE).date=$(COMMIT_DATE)
GO_BUILD = $(GO) build -ldflags $(call quoted,$(LDFLAGS)) -o $(BIN)/

.PHONY: build
build: ## Build bin/winnow and bin/winnow-controller.
	@mkdir -p $(BIN)
	$(GO_BUILD) ./cmd/winnow ./cmd/winnow-controller

.PHONY: man
man: ## Build the man pages of winnow into bin/man/man1.
	@rm -rf $(BIN)/man && $(GO) run ./test/reference man $(BIN)/man/man1

# The same commit gives the same digest: the image has the time of the commit.
IMAGE_PROGRAM ?= winnow-controller
IMAGE_TAG ?= $(VERSION)
IMAGE_PLATFORMS ?= linux/amd64,linux/arm64
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)

.PHONY: image
image: $(KO) ## Build IMAGE_PROGRAM as bin/image, or push it to IMAGE_REPO.
	@GOOS= GOARCH= SOURCE_DATE_EPOCH=$(call quoted,$(SOURCE_DATE_EPOCH)) $(GO) run ./test/install/image -ko $(KO) -o $(BIN)/image -sbom $(BIN)/$(call quoted,$(IMAGE_PROGRAM)).spdx.json \
	  -program $(call quoted,$(IMAGE_PROGRAM)) \
	  -repo $(call quoted,$(IMAGE_REPO)) -tag $(call quoted,$(IMAGE_TAG)) \
	  -platforms $(call quoted,$(IMAGE_PLATFORMS)) -base $(call quoted,$(IMAGE_BASE))

# config/overlays/flux-system, for example.
MANIFESTS ?= config/default

.PHONY: release-manifests
release-manifests: ## Render bin/install.yaml, with the image IMAGE.
	@GOOS= GOARCH= $(GO) run ./test/install/manifests -image $(call quoted,$(IMAGE)) -o $(BIN)/install.yaml $(call quoted,$(MANIFESTS))

.PHONY: completions
completions: ## Build the completions of winnow into bin/completions.
	@rm -rf $(BIN)/completions && mkdir -p $(BIN)/completions
	@for shell in bash zsh fish powershell; do $(GO) run ./cmd/winnow completion $$shell >$(BIN)/completions/winnow.$$shell || exit 1; done

.PHONY: tools
tools: $(CONTROLLER_GEN) $(GOLANGCI_LINT) ## Build the pinned development tools.
	@printf '%s\n' $^

.PHONY: clean
clean: ## Remove what was built here. Caches stay.
	rm -rf $(BIN) cover.out

##@ Test

.PHONY: verify
verify: $(CONTROLLER_GEN) verify-generated verify-format verify-modules vet lint ## Check generated files, format, modules, vet, lint.

.PHONY: verify-generated
verify-generated: $(CONTROLLER_GEN)
	@stale=; out=$$(mktemp -d) && trap 'rm -rf "$$out"' EXIT && \
	{ $(call generate-into,"$$out"); } && \
	for file in api/v1alpha1/zz_generated.deepcopy.go config/crd/bases config/rbac/role.yaml THIRD_PARTY.md; do \
	  diff -ru $$file "$$out/$$file" || stale="$$stale $$file"; \
	done && \
	diff -ru --exclude=README.md docs/reference "$$out/docs/reference" || stale="$$stale docs/reference"; \
	diff -ru docs/schemas "$$out/docs/schemas" || stale="$$stale docs/schemas"; \
	diff -u charts/winnow/values.yaml "$$out/charts/winnow/values.yaml" && \
	diff -ru --exclude=NOTES.txt --exclude='*.tpl' charts/winnow/templates "$$out/charts/winnow/templates" || stale="$$stale charts/winnow"; \
	if [ -n "$$stale" ]; then echo "stale:$$stale; run make generate" >&2; exit 1; fi

.PHONY: verify-format
verify-format:
	@files=$$($$($(GO) env GOROOT)/bin/gofmt -s -l .) && if [ -n "$$files" ]; then echo "not formatted, run make fmt:" $$files >&2; exit 1; fi

# Not for the modules in test/tools: tidying those downloads the test dependencies of all of
# kube-apiserver and Flux; that their files are complete shows when they are built.
.PHONY: verify-modules
verify-modules:
	@$(GO) mod tidy -diff || { echo "go.mod or go.sum is not tidy, run go mod tidy" >&2; exit 1; }

.PHONY: vet
vet: ## Run go vet, also on the e2e tests.
	@$(GO) vet -tags e2e,node ./...

# The directories of the tests that have a line which starts so.
dirs-of = $$(find . -name '*_test.go' -exec grep -lE '^$(1)' {} + | xargs -n 1 dirname | sort -u)

# Built before the tests, because go test would hide for minutes what it waits for.
SERVERS := $(GO) run ./test/stack/cmd/stack -build

# TestCost... are measures of time and memory, which the race detector distorts, and tests of large inputs in one
# goroutine, TestRandom... of thousands of random ones: it makes them five to ten times as expensive, so they run without
# it, and so does test/compat, which compares with other programs. The package that takes longest comes first, so that the
# others run beside it.
WITHOUT_RACE := ^Test(Cost|Random)
.PHONY: test
test: ## Run all tests but e2e.
	@[ -n "$(RACE)" ] || echo "no C compiler: testing without the race detector"
	@$(SERVERS) -control-plane
	@echo "testing $$($(GO) list ./... | wc -l | tr -d ' ') packages, printed as they end: about 10 min on 2 cores, once they are compiled"
	@$(GO) run ./test/results $(GO_TEST_RACE) -tags $(NO_PLUGINS) -json -shuffle=on -skip '$(WITHOUT_RACE)' -timeout 45m ./controllers \
	  $$($(GO) list ./... | grep -v '/test/compat$$')
	$(GO) test -vet=off -shuffle=on -run '$(WITHOUT_RACE)' -timeout 10m $(call dirs-of,func Test(Cost|Random))
	$(GO) test -vet=off -shuffle=on -timeout 10m ./test/compat
	$(GO) -C test/tools/promql test -count=1 ./...

# -run '^$$' leaves the seeds out: `make test` runs them. Skipped are those that compare what was edited or built with
# what YAML's library and kustomize make of it, which find oddities of these for hours.
FUZZ_SKIP ?= ^Fuzz(Apply|Marshal|Render|Text)$$

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME.
	@$(GO) run ./test/fuzzing -time $(FUZZTIME) -skip $(call quoted,$(FUZZ_SKIP))

# In testdata/fuzz of the packages. `make test` runs them.
.PHONY: fuzz-corpus
fuzz-corpus: ## Keep inputs that the fuzzers have found and that cover more.
	@$(GO) run ./test/fuzzing -keep

# Chosen and printed here, because go test shows nothing of what passes.
# Another run each time for `make soak`; the same one for `make e2e`, which must not fail by chance.
WINNOW_SOAK_SEED ?= $(if $(filter soak,$(MAKECMDGOALS)),$(shell awk 'BEGIN { srand(); print int(rand() * 1e9) }'),7)
WINNOW_SOAK_SEED := $(WINNOW_SOAK_SEED)
export WINNOW_SOAK_SEED
WINNOW_CHAOS_SEED ?= $(if $(filter chaos,$(MAKECMDGOALS)),$(shell awk 'BEGIN { srand(); print int(rand() * 1e9) }'),7)
WINNOW_CHAOS_SEED := $(WINNOW_CHAOS_SEED)
export WINNOW_CHAOS_SEED

# The tests of test/e2e wait most of the time, so two processes share them, each with a system of its own: these take half of
# the time of all.
E2E_HALF := ^Test(Chaos|ExampleFleetWorksAsIs|LeavingTheDefaultCatalog|MultitenantOverlay|PlainFluxGuide|ReinstallGuide|Soak|TakesOverReleases|TheManifestsAreDeletedBeforeTheSelections|UpgradeFromTheFormerShapeAndBack)$$
GO_TEST_E2E := $(GO_TEST_RACE) -tags e2e,$(NO_PLUGINS) -count=1 -timeout 40m

# Of the other packages, only what test/compat compares with Helm runs, which this target builds.
.PHONY: e2e
e2e: $(KO) ## Run the end-to-end tests on the local real system.
	@$(SERVERS) -cosign -helm -release
	@echo "soak: WINNOW_SOAK_SEED=$(WINNOW_SOAK_SEED)"
	@echo "chaos: WINNOW_CHAOS_SEED=$(WINNOW_CHAOS_SEED)"
	@$(MAKE) --no-print-directory -j 2 RACE=$(RACE) e2e-half e2e-others
	$(GO) test -vet=off -count=1 -run '^TestChart(sRenderAsHelmDoes|UpgradesAsRecorded)$$' -timeout 10m ./test/compat

.PHONY: e2e-half e2e-others
e2e-half:
	$(GO_TEST_E2E) -run '$(E2E_HALF)' ./test/e2e
e2e-others:
	$(GO_TEST_E2E) -skip '$(WITHOUT_RACE)|$(E2E_HALF)' $(call dirs-of,//go:build e2e)

# The servers of OLM take minutes to build, so only this target builds them. `make e2e` runs these tests as well where
# they are built already.
.PHONY: e2e-olm
e2e-olm: ## Run the end-to-end tests with OLM's servers.
	@$(SERVERS) -olm
	$(GO_TEST_RACE) -tags e2e,$(NO_PLUGINS) -count=1 -run '^TestOLM' -timeout 20m -v $(call dirs-of,func TestOLM)

# Root on Linux, with containerd, runc, the plugins of CNI and iptables. All of it is in namespaces that end with it.
NODE := $(CURDIR)/$(BIN)/node
NODE_IMAGE := registry.example.com/winnow-controller:node
NODE_PACKAGES := containerd runc containernetworking-plugins iptables iproute2 util-linux
NODE_FLAGS ?= -test.v

.PHONY: e2e-node
e2e-node: $(KO) ## Run Winnow in pods on a real node (root, 10 min).
	@dpkg -s $(NODE_PACKAGES) >/dev/null 2>&1 || ! command -v apt-get >/dev/null || apt-get install -y --no-install-recommends $(NODE_PACKAGES)
	@$(SERVERS) -node
	@$(MAKE) --no-print-directory image release-manifests BIN=$(BIN)/node IMAGE_TAG=node IMAGE_PLATFORMS=linux/$$($(GO) env GOARCH) IMAGE=$(NODE_IMAGE)
	@$(MAKE) --no-print-directory release-manifests BIN=$(BIN)/node/ha MANIFESTS=config/overlays/ha IMAGE=$(NODE_IMAGE)
	@mkdir -p $(BIN) && $(GO_BUILD) ./cmd/winnow
	@$(GO) build -o $(NODE)/pause ./test/node/pause
	$(GO) test -tags node -c -o $(NODE)/node.test ./test/node
	$(NODE)/node.test -artifacts $(NODE) -test.timeout 30m $(NODE_FLAGS)

# It prints the seed with which WINNOW_SOAK_SEED repeats the run.
SOAK_STEPS := $(or $(WINNOW_SOAK_STEPS),1000)

# Chromium of Debian, or Chrome; the tests are skipped where there is neither. axe-core comes from npm, and its digest is checked.
AXE_VERSION := 4.14.1
AXE_SHA256 := 29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c
AXE := $(CURDIR)/$(BIN)/axe-core/$(AXE_VERSION)/axe.min.js
BROWSER_TEST = $(GO) -C test/tools/browser test -count=1 -timeout 20m . -sites $(CURDIR)/$(BIN)/sitedemo

.PHONY: e2e-browser
e2e-browser: $(AXE) ## Open the sites of the examples in a real browser.
	@rm -rf $(BIN)/sitedemo && $(GO) run ./test/sitedemo $(BIN)/sitedemo
	$(BROWSER_TEST) -v -axe $(AXE)

.PHONY: site-pictures
site-pictures: ## Take the pictures of docs/images in that browser.
	@rm -rf $(BIN)/sitedemo && $(GO) run ./test/sitedemo $(BIN)/sitedemo
	@mkdir -p docs/images
	$(BROWSER_TEST) -v -run '^TestPictures$$' -pictures $(CURDIR)/docs/images

$(AXE):
	@mkdir -p $(dir $@) && dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && cd "$$dir" && \
	  npm pack --silent axe-core@$(AXE_VERSION) >/dev/null && tar -xzf axe-core-$(AXE_VERSION).tgz && \
	  echo "$(AXE_SHA256)  package/axe.min.js" | $(SHA256) -c - >/dev/null && mv package/axe.min.js $@

.PHONY: soak
soak: ## Compare 1,000 random steps with a model (half an hour).
	@$(SERVERS)
	WINNOW_SOAK_STEPS=$(SOAK_STEPS) $(GO_TEST_RACE) -tags e2e,$(NO_PLUGINS) -count=1 -run '^TestSoak' -timeout 60m -v ./test/e2e

# One process: Git has its working directory.
WINNOW_FLEET_SEED ?= $(if $(filter fleet-model,$(MAKECMDGOALS)),$(shell awk 'BEGIN { srand(); print int(rand() * 1e9) }'),6)
FLEET_SEED := $(WINNOW_FLEET_SEED)
FLEET_STEPS := $(or $(WINNOW_FLEET_STEPS),10000)

.PHONY: fleet-model
fleet-model: ## Compare 10,000 steps of a fleet with a model (10 min).
	@echo "fleet-model: WINNOW_FLEET_SEED=$(FLEET_SEED)"
	GOGC=400 WINNOW_FLEET_STEPS=$(FLEET_STEPS) WINNOW_FLEET_SEED=$(FLEET_SEED) \
	  $(GO) test -count=1 -run '^TestFleet$$' -timeout 3h -v ./test/fleetmodel

GUARD_CASES := $(or $(WINNOW_GUARD_CASES),1000000)
GUARD_SEED := $(or $(WINNOW_GUARD_SEED),$(shell awk 'BEGIN { srand(); print int(rand() * 1e9) }'))

.PHONY: guard-model
guard-model: ## Compare 1,000,000 changes with what must be held.
	@echo "guard-model: WINNOW_GUARD_SEED=$(GUARD_SEED)"
	GOGC=400 WINNOW_GUARD_CASES=$(GUARD_CASES) WINNOW_GUARD_SEED=$(GUARD_SEED) \
	  $(GO) test -count=1 -run '^TestRandomChanges' -timeout 6h -v ./render/guard

BUILD_CASES := $(or $(WINNOW_BUILD_CASES),3000)
BUILD_SEED := $(or $(WINNOW_BUILD_SEED),$(shell awk 'BEGIN { srand(); print int(rand() * 1e9) }'))

.PHONY: build-model
build-model: ## Compare 3,000 builds of directories with Flux (8 min).
	@echo "build-model: WINNOW_BUILD_SEED=$(BUILD_SEED)"
	WINNOW_BUILD_CASES=$(BUILD_CASES) WINNOW_BUILD_SEED=$(BUILD_SEED) \
	  $(GO) test -count=1 -run '^TestRandomDirectories' -timeout 2h -v ./cmd/winnow/gitops

CHAOS_SECONDS := $(or $(WINNOW_CHAOS_SECONDS),600)

.PHONY: chaos
chaos: ## Inject faults for ten minutes, and verify what is published.
	@$(SERVERS)
	WINNOW_CHAOS_SECONDS=$(CHAOS_SECONDS) $(GO_TEST_RACE) -tags e2e,$(NO_PLUGINS) -count=1 -run '^TestChaos$$' -timeout 60m -v ./test/e2e

.PHONY: bench-charts
bench-charts: ## Time winnow diff --charts on 100 upgrades of real charts.
	WINNOW_BENCH_CHARTS=1 $(GO) test -count=1 -run '^TestTimeOfDiffCharts' -timeout 60m -v ./test/compat

.PHONY: sweep
sweep: ## Compare with opm, and charts with Helm (ten minutes).
	@$(GO) run ./test/stack/cmd/stack -opm -helm-cli
	WINNOW_SWEEP=all $(GO) test -count=1 -run '^Test(Opm|Charts)' -timeout 60m -v ./test/compat

.PHONY: chart-upgrades
chart-upgrades: ## Measure diff --charts by upgrades of real charts.
	@$(SERVERS) -control-plane && $(GO) run ./test/stack/cmd/stack -helm-cli
	WINNOW_SWEEP=all $(GO) test -count=1 -run '^TestChart(Upgrades|Risks)' -timeout 3h -v ./test/compat

# With opm, with which test/bench compares: `make bench BENCH=Opm` runs nothing else.
.PHONY: bench
bench: ## Run the benchmarks that match BENCH.
	@$(GO) run ./test/stack/cmd/stack -opm
	WINNOW_BENCH_RESULTS=$(RESULTS) $(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -timeout 60m ./...

.PHONY: bench-render
bench-render: ## Compare renders with other tools: test/bench/RESULTS.md.
	WINNOW_BENCH_RESULTS=$(RESULTS) $(GO) test -run '^$$' -bench '^BenchmarkRender$$' -timeout 60m ./test/bench

# Of the local system, which it starts: five minutes and the idle ones. Its table goes to the standard output.
BENCH_CLUSTER_FLAGS ?=

.PHONY: bench-cluster
bench-cluster: ## Measure 1,000 selections on the local real system.
	@$(SERVERS)
	@$(GO) run ./test/bench/cluster $(BENCH_CLUSTER_FLAGS)

.PHONY: farm
farm: ## Compare commits of 400 clusters, and write their site.
	$(GO) test -count=1 -v -run '^TestFarm' -timeout 30m ./cmd/winnow -farm $(CURDIR)/$(BIN)/farm

# OLD is an earlier bin/winnow, such as one that make build has made in a worktree of the base.
.PHONY: parity
parity: ## Compare the results of winnow with those of OLD.
	@[ -x $(call quoted,$(OLD)) ] || { echo "pass a program to compare with: make parity OLD=path/to/old/winnow" >&2; exit 2; }
	@mkdir -p $(BIN)
	$(GO_BUILD) ./cmd/winnow
	$(GO) test -count=1 -v -run '^TestParity$$' -timeout 60m ./test/parity -old $(call quoted,$(abspath $(OLD))) -new $(CURDIR)/$(BIN)/winnow

.PHONY: upstream
upstream: ## Build servers as their projects pin them (nightly).
	@STACK_PINS=upstream $(SERVERS) -helm

# On other versions of the servers: all rows, or those in ROWS. Its table is in docs/compatibility.md.
ROWS ?=

.PHONY: matrix
matrix: ## Test with other versions of Kubernetes, Flux, registry.
	@$(SERVERS) -cosign
	@$(GO) run ./test/matrix -dir $(BIN)/matrix $(ROWS)

.PHONY: raised
raised: ## List which of these the servers of the demo have newer.
	@$(GO) -C test/tools/servers run .

.PHONY: cover
cover: ## Measure the statement coverage of all tests but e2e.
	$(GO) test -timeout 30m -coverpkg=./api/...,./render/...,./controllers/...,./cmd/... -coverprofile=cover.out ./...
	@$(GO) tool cover -func=cover.out | tail -n 1

##@ Release

RELEASE_VERSION ?= $(VERSION)
# Without a key, cosign signs as the workflow that runs it.
COSIGN_KEY ?=
COSIGN_PUBLIC_KEY ?=
RELEASE_FLAGS ?=
release = GOOS= GOARCH= $(GO) run ./test/install/release -version $(call quoted,$(RELEASE_VERSION)) -registry $(call quoted,$(RELEASE_REGISTRY)) \
  -bin $(call quoted,$(BIN)) -key $(call quoted,$(COSIGN_KEY)) -public-key $(call quoted,$(COSIGN_PUBLIC_KEY)) $(RELEASE_FLAGS)

.PHONY: release-notes
release-notes: ## Check the notes of RELEASE_VERSION, and for edits.
	@$(release) notes

# The password comes from REGISTRY_PASSWORD on standard input: arguments are seen by all processes.
.PHONY: release-login
release-login: $(KO) ## Log in to RELEASE_REGISTRY as REGISTRY_USER.
	@printf '%s' "$$REGISTRY_PASSWORD" | $(KO) login $(call quoted,$(firstword $(subst /, ,$(RELEASE_REGISTRY)))) --username "$$REGISTRY_USER" --password-stdin

.PHONY: release-binaries
release-binaries: man completions ## Pack winnow for each platform into bin/release.
	@$(release) binaries

.PHONY: release-oci
release-oci: $(KO) ## Push images and chart to RELEASE_REGISTRY, and sign.
	@$(release) oci

.PHONY: release-files
release-files: ## Add documents to bin/release, and sign its checksums.
	@$(release) files

.PHONY: release-verify
release-verify: ## Verify bin/release, the images and the chart.
	@$(release) verify

.PHONY: release-dry-run
release-dry-run: $(KO) man completions ## Make a whole release, with a local registry and key.
	@$(release) dry-run

##@ Try

.PHONY: stack
stack: ## Start the local real system and leave it running.
	@mkdir -p $(BIN)
	@$(GO) build -o $(BIN)/stack ./test/stack/cmd/stack && exec $(BIN)/stack

# The command line is built and shown first, alone, because the servers take minutes.
.PHONY: demo-files
demo-files: ## Show the main job on files alone.
	@mkdir -p $(BIN)
	@[ -x $(BIN)/winnow ] || echo "==> building $(BIN)/winnow: about 1 min on 2 cores with nothing cached"
	@$(GO_BUILD) ./cmd/winnow
	@test/demo/files.sh $(call quoted,$(CURDIR)/$(BIN)/winnow)

.PHONY: demo
demo: demo-files ## Show the main job on files, then on the local real system.
	@echo "==> the same on a real API server, with a registry and Flux"
	@echo "    with nothing cached, they are built first, once: about 5 min on 2 cores"
	@$(GO) run ./test/demo

.PHONY: demo-plain
demo-plain: ## Show instances that Flux alone installs, on such a system.
	@$(GO) run ./test/demo plain

# Built beside and moved, because several clones may do so at once. For the host, even when GOOS
# and GOARCH are set for a cross build.
define build-tool
@echo "building $(notdir $@), once for test/tools/$(notdir $@)/go.mod, into $(dir $@)"
@mkdir -p $(dir $@)
@cd test/tools/$(notdir $@) && GOOS= GOARCH= CGO_ENABLED=0 $(GO) build -o $@.$$$$ $(1) && mv $@.$$$$ $@
endef

$(CONTROLLER_GEN):
	$(call build-tool,$(CONTROLLER_GEN_PACKAGE))

$(GOLANGCI_LINT):
	$(call build-tool,$(GOLANGCI_LINT_PACKAGE))

$(KO):
	$(call build-tool,$(KO_PACKAGE))

$(GOVULNCHECK):
	$(call build-tool,$(GOVULNCHECK_PACKAGE))
