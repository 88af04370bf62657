//! What is bound to a virtual server: services and groups of them.

use super::WEIGHT;
use super::attribute::{Kind, Place, Row};
use super::binding_list::Bindable;

/// What a virtual server can send requests to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LbBinding {
    /// One service.
    Service {
        /// Its name.
        name: String,
        /// Its weight here, 1 to 100.
        weight: u32,
        /// Its rank here.
        order: Option<u32>,
    },
    /// Every member of a group, each with the member's weight.
    ServiceGroup {
        /// Its name.
        name: String,
        /// Rank of its members here.
        order: Option<u32>,
    },
}

impl LbBinding {
    /// Name of the service or the group.
    pub fn name(&self) -> &str {
        match self {
            LbBinding::Service { name, .. } | LbBinding::ServiceGroup { name, .. } => name,
        }
    }

    /// The rank of what is bound: the lowest in which a service is UP is used alone.
    pub fn order(&self) -> Option<u32> {
        match self {
            LbBinding::Service { order, .. } | LbBinding::ServiceGroup { order, .. } => *order,
        }
    }

    /// Changes the weight of a service; a group has none.
    pub(crate) fn set_weight(&mut self, new: u32) {
        if let LbBinding::Service { weight, .. } = self {
            *weight = new;
        }
    }
}

/// By name without case: services and groups share their names.
impl Bindable for LbBinding {
    type Key = String;

    fn key(&self) -> String {
        self.name().to_ascii_lowercase()
    }
}

/// The word of `bind lb vserver` that says what to bind.
pub(crate) static BINDING_TARGET: Row =
    Row::new(Place::Required, "serviceName", "servicename", Kind::Name, "Service or service group to bind.")
        .ranged();

/// The option of `bind lb vserver` and `set lb vserver` that says with what weight.
pub(crate) static BINDING_WEIGHT: Row = Row::new(
    Place::Option,
    "weight",
    "weight",
    WEIGHT,
    "Share of the load that the service takes, against the others'.",
);

/// The option of `bind lb vserver` that says in what rank.
pub(crate) static BINDING_ORDER: Row = Row::new(
    Place::Option,
    "order",
    "order",
    Kind::Number { min: 0, max: u32::MAX },
    "Rank of the service: the lowest that is UP is used alone.",
)
.traffic();
