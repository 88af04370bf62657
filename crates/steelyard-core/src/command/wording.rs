//! Refusals in words: NITRO's text of the code, letter for letter (`spec/nitro-errors.tsv`), and what to do.
//!
//! Owns every word that a person reads about a bad command. What came from outside is quoted, shortened and escaped, so
//! that a refusal is always one line.

use std::fmt;

use super::refusal::{Allowed, Hint, Refusal};

impl Refusal {
    /// NITRO's message: the text of its code, and in brackets what it is about.
    pub fn message(&self) -> String {
        let text = nitro_text(self.code());
        match self {
            Refusal::Exists { argument, name }
            | Refusal::NoMatch { argument, word: name }
            | Refusal::NoSuch { argument, name, .. }
            | Refusal::InUse { argument, name, .. }
            | Refusal::BuiltIn { argument, name }
            | Refusal::TargetInUse { argument, name, .. }
            | Refusal::NotTheDefault { argument, name }
            | Refusal::BoundToVserver { argument, name, .. }
            | Refusal::NotBound { argument, name } => format!("{text} [{argument}, {}]", brief(name)),
            Refusal::ServerExists { server: name, .. }
            | Refusal::ServiceAddressTaken { service: name }
            | Refusal::AddressInUse { vserver: name, .. }
            | Refusal::BackupLoop { name }
            | Refusal::VserverInGroup { name }
            | Refusal::VserverNotInGroup { name }
            | Refusal::MonitorInUse { name, .. }
            | Refusal::MonitorNotBound { name } => format!("{text} [{}]", brief(name)),
            Refusal::NotCarried { argument: Some(argument), what, .. } => {
                format!("{text} [{argument}, {}]", brief(what))
            }
            Refusal::NotCarried { argument: None, what, .. } => format!("{text} [{}]", brief(what)),
            Refusal::Exclusive { argument, other } => format!("{text} [{argument}, {other}]"),
            Refusal::PrerequisiteMissing { argument, needs } => match argument_of(needs) {
                Some(other) => format!("{text} [{argument}, {other}]"),
                None => format!("{text} [{argument}]"),
            },
            Refusal::OptionValueMissing { argument } => format!("{text} [-{argument}]"),
            Refusal::UnknownArgument { word, .. }
            | Refusal::DashMissing { word, .. }
            | Refusal::OutOfOrder { word, .. }
            | Refusal::AmbiguousArgument { word, .. } => format!("{text} [{}]", brief(word)),
            Refusal::RangesDiffer { argument, other, .. } => format!("{text} [{other}, {argument}]"),
            _ => match self.argument() {
                Some(argument) => format!("{text} [{argument}]"),
                None => text.to_owned(),
            },
        }
    }

