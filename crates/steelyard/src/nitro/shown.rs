//! What is shown of the configuration as a whole: running, saved, and whether they differ (`spec/nitro.md` 4, 9).

use serde_json::json;

use super::{Fields, Reply};
use crate::state::State;

/// `GET /nitro/v1/config/OBJECT`.
pub async fn answer(object: &str, state: &State) -> Reply {
    match object.to_ascii_lowercase().as_str() {
        "nsconfig" => {
            let fields =
                vec![("configchanged", json!(state.is_changed())), ("systemtype", json!("Stand-alone"))];
            Reply::single("nsconfig", Fields(fields))
        }
        "nsrunningconfig" => {
            Reply::single("nsrunningconfig", Fields(vec![("response", json!(state.printed().ns_conf))]))
        }
        "nssavedconfig" => match state.printed_of_files().await {
            Ok(text) => {
                let text = text.unwrap_or_default();
                Reply::single("nssavedconfig", Fields(vec![("textblob", json!(text))]))
            }
            Err(fault) => Reply::failed(&fault),
        },
        _ => Reply::no_object(object),
    }
}
