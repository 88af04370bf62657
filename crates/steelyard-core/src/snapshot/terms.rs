//! From the options of a service or a group to the terms on which it is used.

use crate::config::{Config, NsParam, NsSpParams, Service, ServiceGroup, ServiceType, Throttle};
use crate::service::pace::Steps;
use crate::service::terms::Terms;
use crate::time::SECOND_US;

/// What a service and a group call the same.
macro_rules! terms {
    ($of:expr, $config:expr) => {{
        let (of, config) = ($of, $config);
        let global = &config.ns_param;
        Terms {
            server_timeout_us: timeout_us(of.svr_timeout_s),
            max_client: limit(of.max_client),
            max_requests: limit(of.max_req).or(limit(global.max_req)),
            max_bandwidth_kbps: limit(of.max_bandwidth),
            client_ip: client_ip(
                of.client_ip || of_all(of.service_type, global),
                &of.client_ip_header,
                global,
            ),
            client_keep_alive: of.client_keep_alive || config.modes.has(CLIENT_KEEP_ALIVE),
            surge_protection: steps(of.surge_protection, config),
            down_state_flush: of.down_state_flush,
        }
    }};
}

/// The terms of a service.
pub(super) fn of_service(service: &Service, config: &Config) -> Terms {
    terms!(service, config)
}

/// The terms of a group's members.
pub(super) fn of_group(group: &ServiceGroup, config: &Config) -> Terms {
    terms!(group, config)
}

fn timeout_us(seconds: u32) -> Option<u64> {
    (seconds > 0).then(|| u64::from(seconds) * SECOND_US)
}

/// 0 is no limit.
fn limit(value: u32) -> Option<u32> {
    (value > 0).then_some(value)
}

/// What `ns spParams` says, of a service that has surge protection.
fn steps(protected: bool, config: &Config) -> Option<Steps> {
    (protected && config.features.has(SURGE_PROTECTION)).then(|| surge_steps(&config.ns_sp_params))
}

/// How fast surge protection opens connections.
pub fn surge_steps(params: &NsSpParams) -> Steps {
    let steps = match params.throttle {
        Throttle::Aggressive => Steps::AGGRESSIVE,
        Throttle::Relaxed => Steps::RELAXED,
        Throttle::Normal | Throttle::NotCarried(_) => Steps::NORMAL,
    };
    params.base_threshold.map_or(steps, |base| steps.beginning_at(base))
}

/// `spec/methods.md` ruling 11: the service's own name, else the global one, else `client-ip`.
fn client_ip(on: bool, name: &str, global: &NsParam) -> Option<Box<str>> {
    let names = [name, &global.client_ip_header, DEFAULT_NAME];
    let name = names.into_iter().find(|name| !name.is_empty())?;
    on.then(|| name.into())
}

/// Are all services of that protocol told the client's address? `tcpCIP` is about TCP, `cip` about requests.
fn of_all(service_type: ServiceType, global: &NsParam) -> bool {
    if service_type == ServiceType::Tcp { global.tcp_client_ip } else { global.client_ip }
}

/// The mode that holds for every service.
const CLIENT_KEEP_ALIVE: &str = "CKA";
const DEFAULT_NAME: &str = "client-ip";
/// Without the feature `-sp ON` does nothing.
const SURGE_PROTECTION: &str = "SP";
