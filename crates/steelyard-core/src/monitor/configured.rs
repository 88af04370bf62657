//! From a configured monitor to what its probes need.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::bound::{Run, sealed_secrets};
use super::dns::DnsCheck;
use super::exchange::Exchange;
use super::ftp::LogIn;
use super::health::Timing;
use super::http::Check;
use super::http_ecv::BodyCheck;
use super::leaving::Leaving;
use super::user::{DISPATCHER, Script};
use super::{Channel, Kind, Sense, Spec};
use crate::config::expected::Expected;
use crate::config::secret::{Plain, Unseal};
use crate::config::source::Sources;
use crate::config::{Config, LbMonitor, MonitorType};
use crate::sync::Arc;
use crate::time::MILLISECOND_US;

/// Makes specs of monitors; what monitors ask is made once and shared by all that they are bound to.
pub struct Specs<'k> {
    /// What each monitor asks, by its name in small letters.
    kinds: BTreeMap<String, Kind>,
    sources: Sources<'k>,
    key: &'k dyn Unseal,
}

impl<'k> Specs<'k> {
    /// Those of the monitors of `config`; `key` opens what is sealed.
    pub fn new(config: &'k Config, key: &'k dyn Unseal) -> Specs<'k> {
        Specs { kinds: BTreeMap::new(), sources: Sources::of(config), key }
    }

    /// A monitor that is run, as it is bound.
    pub fn of(&mut self, run: Run<'_>) -> Arc<Spec> {
        let Run { monitor, binding, tls } = run;
        let name = monitor.name.to_ascii_lowercase();
        let kind = self.kinds.entry(name).or_insert_with(|| kind(monitor, self.key)).clone();
        Arc::new(Spec {
            name: monitor.name.as_str().into(),
            kind,
            timing: timing(monitor),
            learns_response_time: monitor.lrtm == Some(true),
            sense: if monitor.reverse { Sense::Reverse } else { Sense::Direct },
            destination_ip: monitor.dest_ip,
            transparent: monitor.transparent,
            destination_port: monitor.dest_port,
            tos: monitor.tos_id.filter(|_| monitor.tos).and_then(|id| u8::try_from(id << 2).ok()),
            tls: tls.map(Arc::new),
            source: self.sources.profile(&monitor.net_profile),
            enabled: monitor.enabled && binding.enabled,
        })
    }
}

fn kind(monitor: &LbMonitor, key: &dyn Unseal) -> Kind {
    match monitor.kind {
        MonitorType::Tcp | MonitorType::NotCarried(_) => Kind::Tcp,
        MonitorType::User => Kind::User(Arc::new(script(monitor, key))),
        MonitorType::Ftp | MonitorType::FtpExtended => Kind::Ftp(Arc::new(log_in(monitor, key))),
        MonitorType::Ping => Kind::Ping,
        MonitorType::Http => Kind::Http(Arc::new(Check::new(
            &monitor.http_request,
            &monitor.custom_headers,
            &monitor.resp_codes,
            monitor.trofs_code,
        ))),
        MonitorType::HttpEcv => Kind::HttpEcv(Arc::new(
            BodyCheck::new(&monitor.send, &monitor.custom_headers, &expected(monitor))
                .leaving_by(leaving(monitor)),
        )),
        MonitorType::Dns => Kind::Dns(dns(monitor, Channel::Datagram)),
        MonitorType::DnsTcp => Kind::Dns(dns(monitor, Channel::Stream)),
        MonitorType::TcpEcv => Kind::TcpEcv(Arc::new(
            Exchange::new(&monitor.send, &expected(monitor)).leaving_by(leaving(monitor)),
        )),
        MonitorType::UdpEcv => Kind::UdpEcv(Arc::new(Exchange::new(&monitor.send, &expected(monitor)))),
    }
}

fn log_in(monitor: &LbMonitor, key: &dyn Unseal) -> LogIn {
    let file = (monitor.kind == MonitorType::FtpExtended).then_some(monitor.file.as_str());
    LogIn::new(&monitor.user, secret(monitor, "password", key), file)
}

fn secret(monitor: &LbMonitor, option: &str, key: &dyn Unseal) -> Option<Plain> {
    let sealed = sealed_secrets(monitor).find(|secret| secret.option == option)?;
    key.open(&sealed.text, &sealed.purpose)
}

fn leaving(monitor: &LbMonitor) -> Leaving {
    Leaving::new(monitor.trofs_code, &monitor.trofs_string)
}

fn script(monitor: &LbMonitor, key: &dyn Unseal) -> Script {
    Script {
        name: monitor.script.clone(),
        arguments: monitor.script_arguments.clone(),
        secure_arguments: secret(monitor, "secureArgs", key),
        dispatcher: SocketAddr::new(
            monitor.dispatcher_ip.unwrap_or(DISPATCHER.ip()),
            monitor.dispatcher_port.unwrap_or(DISPATCHER.port()),
        ),
    }
}

fn dns(monitor: &LbMonitor, channel: Channel) -> Arc<DnsCheck> {
    Arc::new(DnsCheck::new(&monitor.query, monitor.query_type, &monitor.ips, channel))
}

/// `command::apply` lets in only what can be read; of anything else nothing would be an answer.
fn expected(monitor: &LbMonitor) -> Arc<Expected> {
    Arc::new(Expected::new(&monitor.receive).unwrap_or_else(|_| Expected::text(&monitor.receive)))
}

fn timing(monitor: &LbMonitor) -> Timing {
    let small = |n: u32| u8::try_from(n).unwrap_or(u8::MAX);
    let us = |ms: u32| u64::from(ms) * MILLISECOND_US;
    Timing {
        interval_us: us(monitor.interval.ms()),
        response_timeout_us: us(monitor.resptimeout.ms()),
        retries: small(monitor.retries),
        failure_retries: small(monitor.failure_retries),
        success_retries: small(monitor.success_retries),
        down_time_us: us(monitor.down_time.ms()),
        deviation_us: us(monitor.deviation.ms()),
        alert_retries: small(monitor.alert_retries),
        slow_percent: small(monitor.resptimeout_threshold),
    }
}
