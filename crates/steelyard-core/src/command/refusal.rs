//! Why a command was refused: one enum.
//!
//! Owns the cases. What each is about (NITRO's code, argument, word) says `code`, how it is put into words `wording`, and
//! where the command stood `read`.

pub use super::meant::{Allowed, Hint};
use super::misfit::Misfit;

/// Why a command was refused. `argument` is always the command line's name of the argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// 1088: the first words name no command.
    UnknownCommand {
        /// The word that is not known.
        word: String,
        /// The known word that is most like it.
        nearest: Option<&'static str>,
    },
    /// 1089: an abbreviated word that stands for several.
    AmbiguousCommand {
        /// The word as typed.
        word: String,
        /// What it could mean.
        candidates: Vec<&'static str>,
    },
    /// 1128: the line ends before the command is complete.
    Incomplete {
        /// What could come next.
        expected: Vec<&'static str>,
    },
    /// 460: NetScaler knows it; this version does not carry it.
    NotCarried {
        /// The argument that it was given for or as, if it was one.
        argument: Option<&'static str>,
        /// What it is: `add ssl certKey`, `-cip ENABLED`, `URLHASH`.
        what: String,
        /// What can be given instead, if little enough to list.
        carried: &'static [&'static str],
    },
    /// 1090: no such option, or a word too many.
    UnknownArgument {
        /// As typed.
        word: String,
        /// The known option that is most like it.
        nearest: Option<&'static str>,
    },
    /// 1099: an abbreviated option that stands for several.
    AmbiguousArgument {
        /// As typed.
        word: String,
        /// What it could mean.
        candidates: Vec<&'static str>,
    },
    /// 278: the same argument twice in one command.
    GivenTwice {
        /// Which.
        argument: &'static str,
    },
    /// 1091: an option without its value.
    OptionValueMissing {
        /// Which.
        argument: &'static str,
    },
    /// 1091: nothing where a value belongs.
    ValueMissing {
        /// Which.
        argument: &'static str,
    },
    /// 1112: more words than the option takes.
    TooManyValues {
        /// Which.
        argument: &'static str,
        /// The first word too many.
        word: String,
    },
    /// 1094: `set` without anything to set.
    NothingToSet,
    /// 1095: an argument that must be there is not.
    ArgumentMissing {
        /// Which.
        argument: &'static str,
    },
    /// 1093: an argument that needs another one, or another value of it.
    PrerequisiteMissing {
        /// Which.
        argument: &'static str,
        /// What it needs.
        needs: &'static str,
    },
    /// 1092: two arguments of which a command takes one.
    Exclusive {
        /// One.
        argument: &'static str,
        /// The other.
        other: &'static str,
    },
    /// 1097: a word or number that cannot be read.
    InvalidValue {
        /// Of which argument.
        argument: &'static str,
        /// As typed.
        word: String,
        /// What is allowed.
        allowed: Allowed,
        /// The allowed word that is most like it.
        nearest: Option<&'static str>,
    },
    /// 1105: an abbreviated value that stands for several.
    AmbiguousValue {
        /// Of which argument.
        argument: &'static str,
        /// As typed.
        word: String,
        /// What it could mean.
        candidates: Vec<&'static str>,
    },
    /// 1109.
    BelowMinimum {
        /// Of which argument.
        argument: &'static str,
        /// As typed.
        word: String,
        /// The least, with its unit.
        min: String,
    },
    /// 1108.
    AboveMaximum {
        /// Of which argument.
        argument: &'static str,
        /// As typed.
        word: String,
        /// The most, with its unit.
        max: String,
    },
    /// 1106.
    TooLong {
        /// Of which argument.
        argument: &'static str,
        /// The most, in bytes.
        max: usize,
    },
    /// 1110.
    InvalidIp {
        /// Of which argument.
        argument: &'static str,
        /// As typed.
        word: String,
    },
    /// 1075.
    InvalidName {
        /// Of which argument.
        argument: &'static str,
        /// As typed.
        word: String,
    },
    /// 1135: what looks like a regular expression and does not begin as one.
    NoAnchor {
        /// Of which argument.
        argument: &'static str,
        /// As typed.
        word: String,
    },
    /// 1136: a regular expression that matches the name of nothing.
    NoMatch {
        /// Of which argument.
        argument: &'static str,
        /// As typed.
        word: String,
    },
    /// 1116: `[1-3]` in a name or an address.
    RangeGiven {
        /// Of which argument.
        argument: &'static str,
        /// As typed.
        word: String,
    },
    /// 1116: brackets without two numbers in them.
    InvalidRange {
        /// Of which argument.
        argument: &'static str,
        /// As typed.
        word: String,
    },
    /// 1117: two ranges of one command stand for different numbers of words.
    RangesDiffer {
        /// The argument of the second.
        argument: &'static str,
        /// The argument of the first.
        other: &'static str,
        /// Of the first and of the second.
        sizes: (usize, usize),
    },
    /// 1118: two ranges in one word.
    SecondRange {
        /// Of which argument.
        argument: &'static str,
        /// As typed.
        word: String,
    },
    /// 1172: a range that stands for more than a line may.
    RangeTooLarge {
        /// Of which argument.
        argument: &'static str,
        /// As typed.
        word: String,
        /// The most.
        max: usize,
    },
    /// 1072: the ranges of a file stand for more than a file may.
    TooManyByRanges {
        /// The most.
        max: usize,
    },
    /// 1097: an option that stands right behind a value, without a blank.
    BlankMissing {
        /// The argument that the value is for.
        argument: &'static str,
        /// As typed.
        word: String,
        /// The option.
        option: &'static str,
    },
    /// 1090: an option's name without its hyphen.
    DashMissing {
        /// As typed.
        word: String,
        /// The option.
        option: &'static str,
    },
    /// 1096: a word that belongs elsewhere.
    OutOfOrder {
        /// As typed.
        word: String,
        /// The order of the words.
        order: Vec<&'static str>,
    },
    /// 1112: what stands right behind a closing quote.
    Glued {
        /// The option that it follows.
        argument: Option<&'static str>,
        /// As typed.
        word: String,
    },
    /// 1113: `304-200`.
    RangeReversed {
        /// Of which argument.
        argument: &'static str,
        /// As typed.
        word: String,
    },
    /// 460: the name of a host in place of its address.
    DomainGiven {
        /// Of which argument.
        argument: &'static str,
        /// As typed.
        word: String,
    },
    /// 1115.
    UnmatchedQuote,
    /// 1119.
    UnmatchedCharacter(
        /// The bracket that has no partner.
        char,
    ),
    /// 296: a line longer than any command.
    LineTooLong {
        /// The most, in bytes.
        max: usize,
    },
    /// 278: bytes that are not UTF-8.
    NotText {
        /// The first of them.
        byte: u8,
    },
    /// 278: a whole file in UTF-16.
    Utf16,
    /// 273: the name is taken, or the binding is there already.
    Exists {
        /// Of which argument.
        argument: &'static str,
        /// The name.
        name: String,
    },
    /// 258, of a backup 430: nothing has that name.
    NoSuch {
        /// Of which argument.
        argument: &'static str,
        /// The name.
        name: String,
        /// What could have been meant.
        hint: Hint,
    },
    /// 1335: another server has that address.
    ServerExists {
        /// The argument that gave the address.
        argument: &'static str,
        /// Its name.
        server: String,
    },
    /// 2305: another service has that server, port and protocol.
    ServiceAddressTaken {
        /// Its name.
        service: String,
    },
    /// 273: another virtual server has that address.
    AddressInUse {
        /// The argument that gave the address.
        argument: &'static str,
        /// Its name.
        vserver: String,
    },
    /// 1304: the protocols of a virtual server and of what is bound to it do not go together.
    TypeMismatch {
        /// The argument that names what is to be bound.
        argument: &'static str,
    },
    /// 1303: a weight for a service that is not bound.
    NotBound {
        /// The argument that named it.
        argument: &'static str,
        /// The name.
        name: String,
    },
    /// 257: what is there from the start cannot be removed, or changed so.
    BuiltIn {
        /// The argument that named it.
        argument: &'static str,
        /// Its name.
        name: String,
    },
    /// 1137: a regular expression that cannot be read.
    InvalidExpression {
        /// Of which argument.
        argument: &'static str,
        /// Why not.
        why: String,
    },
    /// 1107: a password with fewer characters than the configuration asks for.
    PasswordTooShort {
        /// The argument that gave it.
        argument: &'static str,
        /// The fewest.
        min: u32,
    },
    /// 1076: a password that lacks a kind of character.
    PasswordWeak {
        /// The argument that gave it.
        argument: &'static str,
    },
    /// 315: something uses what was to be removed.
    InUse {
        /// The argument that named it.
        argument: &'static str,
        /// Its name.
        name: String,
        /// What uses it: `service`.
        object: &'static str,
        /// The name of that.
        by: String,
    },
    /// 1371, 1372, 1409: content switching sends requests to what was to be removed.
    TargetInUse {
        /// The argument that named it.
        argument: &'static str,
        /// Its name.
        name: String,
        /// What sends them there: `cs action`.
        object: &'static str,
        /// The name of that.
        by: String,
    },
    /// 1410: not where requests go that no policy passes on.
    NotTheDefault {
        /// The argument that named it.
        argument: &'static str,
        /// Its name.
        name: String,
    },
    /// 1426: a target by its name and one by an expression do not take each other's place.
    TargetOfOtherKind {
        /// The argument that gives it.
        argument: &'static str,
    },
    /// 1325: a service or group that is bound, while `lb parameter` forbids to remove such.
    BoundToVserver {
        /// The argument that named it.
        argument: &'static str,
        /// Its name.
        name: String,
        /// A virtual server to which it is bound.
        vserver: String,
    },
    /// 2131: a monitor that is bound was to be removed.
    MonitorInUse {
        /// Its name.
        name: String,
        /// What it is bound to: `service`.
        object: &'static str,
        /// The name of that.
        by: String,
    },
    /// 2144: a backup behind which the virtual server itself stands.
    BackupLoop {
        /// The name of that backup.
        name: String,
    },
    /// 350: a backup with too many others behind it.
    BackupChainTooLong {
        /// How many a virtual server may have, one behind the other.
        max: usize,
    },
    /// 2371: a virtual server that is in a group already.
    VserverInGroup {
        /// Its name.
        name: String,
    },
    /// 2379: a virtual server that is not in this group.
    VserverNotInGroup {
        /// Its name.
        name: String,
    },
    /// 2164: `tcp-default` and `ping-default` unbind themselves.
    DefaultMonitorUnbound,
    /// 2139: neither of them can be changed or switched.
    DefaultMonitor,
    /// 2165: `tcp-default` binds itself.
    DefaultMonitorBound,
    /// 2133.
    MonitorAlreadyBound,
    /// 2170.
    MonitorNotBound {
        /// Its name.
        name: String,
    },
    /// 2155: `set lb monitor` with another type than the monitor's.
    MonitorTypeDiffers {
        /// The type it has.
        has: &'static str,
    },
    /// 2129, 2154, 2156, 2188, 2201, 2212: what a monitor cannot be.
    Misfit(Misfit),
    /// 2128: the response timeout is not shorter than the interval.
    IntervalTooShort {
        /// The argument that made it so.
        argument: &'static str,
        /// In milliseconds.
        interval_ms: u32,
        /// In milliseconds.
        resptimeout_ms: u32,
    },
    /// 2196: as many failures asked for as there are probes, or more.
    TooFewRetries {
        /// The argument that made it so.
        argument: &'static str,
        /// `retries`.
        retries: u32,
        /// `failureRetries`.
        failure_retries: u32,
    },
    /// 2130.
    TooManyCodes,
    /// 1093: a line whose secret is in `steelyard.conf`, and is not there.
    SealedLineMissing,
    /// 273: a secret that the configuration gives itself.
    SecretGiven {
        /// Which.
        argument: &'static str,
    },
    /// 1090: among the secrets that are supplied, something else.
    NoSecret {
        /// What.
        what: &'static str,
    },
    /// 257: a secret that cannot be encrypted is not kept.
    CannotSeal {
        /// The argument that gave it, if it was one; otherwise the line has it.
        argument: Option<&'static str>,
        /// Why not, and what to do.
        why: String,
    },
    /// A method that the virtual server's protocol does not have: 2375 for LEASTREQUEST, 1097 for LEASTRESPONSETIME,
    /// 1462 for AUDITLOGHASH, 1464 for other hash methods.
    MethodForType {
        /// The method.
        method: &'static str,
    },
}
