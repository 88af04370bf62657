//! What becomes of a refusal here: NITRO's status of it (`spec/nitro.md` 6).

use hyper::StatusCode;
use steelyard_core::command::Refusal;

use crate::nitro::reply::Failure;

/// An unknown field of a body has another code than an unknown option of a command line.
pub fn refused(refusal: &Refusal) -> Failure {
    if let Refusal::UnknownArgument { word, .. } = refusal {
        return Failure::netscaler(278, format!("Invalid argument [{word}]"));
    }
    of_line(refusal)
}

/// The same of a command line.
pub fn of_line(refusal: &Refusal) -> Failure {
    let (code, text) = (refusal.code(), refusal.message());
    let status = match code {
        273 => StatusCode::CONFLICT,
        258 | 344 | 461 | 462 | 463 => StatusCode::NOT_FOUND,
        257 => StatusCode::FORBIDDEN,
        1075 | 1088..=1119 => StatusCode::BAD_REQUEST,
        _ => return Failure::netscaler(code, text),
    };
    Failure { status, code: code.into(), text }
}
