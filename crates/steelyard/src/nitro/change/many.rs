//! Many objects in one body: what is kept when one of them cannot be, and an answer for each (`spec/nitro.md` 7).

use hyper::StatusCode;

use super::{Asked, Step, Work};
use crate::nitro::reply::{Failure, Reply};
use crate::state::draft::Draft;

/// What is done when an object is refused.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum OnError {
    /// Those before it are kept, those behind it are not looked at.
    Exit,
    /// All others are kept.
    Continue,
    /// None is kept.
    Rollback,
}

impl OnError {
    /// By the header, the query, or in the old style the body.
    ///
    /// # Errors
    /// It is none of them.
    pub fn of(asked: &Asked<'_>) -> Result<OnError, Reply> {
        let said = asked.on_error.map(str::to_owned).or_else(|| asked.parameter("onerror"));
        match said.unwrap_or_default().trim().to_ascii_lowercase().as_str() {
            "" | "exit" => Ok(OnError::Exit),
            "continue" => Ok(OnError::Continue),
            "rollback" => Ok(OnError::Rollback),
            _ => Err(Reply::error(StatusCode::BAD_REQUEST, 1097, "Invalid argument value [onerror]")),
        }
    }
}

/// Does the work on each object: the answer, and whether what was done is to be kept.
pub fn many(work: &Work<'_>, steps: &mut [Step], on_error: OnError, draft: &mut Draft<'_>) -> (Reply, bool) {
    let (mut results, mut warnings) = (Vec::new(), Vec::new());
    for step in &mut *steps {
        let result = step.apply(work, draft).map(|mut new| warnings.append(&mut new));
        let failed = result.is_err();
        results.push(result);
        if failed && on_error != OnError::Continue {
            break;
        }
    }
    if results.iter().all(Result::is_ok) {
        return (work.done(warnings, draft), true);
    }
    let keep = on_error != OnError::Rollback && results.iter().any(Result::is_ok);
    if on_error == OnError::Rollback {
        let done = steps.iter_mut().zip(&mut results).filter(|(_, result)| result.is_ok());
        done.for_each(|(step, result)| {
            let failure = taken_back();
            step.result = Some(failure.text.clone());
            *result = Err(failure);
        });
    }
    (Reply::partly(&results), keep)
}

/// What is said of an object that was carried out before another one was refused.
fn taken_back() -> Failure {
    Failure::netscaler(1239, "NITRO command Execution failed [taken back]".to_owned())
}
