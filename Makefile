.PHONY: run test deps soak bench

# Builds the release executable and shows it at work: everything on loopback, Ctrl-C ends it.
run:
	cargo run --locked --release -- demo

# Formatting, clippy, all tests; installs first what they need (ci/packages).
test:
	@ci/test

# Only the installing.
deps:
	@ci/deps

# Tests that take too long for `make test`; their names begin with soak_. Ten minutes of fuzzing the reader, ten of NITRO.
soak: deps
	cargo test --locked --workspace -- --ignored soak_
	FUZZ_SECONDS=600 SEED=$$(od -An -N4 -tu4 /dev/urandom | tr -d ' ') cargo test --locked -p steelyard --test e2e -- fuzzed::
	@ci/fuzz 600

# Side by side with haproxy and nginx; see bench/README.md.
bench:
	@bench/run