    /// What is wrong in this very case, and what to do.
    pub fn advice(&self) -> String {
        match self {
            Refusal::UnknownCommand { word, nearest: None } if word.starts_with('-') => {
                format!("{} is no verb; perhaps this is the rest of the line above", quoted(word))
            }
            Refusal::UnknownCommand { word, nearest: None } if word.contains(is_no_letter) => {
                format!("{}; a remark begins with #", unknown(word, None))
            }
            Refusal::UnknownCommand { word, nearest } => unknown(word, *nearest),
            Refusal::UnknownArgument { word, nearest: Some(nearest) } if word.starts_with('-') => {
                unknown(word, Some(&format!("-{nearest}")))
            }
            Refusal::UnknownArgument { word, nearest } => unknown(word, *nearest),
            Refusal::InvalidValue { word, nearest: Some(nearest), .. } => unknown(word, Some(nearest)),
            Refusal::InvalidValue { word, allowed: Allowed::Words(words), .. } => {
                format!("{} is not known; give {}", quoted(word), one_of(words))
            }
            Refusal::InvalidValue { word, allowed: Allowed::Such(what), .. } => {
                format!("{} is not {what}", quoted(word))
            }
            Refusal::AmbiguousCommand { word, candidates }
            | Refusal::AmbiguousArgument { word, candidates }
            | Refusal::AmbiguousValue { word, candidates, .. } => {
                format!("{} could be {}; write more of it", quoted(word), some_of(candidates, CANDIDATES))
            }
            Refusal::Incomplete { expected } => format!("go on with {}", some_of(expected, LISTED)),
            Refusal::NotCarried { carried: [], .. } => {
                "this version does not carry it; leave it out".to_owned()
            }
            Refusal::NotCarried { carried, .. } => {
                format!("this version does not carry it; use {}", one_of(carried))
            }
            Refusal::GivenTwice { .. } => "it is given twice; leave one of them out".to_owned(),
            Refusal::OptionValueMissing { .. } => "give a value after it".to_owned(),
            Refusal::ValueMissing { .. } => "give a value".to_owned(),
            Refusal::TooManyValues { word, .. } => {
                format!("{} is one value too many; quote a value that has blanks in it", quoted(word))
            }
            Refusal::NothingToSet => "give at least one option to set".to_owned(),
            Refusal::ArgumentMissing { .. } => "the command needs it".to_owned(),
            Refusal::PrerequisiteMissing { needs, .. } => format!("it needs {needs}"),
            Refusal::Exclusive { .. } => "give one of them".to_owned(),
            Refusal::BelowMinimum { word, min, .. } => {
                format!("{} is too small; the least is {min}", quoted(word))
            }
            Refusal::AboveMaximum { word, max, .. } => {
                format!("{} is too large; the most is {max}", quoted(word))
            }
            Refusal::TooLong { max, .. } => format!("shorten it to {max} bytes"),
            Refusal::InvalidIp { word, .. } => {
                format!("{} is not an IPv4 or IPv6 address", quoted(word))
            }
            Refusal::InvalidName { word, .. } if is_placeholder(word) => {
                format!("{} is a placeholder; put the name itself in its place", quoted(word))
            }
            Refusal::InvalidName { word, .. } => format!("choose another name than {}", quoted(word)),
            Refusal::NoAnchor { word, .. } => format!("write ^{word} for all that it matches"),
            // The message says it all.
            Refusal::NoMatch { .. } => String::new(),
            Refusal::RangeGiven { word, .. } => {
                format!("no range can be given here; write one command for each of {}", quoted(word))
            }
            Refusal::InvalidRange { word, .. } => {
                format!("{} has no range of numbers in its brackets, such as [1-3]", quoted(word))
            }
            Refusal::RangesDiffer { sizes: (first, second), .. } => {
                format!("one range stands for {first} words and the other for {second}; make them equal")
            }
            Refusal::SecondRange { word, .. } => {
                format!("{} has two; write one command for each value of one of them", quoted(word))
            }
            Refusal::RangeTooLarge { word, max, .. } => {
                format!("{} stands for more than {max} words; split it over several lines", quoted(word))
            }
            Refusal::TooManyByRanges { max } => {
                format!("the ranges of this file stand for more than {max} commands; write a smaller file")
            }
            Refusal::BlankMissing { word, option, .. } => {
                format!("{} lacks a blank before -{option}", quoted(word))
            }
            Refusal::DashMissing { word, option } => {
                format!("{} is no value here; did you mean -{option}?", quoted(word))
            }
            Refusal::OutOfOrder { word, order } => {
                format!(
                    "{} is not in its place; first come {}, then the options",
                    quoted(word),
                    order.join(" ")
                )
            }
            Refusal::Glued { word, .. } => format!(
                "{} stands right behind a closing quote, which ends the value; write \\\" for a quote inside quotes",
                quoted(word)
            ),
            Refusal::RangeReversed { word, .. } => format!("{} ends before it begins", quoted(word)),
            Refusal::DomainGiven { word, .. } => {
                format!("this version does not resolve names; give the address of {}", quoted(word))
            }
            Refusal::UnmatchedQuote => "the quote that begins here does not end on this line".to_owned(),
            Refusal::UnmatchedCharacter(character) => format!("{character} has no partner on this line"),
            Refusal::LineTooLong { max } => format!("a line may have {max} bytes; split it"),
            Refusal::NotText { byte } => {
                format!("the byte 0x{byte:02x} is not UTF-8; save the file as UTF-8")
            }
            Refusal::Utf16 => "the file is UTF-16; save it as UTF-8".to_owned(),
            Refusal::Exists { .. } => "it is there already; leave this out, or change it with set".to_owned(),
            Refusal::NoSuch { hint: Hint::Nearest(name), .. } => format!("did you mean {}?", brief(name)),
            Refusal::NoSuch { hint: Hint::AddRefused(line), .. } => {
                format!("line {line} would have added it and was refused; correct that line")
            }
            Refusal::NoSuch { hint: Hint::AddedLater, .. } => {
                "a later line adds it; move this line below that one".to_owned()
            }
            Refusal::NoSuch { hint: Hint::Nothing, .. } => "add it in an earlier line".to_owned(),
            Refusal::ServerExists { .. } => "that server has this address; use its name".to_owned(),
            Refusal::ServiceAddressTaken { .. } => "use that service, or another port".to_owned(),
            Refusal::AddressInUse { .. } => {
                "that virtual server has this address and port; use others".to_owned()
            }
            Refusal::BackupLoop { .. } => {
                "this virtual server is that one's backup, or a backup further on; leave out one of them".to_owned()
            }
            Refusal::BackupChainTooLong { max } => {
                format!("a virtual server has {max} backups at most, one behind the other")
            }
            Refusal::TypeMismatch { .. } => "bind a service of the virtual server's protocol".to_owned(),
            Refusal::NotBound { .. } => "it is not bound to this virtual server".to_owned(),
            Refusal::InUse { object, by, .. }
            | Refusal::TargetInUse { object, by, .. }
            | Refusal::MonitorInUse { object, by, .. } => {
                format!("{object} {} uses it; change that first", quoted(by))
            }
            Refusal::BuiltIn { .. } => "it is there from the start and stays as it is".to_owned(),
            Refusal::InvalidExpression { why, .. } => quoted(why),
            Refusal::PasswordTooShort { min, .. } => format!("it needs {min} characters"),
            Refusal::PasswordWeak { .. } => "-strongPassword of system parameter asks for that".to_owned(),
            Refusal::BoundToVserver { vserver, .. } => {
                format!(
                    "unbind it from {}, or set lb parameter -AllowBoundSvcRemoval ENABLED",
                    quoted(vserver)
                )
            }
            Refusal::NotTheDefault { .. } => "requests that no policy passes on do not go there".to_owned(),
            Refusal::TargetOfOtherKind { .. } => "remove the action and add it anew".to_owned(),
            Refusal::VserverInGroup { .. } => {
                "a virtual server is in one group; unbind it there first".to_owned()
            }
            Refusal::VserverNotInGroup { .. } => "it is not bound to this group".to_owned(),
            Refusal::DefaultMonitorUnbound => "bind a monitor of your own, and it is gone".to_owned(),
            Refusal::DefaultMonitor => "bind a monitor of your own in place of it".to_owned(),
            Refusal::DefaultMonitorBound => "it is bound wherever no other monitor is".to_owned(),
            Refusal::MonitorAlreadyBound => "leave this out, or change it with set".to_owned(),
            Refusal::MonitorNotBound { .. } => "it is not bound there".to_owned(),
            Refusal::MonitorTypeDiffers { has } => format!("its type is {has}"),
            Refusal::IntervalTooShort { interval_ms, resptimeout_ms, .. } => {
                format!("the interval is {interval_ms} ms and the response timeout {resptimeout_ms} ms")
            }
            Refusal::TooFewRetries { retries, failure_retries, .. } => {
                format!(
                    "{failure_retries} of {retries} probes; leave failureRetries at 0 to ask for all of them"
                )
            }
            Refusal::SealedLineMissing => {
                "what was sealed is not in steelyard.conf beside this file; put it back, or write the line anew"
                    .to_owned()
            }
            Refusal::SecretGiven { .. } => "the configuration gives it, and that counts; remove this line".to_owned(),
            Refusal::NoSecret { what } => {
                format!("{what} sets no secret; give set, the object, and its secrets alone")
            }
            Refusal::CannotSeal { why, .. } => format!("a secret is kept encrypted or not at all: {why}"),
            Refusal::Misfit(misfit) => misfit.advice(),
            Refusal::TooManyCodes => "join neighbouring codes to ranges".to_owned(),
            Refusal::MethodForType { method } => match *method {
                "LEASTREQUEST" => "it needs a virtual server whose protocol has requests".to_owned(),
                "LEASTRESPONSETIME" => "it needs a virtual server of type HTTP or SSL".to_owned(),
                "AUDITLOGHASH" => "it needs a virtual server of type SYSLOGTCP or SYSLOGUDP".to_owned(),
                method => format!("{method} cannot balance syslog messages"),
            },
        }
    }
}

