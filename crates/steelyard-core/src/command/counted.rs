//! What `stat` counts that nothing configures: the appliance, its protocols and its interfaces.

use super::arguments::Arguments;
use super::catalogue::title;
use super::form::{Form, Need};
use super::lex::Word;
use super::refusal::Refusal;
use super::typed::Action;
use super::words::{COUNTED, ONE_OF_THEM};
use super::{Argument, Object, Verb};
use crate::config::attribute::{Row, Value};

/// The words behind `stat ns`, `stat interface` and the like; `None` where no such thing is counted here.
///
/// # Errors
/// [`Refusal`] of the first word that is unknown, ambiguous or no value of its argument.
pub fn counted(action: &Action) -> Option<Result<Vec<(&'static Row, Value)>, Refusal>> {
    let form = form_of(&action.object)?;
    let end = action.arguments.last().map_or(1, |last| last.end + 1);
    // The object is never told: nothing but the arguments is taken from the command.
    let read = Arguments::new(Verb::Stat, Object::NsConfig, &form, 0).read(&action.arguments, end);
    let pairs = |arguments: Vec<Argument>| arguments.into_iter().map(|a| (a.row, a.value)).collect();
    Some(read.map(|read| pairs(read.command.arguments)).map_err(|(refusal, _)| refusal))
}

/// Which of them a `stat` is about, and how many words say so.
pub(super) fn counted_of(words: &[Word]) -> Option<(&'static str, usize)> {
    let title = title(words).filter(|title| title.verb == Verb::Stat.text())?;
    let object = format!("{} {}", title.group, title.object);
    let known = OF_THE_APPLIANCE.iter().find(|known| known.eq_ignore_ascii_case(object.trim()))?;
    Some((known, title.used))
}

/// What may stand behind one of them.
pub(super) fn form_of(object: &str) -> Option<Form> {
    let known = OF_THE_APPLIANCE.iter().find(|known| known.eq_ignore_ascii_case(object))?;
    let form = match *known {
        "interface" | "system cpu" => Form::default().slot(&ONE_OF_THEM, Need::Optional),
        _ => Form::default(),
    };
    Some(form.options(&COUNTED))
}

/// As the command line calls them.
pub const OF_THE_APPLIANCE: &[&str] = &[
    "ns",
    "system",
    "system cpu",
    "system memory",
    "interface",
    "protocol http",
    "protocol ip",
    "protocol tcp",
    "protocol udp",
    "ssl",
    "aaa",
];
