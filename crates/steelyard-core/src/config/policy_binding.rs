//! A policy bound to a virtual server or a service: kept, shown and saved; what it would decide is `guard`'s to say.

use super::attribute::{Kind, Words};
use super::binding_list::Bindable;
use super::make::resource;
use super::{PROFILE, one_of};

resource! {
    /// A policy that is asked about requests or responses here.
    pub struct PolicyBinding "lb vserver" {
        /// Name of the policy to bind.
        policy: String = String::new(), Option("policyName", "policyname", Kind::Name).traffic().ranged();
        /// Load-balancing virtual server that content switching sends to what it matches.
        target: String = String::new(), Option("targetLBVserver", "targetlbvserver", PROFILE).traffic();
        /// Its place among the policies here; the smallest is asked first.
        priority: Option<u32> = None,
            Option("priority", "priority", Kind::Number { min: 0, max: u32::MAX }).traffic();
        /// What is asked after it, if it matches: END, NEXT, or an expression for a priority.
        goto: Option<String> = None,
            Option("gotoPriorityExpression", "gotopriorityexpression", Kind::Text { max: 1_499 }).traffic();
        /// Which side it is asked about.
        bind_point: &'static str = "", Option("type", "bindpoint", one_of(&["REQUEST", "RESPONSE"])).traffic();
        /// Kind of the label that is evaluated, if it matches.
        label_type: &'static str = "", Option("invoke", "labeltype", Kind::Word(LABEL_TYPES)).traffic();
        /// Name of that label.
        label: Option<String> = None, SecondWord("labelName", "labelname", Kind::Name).traffic();
    }
}

/// Once for each side.
impl Bindable for PolicyBinding {
    type Key = (String, &'static str);

    fn key(&self) -> (String, &'static str) {
        (self.policy.to_ascii_lowercase(), self.bind_point)
    }
}

const LABEL_TYPES: Words = Words {
    carried: &["reqvserver", "resvserver", "policylabel"],
    aliases: &[("vserver", "reqvserver")],
    not_carried: &[],
};
