//! What a picker decides by: the method, the services with their weights, start-up and slow start. Never changes; a
//! reconfiguration makes another.

use crate::balance::Method;
use crate::balance::log::Budget;
use crate::balance::slow_start::SlowStart;
use crate::service::Service;
use crate::service::terms::Terms;
use crate::sync::Arc;

/// What a picker decides by.
pub struct Setup {
    /// The method.
    pub method: &'static Method,
    /// The bound services in ring order, with their weights (1 to 100).
    pub services: Vec<Bound>,
    /// `startupRRFactor`; 0 when unset.
    pub startup_factor: u32,
    /// Per-service slow start, when `newServiceRequest` is above 0.
    pub slow_start: Option<SlowStart>,
    /// Where the decision log's memory comes from.
    pub budget: Arc<Budget>,
}

/// A service as one virtual server has it.
#[derive(Clone)]
pub struct Bound {
    /// The service.
    pub service: Arc<Service>,
    /// Its weight there, 1 to 100.
    pub weight: u32,
    /// On what terms it is used.
    pub terms: Arc<Terms>,
}

impl Bound {
    /// A service on the terms that hold where nothing is said of them.
    pub fn new(service: Arc<Service>, weight: u32) -> Bound {
        Bound { service, weight, terms: Arc::default() }
    }
}
