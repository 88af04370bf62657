//! `lb parameter`: settings of load balancing as a whole.

use super::attribute::Kind;
use super::make::resource;

resource! {
    /// Settings of load balancing as a whole.
    pub struct LbParameter "lb parameter" {
        /// Requests per service in startup round robin; 0 derives them from the rate.
        startup_rr_factor: u32 = 0,
            Option("startupRRFactor", "startuprrfactor", Kind::Number { min: 0, max: u32::MAX });
    }
}
