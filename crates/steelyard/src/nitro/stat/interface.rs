//! The figures of network interfaces.

use super::anew::{self, Of};
use crate::interfaces;
use crate::kernel;
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;

/// `Interface`: each, or the one that is named.
pub fn interface(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let span = wanted.state.span();
    let mut all = interfaces::all();
    if let Some(id) = wanted.id {
        all.retain(|interface| interface.name == id);
        if all.is_empty() {
            return Err(wanted.unknown());
        }
    }
    let of = |interface: &interfaces::Interface| {
        let mut row = wanted.row();
        row.text("id", &*interface.name).text("interfacealias", &*interface.name);
        for (total, rate, column) in COUNTS {
            let count =
                |sample: &crate::nitro::totals::Sample| sample.kernel.device(&interface.name, *column);
            row.number(total, count(&span.now));
            if !rate.is_empty() {
                row.number(rate, span.rate(count));
            }
        }
        row.always_zero();
        anew::counted(&mut row, wanted, &Of::Appliance(&interface.name));
        row
    };
    Ok(all.iter().map(of).collect())
}

/// A total, its rate, and the kernel's column.
const COUNTS: &[(&str, &str, usize)] = &[
    ("totrxbytes", "rxbytesrate", kernel::RX_BYTES),
    ("totrxpkts", "rxpktsrate", kernel::RX_PACKETS),
    ("tottxbytes", "txbytesrate", kernel::TX_BYTES),
    ("tottxpkts", "txpktsrate", kernel::TX_PACKETS),
    ("errpktrx", "errpktrxrate", kernel::RX_ERRORS),
    ("errpkttx", "", kernel::TX_ERRORS),
    ("errdroppedrxpkts", "errdroppedrxpktsrate", kernel::RX_DROPPED),
    ("errdroppedtxpkts", "errdroppedtxpktsrate", kernel::TX_DROPPED),
    ("rxcrcerrors", "rxcrcerrorsrate", kernel::RX_FRAME),
    ("nictotmulticastpkts", "", kernel::MULTICAST),
];
