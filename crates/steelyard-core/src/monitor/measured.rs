//! Which services the method LRTM can learn a response time of, as they are configured (`spec/methods.md` 3.2, 4.3).
//!
//! The hard question is what counts as a monitor that measures: [`super::Spec::measures`] alone says it, so that nobody is told
//! otherwise than probes go. A secret that cannot be opened here is taken for one that can,
//! and so is a certificate for one that is here.

use super::bound::{Bound, Means, Watched};
use super::configured::Specs;
use super::tls::{Credentials, Usable};
use crate::config::secret::{Plain, Unseal};
use crate::config::{Bindable, Config, LbMethod, LbVserver};

/// What is bound to a virtual server under LRTM and can have no response time there; nothing under another method.
pub fn unmeasured<'c>(config: &'c Config, vserver: &'c LbVserver) -> impl Iterator<Item = &'c str> + use<'c> {
    let is_lrtm = vserver.lb_method == LbMethod::Lrtm;
    let bound = vserver.bindings.iter().filter(move |_| is_lrtm);
    bound.filter(|binding| !is_measured(config, &binding.key())).map(|binding| binding.name())
}

/// Is that service or group probed by a monitor that may give it a response time?
fn is_measured(config: &Config, name: &str) -> bool {
    if let Some(service) = config.services.find(name) {
        return service.health_monitor && has_measuring(config, Watched::service(config, service));
    }
    config
        .service_groups
        .find(name)
        .is_some_and(|group| group.health_monitor && has_measuring(config, Watched::group(config, group)))
}

fn has_measuring(config: &Config, watched: Watched<'_>) -> bool {
    let mut specs = Specs::new(config, &Trusting);
    let bound = Bound::of(config, watched, &Means { key: &Trusting, handshakes: &Trusting });
    bound.run.into_iter().any(|run| specs.of(run).measures())
}

/// Opens and reads nothing, and says it could.
struct Trusting;

impl Usable for Trusting {
    fn cannot_use(&self, _: &Credentials) -> Option<Box<str>> {
        None
    }
}

impl Unseal for Trusting {
    fn open(&self, _sealed: &str, _purpose: &str) -> Option<Plain> {
        None
    }

    fn opens(&self, _sealed: &str, _purpose: &str) -> bool {
        true
    }
}
