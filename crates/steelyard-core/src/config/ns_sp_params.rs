//! `ns spParams`: how fast surge protection opens connections, for every service that has it.

use super::attribute::Kind;
use super::make::{resource, words};

words! {
    /// How much a service is spared: each has its own steps (`spec/methods.md` 3.5).
    pub enum Throttle {
        /// From 16 connections on.
        Aggressive = "Aggressive",
        /// From 200 connections on.
        Normal = "Normal",
        /// From 500 connections on.
        Relaxed = "Relaxed",
    }
    not carried []
}

resource! {
    /// Settings of surge protection as a whole.
    pub struct NsSpParams "ns spParams" {
        /// Open connections to a service from which on new ones have to wait; not set, what the throttle begins with.
        base_threshold: Option<u32> = None,
            Option("baseThreshold", "basethreshold", Kind::Number { min: 0, max: 32_767 });
        /// How fast connections are opened from there on.
        throttle: Throttle = Throttle::Normal, Option("throttle", "throttle", Kind::Word(Throttle::WORDS));
    }
}
