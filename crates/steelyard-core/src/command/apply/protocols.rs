//! Which protocols go together, and which methods a protocol allows.

use crate::command::refusal::Refusal;
use crate::config::{LbMethod, LbVserver, ServiceType};

/// May a service of that protocol be bound to a virtual server of the other? One side may speak TLS where the other
/// speaks in clear (`spec/methods.md` 5.2).
pub(super) fn go_together(vserver: ServiceType, service: ServiceType) -> bool {
    let pair = (vserver.text(), service.text());
    vserver == service || SECURED.iter().any(|(clear, tls)| [(*clear, *tls), (*tls, *clear)].contains(&pair))
}

/// Refuses a method that virtual servers of the protocol do not have.
pub(super) fn check_method(vserver: &LbVserver) -> Result<(), Refusal> {
    match has_method(vserver.service_type, vserver.lb_method) {
        true => Ok(()),
        false => Err(Refusal::MethodForType { method: vserver.lb_method.text() }),
    }
}

/// May virtual servers of that protocol have the method? Two methods look at requests (`spec/methods.md` 1.4, 1.5);
/// syslog messages have methods of their own (error 1462, 1464).
pub fn has_method(protocol: ServiceType, method: LbMethod) -> bool {
    let is_syslog = SYSLOG.contains(&protocol.text());
    match (method, method.text()) {
        (LbMethod::LeastRequest | LbMethod::LeastResponseTime, _) => method.suits(protocol),
        (_, "AUDITLOGHASH") => is_syslog,
        (_, word) => !is_syslog || !word.ends_with("HASH"),
    }
}

const SECURED: &[(&str, &str)] = &[("HTTP", "SSL"), ("TCP", "SSL_TCP")];
const SYSLOG: &[&str] = &["SYSLOGTCP", "SYSLOGUDP"];
