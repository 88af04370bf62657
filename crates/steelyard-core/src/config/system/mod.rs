//! `system user`, `system group`, `system cmdPolicy` and `system parameter`: who may do what by the management doors.

mod binding;
mod cmd_policy;
mod group;
mod imported;
mod parameter;
mod permission;
mod user;

pub use binding::{CommandPolicyBinding, UserBinding};
pub use cmd_policy::SystemCmdPolicy;
pub use group::SystemGroup;
pub use imported::{HashForm, ImportedHash};
pub use parameter::SystemParameter;
pub(crate) use permission::bounded;
pub use permission::{CommandSpec, Permission, Permissions};
pub use user::{NSROOT, SystemUser};

use super::attribute::{Kind, Words};

/// By which doors a user may come in.
const DOORS: Kind = Kind::WordList(Words { carried: &["CLI", "API"], aliases: &[], not_carried: &[] });
/// Seconds without a request after which a session ends; 0: it does not.
const SESSION_TIMEOUT: Kind = Kind::Number { min: 0, max: 100_000_000 };
/// What the command line prints before a command.
const PROMPT: Kind = Kind::Text { max: 63 };
/// Days of a password.
const DAYS: Kind = Kind::Number { min: 0, max: u32::MAX };
