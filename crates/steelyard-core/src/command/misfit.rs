//! What a monitor, or its binding, cannot be, with the codes that NITRO has for each (`spec/nitro-errors.tsv`).
//!
//! Owns no rule: `apply` finds these in what a command leads to, whether it adds, sets or unsets.

/// Why a monitor cannot be like that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Misfit {
    /// 2129: a way to an address, and no address.
    AddressMissing,
    /// 2154: nothing that goes by that type's protocol goes through TLS.
    NeverSecure {
        /// The type.
        kind: &'static str,
    },
    /// 2156: a type whose answers have no time.
    NeverMeasured {
        /// The type.
        kind: &'static str,
    },
    /// 2188: FTP-EXTENDED without a file to ask for.
    FileMissing,
    /// 2201: a type of service, and none is given.
    TosIdMissing,
    /// 2212: only LOAD monitors can be passive.
    Passive {
        /// The monitor's type.
        kind: &'static str,
    },
}

impl Misfit {
    pub(super) fn code(self) -> u16 {
        match self {
            Misfit::AddressMissing => 2129,
            Misfit::NeverSecure { .. } => 2154,
            Misfit::NeverMeasured { .. } => 2156,
            Misfit::FileMissing => 2188,
            Misfit::TosIdMissing => 2201,
            Misfit::Passive { .. } => 2212,
        }
    }

    pub(super) fn argument(self) -> &'static str {
        match self {
            Misfit::AddressMissing => "transparent",
            Misfit::NeverSecure { .. } => "secure",
            Misfit::NeverMeasured { .. } => "LRTM",
            Misfit::FileMissing => "fileName",
            Misfit::TosIdMissing => "tosId",
            Misfit::Passive { .. } => "passive",
        }
    }

    pub(super) fn advice(self) -> String {
        match self {
            Misfit::NeverSecure { kind } => {
                format!("leave it at NO: no probe of type {kind} goes through TLS")
            }
            Misfit::NeverMeasured { kind } => {
                format!("leave it at DISABLED: a monitor of type {kind} gives no response time")
            }
            Misfit::AddressMissing => "give -destIP: the address that is probed".to_owned(),
            Misfit::FileMissing => "give the file that must be there, or a monitor of type FTP".to_owned(),
            Misfit::TosIdMissing => "give -tosId 1 to 63, or leave -tos at NO".to_owned(),
            Misfit::Passive { kind } => format!("leave it out: the monitor is of type {kind}"),
        }
    }
}
