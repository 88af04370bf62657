//! `cs policy` and `cs action`: which requests a content switching virtual server passes on, and where to. Kept, shown and
//! saved.

use super::attribute::Kind;
use super::make::resource;
use super::table::known_by_name;
use super::{COMMENT, EXPRESSION, NO_RULE, PROFILE, SHORT_TEXT};

resource! {
    /// Which requests are passed on.
    pub struct CsPolicy "cs policy" {
        /// Name of the policy.
        name: String = String::new(), Key("policyName", "policyname", Kind::Name).at_add().ranged().traffic();
        /// URL of the requests, a classic way.
        url: String = String::new(), Option("url", "url", Kind::Text { max: 208 }).traffic();
        /// What must be true of a request.
        rule: String = NO_RULE.to_owned(), Option("rule", "rule", EXPRESSION).traffic();
        /// Domain of the requests, a classic way.
        domain: String = String::new(), Option("domain", "domain", SHORT_TEXT).traffic();
        /// Action that says where they go.
        action: String = String::new(), Option("action", "action", PROFILE).traffic();
        /// What is written about them.
        log_action: String = String::new(), Option("logAction", "logaction", PROFILE).inert();
    }
}

resource! {
    /// Where requests are passed on to.
    pub struct CsAction "cs action" {
        /// Name of the action.
        name: String = String::new(), Key("name", "name", Kind::Name).at_add().ranged().traffic();
        /// Load-balancing virtual server that they go to.
        target_lb_vserver: String = String::new(), Option("targetLBVserver", "targetlbvserver", PROFILE).traffic();
        /// Virtual server of another kind that they go to.
        target_vserver: String = String::new(), Option("targetVserver", "targetvserver", PROFILE).traffic();
        /// What gives the name of the virtual server that they go to.
        target_expression: String = NO_RULE.to_owned(),
            Option("targetVserverExpr", "targetvserverexpr", EXPRESSION).traffic();
        /// Words for people.
        comment: String = String::new(), Option("comment", "comment", COMMENT).inert();
    }
}

known_by_name!(CsPolicy, CsAction);
