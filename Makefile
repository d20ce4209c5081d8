# What a person runs by hand. The everyday commands are `go run . demo` and `go test ./...`.

GO ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X retainscope/cli.version=$(VERSION)
LINT_VERSION := v2.15.0
FUZZTIME ?= 10s

.PHONY: build test race lint fuzz release bench screenshot clean

build: ## the program, for this machine
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o retainscope .

test: ## what the README names
	$(GO) test ./...

race: ## the same under the race detector (the embedded broker then runs as a process of its own)
	$(GO) test -race ./...

.bin/golangci-lint-$(LINT_VERSION):
	GOBIN=$(CURDIR)/.bin GOFLAGS=-mod=mod $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	mv .bin/golangci-lint $@

lint: .bin/golangci-lint-$(LINT_VERSION) ## the rules of the house
	$< run ./...

fuzz: ## search for new failing inputs, every target FUZZTIME; by hand, before a release
	FUZZTIME=$(FUZZTIME) .ci/fuzz

release: ## static binaries for every machine we serve, in dist/
	@set -e; mkdir -p dist; for t in linux/amd64 linux/arm64 linux/arm/7 darwin/amd64 darwin/arm64 windows/amd64; do \
	  os=$${t%%/*}; rest=$${t#*/}; arch=$${rest%%/*}; arm=$${rest#$$arch}; arm=$${arm#/}; \
	  out=dist/retainscope-$$os-$$arch$${arm:+v$$arm}; [ $$os = windows ] && out=$$out.exe; \
	  echo "$$out"; CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch GOARM=$$arm $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $$out .; \
	done

bench: ## every benchmark, without tests, with a million topics as well; by hand, on a quiet machine
	BENCH_MILLION=1 $(GO) test -run '^$$' -bench . -benchmem -timeout 2h ./...

screenshot: ## the picture in the README, from a real mosquitto and tmux
	docs/screenshot.sh

clean:
	rm -rf dist .bin retainscope

BENCH_SIZES ?= 10000,100000,1000000
ROUNDS ?= 5

.PHONY: bench-peers bench-live bench-keys costs soak soak-watch complete

bench/peers/node_modules/mqtt:
	cd bench/peers && npm install --no-audit --no-fund --silent

bench-peers: bench/peers/node_modules/mqtt ## retainscope beside other subscribers, interleaved; by hand, some minutes
	@command -v mosquitto_sub >/dev/null || apt-get install -y -qq --no-install-recommends mosquitto mosquitto-clients
	CGO_ENABLED=0 $(GO) build -o .bin/bench ./bench && .bin/bench -sizes $(BENCH_SIZES) -rounds $(ROUNDS)

bench-live: ## 50 000 updates a second for a minute: loss and CPU; by hand
	CGO_ENABLED=0 $(GO) build -o .bin/bench ./bench && .bin/bench -scenario live -sizes 100000 -rate 50000 -for 60s -rounds 1

bench-keys: build ## from a key to the screen of the built program, with 50 000 updates a second coming in; by hand
	CGO_ENABLED=0 $(GO) build -o .bin/bench ./bench && .bin/bench -scenario keys -program ./retainscope -sizes 100000,1000000 -rate 50000

costs: ## what stores of 10 000, 100 000 and a million topics cost, in one table; by hand, some minutes
	CGO_ENABLED=0 $(GO) build -o .bin/bench ./bench && .bin/bench -scenario costs -sizes $(BENCH_SIZES) -rate 5000 -for 15s -rounds 3

soak: ## ten minutes at 2 000 updates a second: memory; by hand
	CGO_ENABLED=0 $(GO) build -o .bin/bench ./bench && .bin/bench -scenario soak -sizes 100000 -rate 2000 -for 10m

soak-watch: build ## four minutes of `watch` beside the house and 1 000 updates a second: memory, messages; by hand
	CGO_ENABLED=0 $(GO) build -o .bin/bench ./bench && .bin/bench -scenario watch -program ./retainscope -sizes 1000 -rate 1000 -for 4m

complete: ## what arrives under mosquitto's default limits, ten runs of each; by hand
	CGO_ENABLED=0 $(GO) build -o .bin/bench ./bench
	.bin/bench -scenario complete -sizes 100000 -payload 300 -rounds 10
	.bin/bench -scenario complete -sizes 1000000 -rounds 10
	$(GO) test -tags hand -count=1 -run Hand -v -timeout 1h ./broker
