//! Commands of the prompt that configure nothing: what they are called and what they take, for help and completion.
//!
//! Carried out they are elsewhere, by the session or by what serves the configuration. Of the appliance's many, those stand
//! here that something here carries out.

/// A command that does something once, or belongs to the session.
#[derive(Clone, Copy, Debug)]
pub struct Once {
    /// `save`
    pub verb: &'static str,
    /// `ns config`; empty where the verb says it all.
    pub object: &'static str,
    /// In order; options in any.
    pub parts: &'static [Part],
    /// One line for people.
    pub help: &'static str,
    /// Does an appliance not have it?
    pub beyond: bool,
}

/// What such a command takes.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// `level`; with a hyphen if it is an option.
    pub name: &'static str,
    /// What stands there, or behind the option.
    pub what: What,
    /// Must it be there?
    pub required: bool,
    /// One line for people.
    pub help: &'static str,
}

/// What stands in the place of a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// Nothing: the option says all.
    Nothing,
    /// Any word.
    Text,
    /// One of these.
    Words(&'static [&'static str]),
    /// The name of a load balancing virtual server.
    Vserver,
    /// The beginning of a command, a group or an object.
    Command,
}

impl Once {
    /// In full.
    pub fn name(&self) -> String {
        format!("{} {}", self.verb, self.object).trim_end().to_owned()
    }

    /// Its object, if it is about the session itself: the words behind `cli`.
    pub(super) fn of_cli(&self) -> Option<&'static str> {
        self.object.strip_prefix(CLI)?.strip_prefix(' ')
    }
}

/// Every one: those of the session itself, then in the order of the alphabet.
pub fn once() -> impl Iterator<Item = &'static Once> {
    ALL.iter()
}

/// What the printed lines of an answer are led through: `show ... | grep x`.
pub const FILTERS: [(&str, &str); 2] = [
    ("grep", "Prints the lines in which a pattern is found."),
    ("more", "Prints page by page on a terminal."),
];

/// What makes JSON of what `show` and `stat` tell; the prompt takes it off the line, wherever it stands.
pub const JSON: (&str, &str) = ("--json", "NITRO's rows as JSON, errors included.");

/// What `grep` takes before its pattern.
pub const GREP: [(&str, &str); 3] =
    [("-i", "In any case."), ("-v", "The other lines."), ("-A", "So many lines behind each, too.")];

const fn of(verb: &'static str, object: &'static str, parts: &'static [Part], help: &'static str) -> Once {
    Once { verb, object, parts, help, beyond: false }
}

const fn beyond(verb: &'static str, parts: &'static [Part], help: &'static str) -> Once {
    Once { beyond: true, ..of(verb, "", parts, help) }
}

const fn required(name: &'static str, what: What, help: &'static str) -> Part {
    Part { name, what, required: true, help }
}

const fn optional(name: &'static str, what: What, help: &'static str) -> Part {
    Part { name, what, required: false, help }
}

/// The group of commands about the session itself; it is written in full.
pub(super) const CLI: &str = "cli";
const ON_OFF: What = What::Words(&["ON", "OFF"]);

/// How a session behaves (`spec/cli.md` 1).
const MODES: &[Part] = &[
    optional("-page", ON_OFF, "ON: long answers stop at each page of a terminal."),
    optional("-total", ON_OFF, "ON: a list begins with the number of its objects."),
    optional("-color", ON_OFF, "ON: errors, warnings and states have colours on a terminal."),
    optional(
        "-disabledFeatureAction",
        What::Words(&["NONE", "ALLOW", "DENY"]),
        "Whether a command whose feature is off is carried out, with a warning, or refused.",
    ),
    optional("-timeout", What::Text, "Seconds without a key after which the prompt ends; 0 never."),
    optional(
        "-regex",
        ON_OFF,
        "ON: a name that begins with ^ in a show, rm or unset is a regular expression.",
    ),
];

