//! What is switched on and off by words: features and modes.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{list, schema, text};
use crate::place::Place;
use crate::program::Program;
use crate::shown::elements;

pub fn trials() -> Vec<Trial> {
    trials![every_feature_and_mode_walks]
}

/// Is that resource walked here?
pub fn is_walked(resource: &str) -> bool {
    ALL.iter().any(|(known, ..)| *known == resource)
}

/// Each word by itself: on in the file, off and on again by requests, and through a saved file.
fn every_feature_and_mode_walks() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let words: Vec<Vec<String>> =
        ALL.iter().map(|(resource, attribute, _)| words(&program, resource, attribute)).collect();
    drop(program);
    let lines =
        ALL.iter().zip(&words).map(|((_, _, line), words)| format!("enable ns {line} {}\n", words.join(" ")));
    let program = Program::launch(&place, &lines.collect::<String>());
    let running = program.running();
    for (&(resource, attribute, _), words) in ALL.iter().zip(&words) {
        is_on(&program, resource, attribute, words, |_| true);
        for word in words {
            act(&program, resource, attribute, "disable", json!([word]));
            is_on(&program, resource, attribute, words, |other| other != word);
            act(&program, resource, attribute, "enable", json!([word]));
        }
        let shown = element(&program, resource)[attribute].clone();
        act(&program, resource, attribute, "disable", shown.clone());
        is_on(&program, resource, attribute, words, |_| false);
        act(&program, resource, attribute, "enable", shown);
        is_on(&program, resource, attribute, words, |_| true);
    }
    assert_eq!(program.running(), running);
    for (&(resource, attribute, _), words) in ALL.iter().zip(&words) {
        act(&program, resource, attribute, "disable", json!(words.iter().step_by(2).collect::<Vec<_>>()));
    }
    let halves = program.running();
    program.done("POST", "nsconfig?action=save", json!({"nsconfig": {}}));
    let saved = std::fs::read_to_string(program.config_path()).unwrap();
    drop(program);
    let program = Program::launch(&place, &saved);
    assert_eq!(program.running(), halves, "after a restart");
    for (&(resource, attribute, _), words) in ALL.iter().zip(&words) {
        is_on(&program, resource, attribute, words, |word| {
            words.iter().skip(1).step_by(2).any(|on| on == word)
        });
    }
}

fn words(program: &Program, resource: &str, attribute: &str) -> Vec<String> {
    let schema = schema(program, resource);
    let found = list(&schema["attributes"]).iter().find(|found| found["name"] == attribute).unwrap();
    list(&found["words"]).iter().map(text).collect()
}

fn element(program: &Program, resource: &str) -> Value {
    elements(program, resource).swap_remove(0)
}

/// Those are on and all others off, in the list and by each one's own field.
fn is_on(
    program: &Program,
    resource: &str,
    attribute: &str,
    words: &[String],
    is_wanted: impl Fn(&String) -> bool,
) {
    let element = element(program, resource);
    for word in words {
        let wanted = is_wanted(word);
        assert_eq!(element[word.to_lowercase()], json!(wanted), "{resource} {word}: {element}");
        assert_eq!(list(&element[attribute]).contains(&json!(word)), wanted, "{resource} {word}: {element}");
    }
}

fn act(program: &Program, resource: &str, attribute: &str, action: &str, words: Value) {
    let body = json!({resource: {attribute: words}});
    let (status, answer) = program.owner("POST", &format!("{resource}?action={action}"), Some(&body));
    assert!(status.contains(" 20"), "{action} {body}: {answer}");
}

/// Resources, their attribute, and what commands call them.
const ALL: &[(&str, &str, &str)] = &[("nsfeature", "feature", "feature"), ("nsmode", "mode", "mode")];
