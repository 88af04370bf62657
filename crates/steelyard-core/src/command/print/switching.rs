//! Content switching as lines.

use super::{add, attributes, each, head, policies};
use crate::config::{Config, CsDomain, CsTarget};

/// Actions, policies that name them, virtual servers.
pub(super) fn print(config: &Config, out: &mut String) {
    config.cs_actions.iter().for_each(|action| add(action, out));
    config.cs_policies.iter().for_each(|policy| add(policy, out));
    vservers(config, out);
}

/// Those whose backup stands above or nowhere have it at once.
fn vservers(config: &Config, out: &mut String) {
    for vserver in &config.cs_vservers {
        let mut first = vserver.clone();
        if !config.lb_vservers.has(&first.backup_vserver) {
            first.backup_vserver.clear();
        }
        add(&first, out);
    }
}

/// What is bound to them.
pub(super) fn bindings(config: &Config, out: &mut String) {
    for vserver in &config.cs_vservers {
        let bind = "bind cs vserver";
        policies(bind, &vserver.name, &vserver.policies, out);
        if vserver.default_target != CsTarget::default() {
            head(bind, &vserver.name, out);
            attributes(&vserver.default_target, &CsTarget::default(), out);
        }
        for domain in &vserver.domains {
            head(bind, &vserver.name, out);
            attributes(domain, &CsDomain::default(), out);
        }
        each(bind, &vserver.name, "analyticsProfile", &vserver.analytics_profiles, out);
    }
}
