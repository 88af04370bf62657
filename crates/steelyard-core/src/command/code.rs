//! What a refusal is about: NITRO's code of it, the argument and the word at fault.

use super::refusal::{Allowed, Refusal};
use crate::config::secret::MASK;

impl Refusal {
    /// NITRO's error code.
    pub fn code(&self) -> u16 {
        match self {
            Refusal::UnknownCommand { .. } => 1088,
            Refusal::AmbiguousCommand { .. } => 1089,
            Refusal::Incomplete { .. } => 1128,
            Refusal::NotCarried { .. } | Refusal::DomainGiven { .. } => 460,
            Refusal::UnknownArgument { .. } => 1090,
            Refusal::AmbiguousArgument { .. } => 1099,
            Refusal::GivenTwice { .. } | Refusal::NotText { .. } | Refusal::Utf16 => 278,
            Refusal::OptionValueMissing { .. } | Refusal::ValueMissing { .. } => 1091,
            Refusal::TooManyValues { .. } => 1112,
            Refusal::NothingToSet => 1094,
            Refusal::ArgumentMissing { .. } => 1095,
            Refusal::PrerequisiteMissing { .. } => 1093,
            Refusal::Exclusive { .. } => 1092,
            Refusal::InvalidValue { .. } => 1097,
            Refusal::AmbiguousValue { .. } => 1105,
            Refusal::BelowMinimum { .. } => 1109,
            Refusal::AboveMaximum { .. } => 1108,
            Refusal::TooLong { .. } => 1106,
            Refusal::InvalidIp { .. } => 1110,
            Refusal::InvalidName { .. } => 1075,
            Refusal::NoAnchor { .. } => 1135,
            Refusal::NoMatch { .. } => 1136,
            Refusal::RangeGiven { .. } | Refusal::InvalidRange { .. } => 1116,
            Refusal::RangesDiffer { .. } => 1117,
            Refusal::SecondRange { .. } => 1118,
            Refusal::RangeTooLarge { .. } => 1172,
            Refusal::TooManyByRanges { .. } => 1072,
            Refusal::BlankMissing { .. } => 1097,
            Refusal::DashMissing { .. } => 1090,
            Refusal::OutOfOrder { .. } => 1096,
            Refusal::Glued { .. } => 1112,
            Refusal::RangeReversed { .. } => 1113,
            Refusal::UnmatchedQuote => 1115,
            Refusal::UnmatchedCharacter(_) => 1119,
            Refusal::LineTooLong { .. } => 296,
            Refusal::Exists { .. } | Refusal::AddressInUse { .. } => 273,
            Refusal::NoSuch { argument: "backupVServer", .. } => 430,
            Refusal::NoSuch { argument: "targetLBVserver" | "lbvserver", .. } => 1388,
            Refusal::NoSuch { .. } => 258,
            Refusal::BackupLoop { .. } => 2144,
            Refusal::BackupChainTooLong { .. } => 350,
            Refusal::ServerExists { .. } => 1335,
            Refusal::ServiceAddressTaken { .. } => 2305,
            Refusal::TypeMismatch { .. } => 1304,
            Refusal::NotBound { .. } => 1303,
            Refusal::InUse { .. } => 315,
            Refusal::TargetInUse { object: "cs action", .. } => 1371,
            Refusal::TargetInUse { object: "cs policy", .. } => 1372,
            Refusal::TargetInUse { .. } => 1409,
            Refusal::NotTheDefault { .. } => 1410,
            Refusal::TargetOfOtherKind { .. } => 1426,
            Refusal::BoundToVserver { .. } => 1325,
            Refusal::MonitorInUse { .. } => 2131,
            Refusal::VserverInGroup { .. } => 2371,
            Refusal::VserverNotInGroup { .. } => 2379,
            Refusal::DefaultMonitorUnbound => 2164,
            Refusal::DefaultMonitor => 2139,
            Refusal::DefaultMonitorBound => 2165,
            Refusal::MonitorAlreadyBound => 2133,
            Refusal::MonitorNotBound { .. } => 2170,
            Refusal::MonitorTypeDiffers { .. } => 2155,
            Refusal::IntervalTooShort { .. } => 2128,
            Refusal::TooFewRetries { .. } => 2196,
            Refusal::TooManyCodes => 2130,
            Refusal::Misfit(misfit) => misfit.code(),
            Refusal::CannotSeal { .. } | Refusal::BuiltIn { .. } => 257,
            Refusal::InvalidExpression { .. } => 1137,
            Refusal::PasswordTooShort { .. } => 1107,
            Refusal::PasswordWeak { .. } => 1076,
            Refusal::SealedLineMissing => 1093,
            Refusal::SecretGiven { .. } => 273,
            Refusal::NoSecret { .. } => 1090,
            Refusal::MethodForType { method } => match *method {
                "LEASTREQUEST" => 2375,
                "AUDITLOGHASH" => 1462,
                "LEASTRESPONSETIME" => 1097,
                _ => 1464,
            },
        }
    }