/// One line for a person: NITRO's message, what to do, NITRO's code.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.message().trim_end_matches('.'), self.advice(), self.code())
    }
}

impl std::error::Error for Refusal {}

fn unknown(word: &str, nearest: Option<&str>) -> String {
    match nearest {
        Some(nearest) => format!("{} is not known; did you mean {nearest}?", quoted(word)),
        None => format!("{} is not known", quoted(word)),
    }
}

/// Prose and rules have what no word of a command has.
fn is_no_letter(c: char) -> bool {
    !c.is_alphanumeric() && c != ' '
}

/// `<NAME>`, `$NAME`, `**NAME**`: what templates have where a value belongs.
fn is_placeholder(word: &str) -> bool {
    word.starts_with('$') || word.contains("**") || word.contains('<') && word.contains('>')
}

fn one_of(words: &[&str]) -> String {
    match words {
        [only] => (*only).to_owned(),
        _ => format!("one of {}", words.join(", ")),
    }
}

/// The first few of many.
fn some_of(words: &[&str], most: usize) -> String {
    match words.split_at_checked(most) {
        None | Some((_, [])) => words.join(", "),
        Some((first, more)) => format!("{} and {} more", first.join(", "), more.len()),
    }
}

/// The argument that another one needs, where that is what it needs.
fn argument_of(needs: &str) -> Option<&str> {
    needs.split(';').next().filter(|argument| !argument.contains(' '))
}

