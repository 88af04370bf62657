//! Properties of choosing (`spec/selection.md` 2) over random histories, against models written from the documents.

mod histories;
mod keys;
mod reconfiguration;
mod rounds;
mod threads;
mod tree;
mod window;

use proptest::test_runner::{Config, RngSeed};

/// The same cases at every run: what fails, fails again. `PROPTEST_CASES` and `PROPTEST_RNG_SEED` ask for others.
fn cases(cases: u32) -> Config {
    let given = Config::default();
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    Config {
        cases: if number("PROPTEST_CASES").is_some() { given.cases } else { cases },
        rng_seed: RngSeed::Fixed(number("PROPTEST_RNG_SEED").unwrap_or(0x57ee_1a4d)),
        failure_persistence: None,
        ..given
    }
}