    /// The command line's name of the argument at fault, to find where it stood.
    pub fn argument(&self) -> Option<&'static str> {
        match self {
            Refusal::GivenTwice { argument }
            | Refusal::OptionValueMissing { argument }
            | Refusal::ValueMissing { argument }
            | Refusal::TooManyValues { argument, .. }
            | Refusal::ArgumentMissing { argument }
            | Refusal::PrerequisiteMissing { argument, .. }
            | Refusal::Exclusive { argument, .. }
            | Refusal::IntervalTooShort { argument, .. }
            | Refusal::TooFewRetries { argument, .. }
            | Refusal::InvalidValue { argument, .. }
            | Refusal::AmbiguousValue { argument, .. }
            | Refusal::BelowMinimum { argument, .. }
            | Refusal::AboveMaximum { argument, .. }
            | Refusal::TooLong { argument, .. }
            | Refusal::InvalidIp { argument, .. }
            | Refusal::InvalidName { argument, .. }
            | Refusal::NoAnchor { argument, .. }
            | Refusal::NoMatch { argument, .. }
            | Refusal::RangeGiven { argument, .. }
            | Refusal::InvalidRange { argument, .. }
            | Refusal::RangesDiffer { argument, .. }
            | Refusal::SecondRange { argument, .. }
            | Refusal::RangeTooLarge { argument, .. }
            | Refusal::BlankMissing { argument, .. }
            | Refusal::RangeReversed { argument, .. }
            | Refusal::DomainGiven { argument, .. }
            | Refusal::Exists { argument, .. }
            | Refusal::NoSuch { argument, .. }
            | Refusal::ServerExists { argument, .. }
            | Refusal::AddressInUse { argument, .. }
            | Refusal::NotBound { argument, .. }
            | Refusal::InUse { argument, .. }
            | Refusal::BuiltIn { argument, .. }
            | Refusal::PasswordTooShort { argument, .. }
            | Refusal::PasswordWeak { argument }
            | Refusal::InvalidExpression { argument, .. }
            | Refusal::TargetInUse { argument, .. }
            | Refusal::NotTheDefault { argument, .. }
            | Refusal::TargetOfOtherKind { argument }
            | Refusal::BoundToVserver { argument, .. }
            | Refusal::SecretGiven { argument }
            | Refusal::TypeMismatch { argument } => Some(argument),
            Refusal::NotCarried { argument, .. }
            | Refusal::CannotSeal { argument, .. }
            | Refusal::Glued { argument, .. } => *argument,
            Refusal::ServiceAddressTaken { .. } => Some("port"),
            Refusal::BackupLoop { .. } | Refusal::BackupChainTooLong { .. } => Some("backupVServer"),
            Refusal::VserverInGroup { .. } | Refusal::VserverNotInGroup { .. } => Some("vServerName"),
            Refusal::DefaultMonitor
            | Refusal::DefaultMonitorBound
            | Refusal::DefaultMonitorUnbound
            | Refusal::MonitorInUse { .. }
            | Refusal::MonitorAlreadyBound
            | Refusal::MonitorNotBound { .. } => Some("monitorName"),
            Refusal::MonitorTypeDiffers { .. } => Some("type"),
            Refusal::TooManyCodes => Some("respCode"),
            Refusal::Misfit(misfit) => Some(misfit.argument()),
            Refusal::MethodForType { .. } => Some("lbMethod"),
            _ => None,
        }
    }

    /// What was typed in its place, if the refusal is about one word.
    pub fn word(&self) -> Option<&str> {
        match self {
            Refusal::UnknownCommand { word, .. }
            | Refusal::AmbiguousCommand { word, .. }
            | Refusal::UnknownArgument { word, .. }
            | Refusal::AmbiguousArgument { word, .. }
            | Refusal::TooManyValues { word, .. }
            | Refusal::InvalidValue { word, .. }
            | Refusal::AmbiguousValue { word, .. }
            | Refusal::BelowMinimum { word, .. }
            | Refusal::AboveMaximum { word, .. }
            | Refusal::InvalidIp { word, .. }
            | Refusal::InvalidName { word, .. }
            | Refusal::NoAnchor { word, .. }
            | Refusal::NoMatch { word, .. }
            | Refusal::RangeGiven { word, .. }
            | Refusal::RangeReversed { word, .. }
            | Refusal::DomainGiven { word, .. } => Some(word),
            _ => None,
        }
    }

    /// Would the appliance refuse it, too, whatever it may understand besides? Something else stands in the way.
    pub(super) fn is_conflict(&self) -> bool {
        matches!(
            self,
            Refusal::Exists { .. }
                | Refusal::AddressInUse { .. }
                | Refusal::InUse { .. }
                | Refusal::TargetInUse { .. }
                | Refusal::NoMatch { .. }
                | Refusal::CannotSeal { .. }
                | Refusal::TooManyByRanges { .. }
        )
    }

    /// The same refusal, quoting nothing that `is_secret`.
    pub(super) fn without(mut self, is_secret: impl Fn(&str) -> bool) -> Refusal {
        for quoted in self.quoted().into_iter().flatten() {
            if is_secret(quoted) {
                MASK.clone_into(quoted);
            }
        }
        self
    }

    /// Whatever it repeats of a line, or of names that a line may have given.
    fn quoted(&mut self) -> [Option<&mut String>; 2] {
        match self {
            Refusal::UnknownCommand { word, .. }
            | Refusal::AmbiguousCommand { word, .. }
            | Refusal::UnknownArgument { word, .. }
            | Refusal::AmbiguousArgument { word, .. }
            | Refusal::TooManyValues { word, .. }
            | Refusal::InvalidValue { word, .. }
            | Refusal::AmbiguousValue { word, .. }
            | Refusal::BelowMinimum { word, .. }
            | Refusal::AboveMaximum { word, .. }
            | Refusal::InvalidIp { word, .. }
            | Refusal::InvalidName { word, .. }
            | Refusal::NoAnchor { word, .. }
            | Refusal::NoMatch { word, .. }
            | Refusal::RangeGiven { word, .. }
            | Refusal::InvalidRange { word, .. }
            | Refusal::SecondRange { word, .. }
            | Refusal::RangeTooLarge { word, .. }
            | Refusal::BlankMissing { word, .. }
            | Refusal::DashMissing { word, .. }
            | Refusal::OutOfOrder { word, .. }
            | Refusal::Glued { word, .. }
            | Refusal::RangeReversed { word, .. }
            | Refusal::DomainGiven { word, .. }
            | Refusal::NotCarried { what: word, .. }
            | Refusal::Exists { name: word, .. }
            | Refusal::NoSuch { name: word, .. }
            | Refusal::ServerExists { server: word, .. }
            | Refusal::ServiceAddressTaken { service: word }
            | Refusal::AddressInUse { vserver: word, .. }
            | Refusal::NotBound { name: word, .. }
            | Refusal::BuiltIn { name: word, .. }
            | Refusal::InvalidExpression { why: word, .. }
            | Refusal::BackupLoop { name: word }
            | Refusal::NotTheDefault { name: word, .. }
            | Refusal::MonitorNotBound { name: word } => [Some(word), None],
            Refusal::InUse { name, by: other, .. }
            | Refusal::TargetInUse { name, by: other, .. }
            | Refusal::BoundToVserver { name, vserver: other, .. }
            | Refusal::MonitorInUse { name, by: other, .. } => [Some(name), Some(other)],
            _ => [None, None],
        }
    }

    /// The same refusal, said of an option of the command line.
    pub(super) fn of_option(self) -> Refusal {
        match self {
            Refusal::ValueMissing { argument } => Refusal::OptionValueMissing { argument },
            other => other,
        }
    }

    /// The same refusal of a value that cannot be read, with better words for what can.
    pub(super) fn allowing(self, allowed: Allowed) -> Refusal {
        match self {
            Refusal::InvalidValue { argument, word, nearest, .. } => {
                Refusal::InvalidValue { argument, word, allowed, nearest }
            }
            other => other,
        }
    }
}
