//! Which services the method LRTM can learn a response time of, as they are configured (`spec/methods.md` 3.2, 4.3).
//!
//! The hard question is what counts as a monitor that measures: [`super::Spec::measures`] alone says it, so that nobody is told
//! otherwise than probes go. A secret that cannot be opened here is taken for one that can.

use super::bound::Bound;
use super::configured::Specs;
use crate::config::secret::{Plain, Unseal};
use crate::config::{Bindable, Config, LbMethod, LbVserver, MonitorBinding, ServiceType};

/// What is bound to a virtual server under LRTM and can have no response time there; nothing under another method.
pub fn unmeasured<'c>(config: &'c Config, vserver: &'c LbVserver) -> impl Iterator<Item = &'c str> + use<'c> {
    let is_lrtm = vserver.lb_method == LbMethod::Lrtm;
    let bound = vserver.bindings.iter().filter(move |_| is_lrtm);
    bound.filter(|binding| !is_measured(config, &binding.key())).map(|binding| binding.name())
}

/// Is that service or group probed by a monitor that may give it a response time?
fn is_measured(config: &Config, name: &str) -> bool {
    if let Some(service) = config.services.find(name) {
        return service.health_monitor && has_measuring(config, service.service_type, &service.monitors);
    }
    config.service_groups.find(name).is_some_and(|group| {
        group.health_monitor && has_measuring(config, group.service_type, &group.monitors)
    })
}

fn has_measuring(config: &Config, service_type: ServiceType, bound: &[MonitorBinding]) -> bool {
    let mut specs = Specs::new(config, &Trusting);
    let bound = Bound::of(config, service_type, bound, &Trusting);
    bound.run.into_iter().any(|(monitor, binding)| specs.of(monitor, binding.enabled).measures())
}

/// Opens nothing, and says it could.
struct Trusting;

impl Unseal for Trusting {
    fn open(&self, _sealed: &str, _purpose: &str) -> Option<Plain> {
        None
    }

    fn opens(&self, _sealed: &str, _purpose: &str) -> bool {
        true
    }
}
