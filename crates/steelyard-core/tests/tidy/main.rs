//! The house rules as an ordinary test: one test for each rule over the whole repository. Beside each rule stands a test
//! that plants a violation, so that a rule that finds nothing is known to look.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod house;
mod layers;
mod locks;
#[path = "../../../../ci/program.rs"]
mod program;
mod programs;
mod repository;
mod text;

use repository::{Fault, Repository};

/// Runs a rule on the working copy; fails with every fault it finds.
fn holds(rule: fn(&Repository) -> Vec<Fault>) {
    let faults = rule(&Repository::here());
    let listed: Vec<_> = faults.iter().map(|f| format!("{}: {}", f.at, f.what)).collect();
    assert!(faults.is_empty(), "\n{}\n", listed.join("\n"));
}

macro_rules! rules {
    ($($name:ident: $rule:path;)*) => { $(#[test] fn $name() { holds($rule) })* };
}

rules! {
    core_modules_follow_the_arrows: layers::arrows;
    core_touches_no_world: layers::doors;
    configuration_changes_in_one_place: layers::one_place_that_changes;
    o04_wall_time_is_for_display: layers::wall_time;
    core_depends_on_what_is_listed: layers::dependencies;
    the_fuzzer_has_the_products_crates: locks::agree;
    files_open_with_what_they_own: text::opening;
    files_read_at_one_sitting: text::length;
    nothing_is_left_over: text::left_over;
    names_are_the_fields: text::names;
    texts_speak_of_the_product_alone: text::elsewhere;
    lints_are_inherited: house::lints;
    unsafe_code_is_in_one_file_with_proof: house::unsafe_code;
    documents_are_true: house::documents;
    invariants_have_tests: house::invariants;
    dependencies_have_reasons: house::reasons;
    dependencies_are_used: house::unused;
    ignored_tests_are_soak_tests: house::ignored_tests;
    tests_name_no_program: programs::by_name;
    listed_programs_are_used: programs::list;
}
