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

# Tests that take too long for `make test`; their names begin with soak_. Ten minutes of fuzzing NITRO, ten of the reader. All
# of it runs, and failures are counted at the end.
soak: deps
	@ci/soak

# Side by side with haproxy and nginx; see bench/README.md.
bench:
	@bench/run