fn quoted(word: &str) -> String {
    format!("\"{}\"", brief(word))
}

/// Foreign text made fit for a line: escaped and cut.
fn brief(text: &str) -> String {
    let mut short: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN).is_some() {
        short.push_str("...");
    }
    short
}

/// NITRO's text of a code.
fn nitro_text(code: u16) -> &'static str {
    TEXTS.iter().find(|(number, _)| *number == code).map_or("Operation not permitted", |(_, text)| text)
}

/// The code whose text a message begins with, if it is one that refusals have.
pub fn code_of(message: &str) -> Option<u16> {
    let text = message.split_once(" [").map_or(message, |(text, _)| text);
    TEXTS.iter().find(|(_, known)| *known == text).map(|(code, _)| *code)
}

/// How many of a list are named.
const LISTED: usize = 6;
/// How many of the words that one could have been: all, as a rule, for one of them was meant.
const CANDIDATES: usize = 24;
/// How much of a foreign word is shown, in characters.
const SHOWN: usize = 60;

const TEXTS: &[(u16, &str)] = &[
    (257, "Operation not permitted"),
    (258, "No such resource"),
    (273, "Resource already exists"),
    (278, "Invalid argument"),
    (296, "Message too long"),
    (315, "Resource in use"),
    (350, "Invalid backup vserver"),
    (430, "No such backup vserver"),
    (460, "Feature not supported in this release"),
    (1072, "Maximum resource limit reached"),
    (
        1075,
        "Invalid name; names must begin with an alphanumeric character or underscore and must contain only alphanumerics, _, #, ., , :, @, =or -",
    ),
    (1088, "No such command"),
    (1089, "Ambiguous command name"),
    (1090, "No such argument"),
    (1091, "Required argument value missing"),
    (1092, "Arguments cannot both be specified"),
    (1093, "Argument pre-requisite missing"),
    (1094, "Too few arguments"),
    (1095, "Required argument missing"),
    (1096, "Argument(s) out of order"),
    (1097, "Invalid argument value"),
    (1099, "Ambiguous argument name"),
    (1105, "Ambiguous argument value"),
    (
        1076,
        "Invalid password. Password must contain atleast one lower case character, one upper case character, one numeric character and one special character when strong password is enabled.",
    ),
    (1106, "String length exceeds maximum"),
    (1107, "String too short"),
    (1108, "Integer value exceeds maximum"),
    (1109, "Integer value below minimum"),
    (1110, "Invalid IP address"),
    (1112, "Argument has too many values"),
    (1113, "Range minimum exceeds range maximum"),
    (1115, "Unmatched quote"),
    (1116, "Invalid range specification"),
    (1117, "Ranges are different sizes"),
    (1118, "Only one range allowed per argument"),
    (1119, "Unmatched character"),
    (1128, "Incomplete command"),
    (1135, "First character of regular expression must be ^"),
    (1136, "Regular expression does not match"),
    (1137, "Invalid regular expression"),
    (1172, "Invalid range value"),
    (1303, "Service not bound to Vserver"),
    (1304, "Service type mismatch between the vserver and service"),
    (
        1325,
        "Service/servicegroup is bound to one or more vserver. Please unbind and retry the operation. Also check allowBoundSvcRemovaloption in lb parameter to change this behaviour.",
    ),
    (1335, "Server already exists"),
    (1371, "The Vserver referred by Content Switching action cannot be removed"),
    (1372, "The Content Switching Action bound to Content Switching Policy cannot be removed"),
    (1388, "The Target LB Vserver does not exist"),
    (1409, "Cannot remove LB Vserver which is reffered in CS policy bindings"),
    (1410, "default LB mentioned is not bound"),
    (1426, "Set disallowed for CS action from Target LB/targetVserver to Target Expression and vice versa"),
    (1462, "LB method AUDITLOGHASH can be set only for service type SYSLOGTCP/SYSLOGUDP"),
    (
        1464,
        "Hash based LB methods which depend on packet parameters cannot be set for SYSLOGTCP/SYSLOGUDP service types",
    ),
    (2128, "Monitor interval must be greater than response timeout"),
    (2129, "Destination IP must be specified for transparent, tunneled or tos monitors"),
    (2130, "Too many response codes, only 16 allowed"),
    (2131, "Monitor must be unbound before it can be deleted"),
    (2133, "The monitor is already bound to the service"),
    (2139, "No operations allowed with the default monitor"),
    (2144, "The VIP is already a backup in the chain"),
    (2154, "Secure mode not supported for this protocol"),
    (2155, "Existing monitor is of different type than given"),
    (2156, "Enabling LRTM on this monitor type is not permitted"),
    (2164, "Default monitor cannot be unbound from a service"),
    (2165, "Default monitor cannot be bound explicitly to a service"),
    (2170, "Monitor not bound to service"),
    (2188, "fileName must be specified before FTP-EXTENDED monitor can be used"),
    (2196, "Monitor retries must be greater than monitor failureRetries"),
    (2201, "Tos id must be specified for tos enabled vserver/monitor"),
    (2212, "PASSIVE option can be set only on LOAD monitors."),
    (2305, "Service exists with the same port and service type"),
    (2371, "Vserver is already bound to a LB group"),
    (2375, "LeastRequest LB method not supported for this service type"),
    (2379, "Given vserver is not bound to this LB group"),
];