/// The same, named without their values.
const MODE_NAMES: &[Part] = &[
    optional("-page", What::Nothing, "Back to OFF."),
    optional("-total", What::Nothing, "Back to OFF."),
    optional("-color", What::Nothing, "Back to OFF."),
    optional("-disabledFeatureAction", What::Nothing, "Back to ALLOW."),
    optional("-timeout", What::Nothing, "Back to 900."),
    optional("-regex", What::Nothing, "Back to ON."),
];

const ALL: &[Once] = &[
    of("set", "cli mode", MODES, "Changes how this session behaves."),
    of(
        "set",
        "cli prompt",
        &[required(
            "promptString",
            What::Text,
            "What stands before each line: %u user, %h host, %t and %T time, %d date, %! number.",
        )],
        "Changes what stands before each line.",
    ),
    of("unset", "cli mode", MODE_NAMES, "Puts back how this session behaves."),
    of("show", "cli mode", &[], "Shows how this session behaves."),
    of("show", "cli prompt", &[], "Shows what stands before each line."),
    of("show", "cli attribute", &[], "Shows how values may be put in quotes."),
    of("clear", "cli prompt", &[], "Puts back what stands before each line."),
    of(
        "alias",
        "",
        &[
            optional("pattern", What::Text, "A word of one's own."),
            optional("command", What::Text, "What it stands for, in parentheses."),
        ],
        "Shows or makes a word for the beginning of a command.",
    ),
    of(
        "batch",
        "",
        &[
            required("-fileName", What::Text, "File of commands, one a line."),
            optional("-outfile", What::Text, "File for what they print."),
            optional("-ntimes", What::Text, "How often; 1 by default."),
        ],
        "Carries out the commands of a file.",
    ),
    beyond(
        "check",
        &[required("file", What::Text, "A file of this machine: an ns.conf, or a piece of one.")],
        "Tells what would become of each line of a file; nothing is changed.",
    ),
    of(
        "clear",
        "ns config",
        &[
            optional("-force", What::Nothing, "It is meant; nobody is asked."),
            required("level", What::Words(&["basic", "extended", "full"]), "How much of it."),
        ],
        "Removes what is configured.",
    ),
    of(
        "clear",
        "lb persistentSessions",
        &[optional("vServer", What::Vserver, "Of this virtual server alone.")],
        "Ends persistence sessions.",
    ),
    of("cls", "", &[], "Clears the screen."),
    of(
        "diff",
        "ns config",
        &[
            optional("config1", What::Text, "A file, or the saved configuration."),
            optional("config2", What::Text, "Another, or the running configuration."),
        ],
        "Shows how two configurations differ.",
    ),
    of("exit", "", &[], "Leaves the prompt."),
    beyond(
        "explain",
        &[
            required("vserver", What::Vserver, "Virtual server whose decisions to show."),
            optional("-last", What::Text, "How many of them; 10 by default."),
        ],
        "Shows the last decisions of a virtual server: what every service counted, and why one was chosen.",
    ),
    of(
        "help",
        "",
        &[optional("command", What::Command, "A command, an object or a group; -all: every command.")],
        "Shows what commands there are, and what they take.",
    ),
    of("history", "", &[], "Shows the lines that were given; !N gives one again."),
    of(
        "kill",
        "system session",
        &[
            optional("sid", What::Text, "Number of the session."),
            optional("-all", What::Nothing, "All but this one."),
        ],
        "Ends sessions of users.",
    ),
    of(
        "man",
        "",
        &[optional("command", What::Command, "A command.")],
        "Shows everything about a command, page by page on a terminal.",
    ),
    of("quit", "", &[], "Leaves the prompt."),
    of("save", "ns config", &[], "Saves the running configuration."),
    of(
        "source",
        "",
        &[required("fileName", What::Text, "File of commands, one a line.")],
        "Carries out the commands of a file.",
    ),
    of("unalias", "", &[required("pattern", What::Text, "The word.")], "Takes a word of one's own back."),
    of("whoami", "", &[], "Shows who gives the commands."),
];
