//! `system parameter`: settings of all users and sessions.

use super::super::attribute::{Kind, Words};
use super::super::make::resource;
use super::super::one_of;
use super::{DAYS, PROMPT, SESSION_TIMEOUT};

resource! {
    /// Settings of all users and sessions.
    pub struct SystemParameter "system parameter" {
        /// DISABLED: what a user is shown is not looked at again.
        rba_on_response: bool = true, Option("rbaOnResponse", "rbaonresponse", Kind::Switch).inert();
        /// What the command line prints before each command, unless user or group say it.
        prompt: String = String::new(), Option("promptString", "promptstring", PROMPT);
        /// Control blocks of address translation from which on they are flushed by force.
        nat_flush_limit: Option<u32> = None,
            Option(
                "natPcbForceFlushLimit",
                "natpcbforceflushlimit",
                Kind::Number { min: 1_000, max: u32::MAX }
            ).inert();
        /// ENABLED: connections that such a flush ends are reset.
        nat_reset_on_timeout: bool = false, Option("natPcbRstOnTimeout", "natpcbrstontimeout", Kind::Switch).inert();
        /// Seconds without a request after which a session ends, unless user or group say it; 0: it does not.
        timeout_s: Option<u32> = None, Option("timeout", "timeout", SESSION_TIMEOUT);
        /// DISABLED: users of this configuration may not log in while a directory elsewhere answers.
        local_auth: bool = true, Option("localAuth", "localauth", Kind::Switch).inert();
        /// Fewest characters of a password.
        min_password_length: Option<u32> = None,
            Option("minpasswordlen", "minpasswordlen", Kind::Number { min: 1, max: 127 });
        /// Whether a password must have a small letter, a capital one, a digit and another character.
        strong_password: &'static str = "disabled",
            Option("strongPassword", "strongpassword", Kind::Word(STRONG));
        /// ENABLED: sessions end after 15 minutes without a request, and none may last longer than a day without one.
        restricted_timeout: bool = false, Option("restrictedTimeout", "restrictedtimeout", Kind::Switch);
        /// ENABLED: programs of the appliance use approved ciphers alone.
        fips_user_mode: bool = false, Option("fipsUserMode", "fipsusermode", Kind::Switch).inert();
        /// DISABLED: nothing is reported to the maker.
        doppler: bool = true, Option("doppler", "doppler", Kind::Switch).inert();
        /// ENABLED: use of the console is reported.
        google_analytics: bool = false, Option("googleAnalytics", "googleanalytics", Kind::Switch).inert();
        /// Seconds that a login may take at directories elsewhere.
        total_auth_timeout_s: u32 = 20,
            Option("totalAuthTimeout", "totalauthtimeout", Kind::Number { min: 5, max: 120 }).inert();
        /// Which commands the appliance logs.
        cli_log_level: &'static str = "INFORMATIONAL",
            Option(
                "cliLogLevel",
                "cliloglevel",
                one_of(&["EMERGENCY", "ALERT", "CRITICAL", "ERROR", "WARNING", "NOTICE", "INFORMATIONAL", "DEBUG"])
            ).inert();
        /// ENABLED: the password that nsroot has from the start must be changed.
        force_password_change: bool = false, Option("forcePasswordChange", "forcepasswordchange", Kind::Switch).inert();
        /// DISABLED: no request brings user and password by HTTP's own authentication.
        basic_auth: bool = true, Option("basicAuth", "basicauth", Kind::Switch);
        /// ENABLED: sessions end when settings of directories elsewhere change.
        reauth_on_change: bool = false,
            Option("reauthonauthparamchange", "reauthonauthparamchange", Kind::Switch).inert();
        /// ENABLED: files of keys go with the configuration that names them.
        remove_sensitive_files: bool = false,
            Option("removesensitivefiles", "removesensitivefiles", Kind::Switch).inert();
        /// Most clients of the command line at one time.
        max_clients: Option<u32> = None, Option("maxClient", "maxclient", SESSIONS).inert();
        /// Most sessions of a user at one time, unless the user says it.
        max_sessions_per_user: Option<u32> = None, Option("maxsessionperuser", "maxsessionperuser", SESSIONS);
        /// ENABLED: passwords that were used before are refused.
        password_history: bool = false,
            Option("passwordHistoryControl", "passwordhistorycontrol", Kind::Switch).inert();
        /// How many of them.
        password_history_count: u32 = 6,
            Option("pwdHistoryCount", "pwdhistorycount", Kind::Number { min: 1, max: 10 }).inert();
        /// Days after which a password must be changed.
        days_to_expire: Option<u32> = None, Option("daystoexpire", "daystoexpire", DAYS).inert();
        /// Days before that at which the user is told.
        warn_prior_days: Option<u32> = None, Option("warnpriorndays", "warnpriorndays", DAYS).inert();
        /// What of the console and of NITRO the appliance's own firewall looks at.
        waf_protection: Vec<&'static str> = Vec::new(), Option("wafprotection", "wafprotection", WATCHED).inert();
    }
}

const STRONG: Words =
    Words { carried: &["enableall", "enablelocal", "disabled"], aliases: &[], not_carried: &[] };
const SESSIONS: Kind = Kind::Number { min: 1, max: 40 };
const WATCHED: Kind =
    Kind::WordList(Words { carried: &["DEFAULT", "GUI", "DISABLED"], aliases: &[], not_carried: &[] });
