//! "Honoured" is said of an option only if a test shows traffic, probes or answers that change with it: the name of that
//! test for each option that acts.

use std::collections::BTreeMap;
use std::path::Path;

use steelyard_core::command::read;
use steelyard_core::config::attribute::{Effect, Resource};
use steelyard_core::config::guard::Guards;
use steelyard_core::config::{
    CommandPolicyBinding, LbGroup, LbMonitor, LbParameter, LbVserver, Member, MonitorBinding, NetProfile,
    NsConfig, NsHostName, NsIp, NsParam, NsSpParams, Server, Service, ServiceGroup, SslService,
    SslServiceGroup, SystemCmdPolicy, SystemGroup, SystemParameter, SystemUser, UserBinding,
};
use steelyard_core::snapshot::Snapshot;
use steelyard_core::time::Time;

#[test]
fn every_option_that_acts_has_a_test_in_which_it_does() {
    let mut acting: BTreeMap<String, &str> = BTreeMap::new();
    add::<Server>("server", &mut acting);
    add::<Service>("service", &mut acting);
    add::<MonitorBinding>("monitor binding", &mut acting);
    add::<ServiceGroup>("serviceGroup", &mut acting);
    add::<Member>("member", &mut acting);
    add::<LbVserver>("lb vserver", &mut acting);
    add::<LbMonitor>("lb monitor", &mut acting);
    add::<SslService>("ssl service", &mut acting);
    add::<SslServiceGroup>("ssl serviceGroup", &mut acting);
    add::<LbParameter>("lb parameter", &mut acting);
    add::<LbGroup>("lb group", &mut acting);
    add::<NsIp>("ns ip", &mut acting);
    add::<NetProfile>("netProfile", &mut acting);
    add::<NsConfig>("ns config", &mut acting);
    add::<NsHostName>("ns hostName", &mut acting);
    add::<NsParam>("ns param", &mut acting);
    add::<NsSpParams>("ns spParams", &mut acting);
    add::<SystemUser>("system user", &mut acting);
    add::<SystemGroup>("system group", &mut acting);
    add::<SystemCmdPolicy>("system cmdPolicy", &mut acting);
    add::<SystemParameter>("system parameter", &mut acting);
    add::<CommandPolicyBinding>("command policy binding", &mut acting);
    add::<UserBinding>("user binding", &mut acting);
    let proved: BTreeMap<String, &str> = PROOFS
        .iter()
        .flat_map(|(object, options, test)| options.split(' ').map(move |o| (format!("{object} {o}"), *test)))
        .collect();
    let unproved: Vec<&String> = acting.keys().filter(|option| !proved.contains_key(*option)).collect();
    assert!(unproved.is_empty(), "said to act, without a test that shows it: {unproved:?}");
    let idle: Vec<&String> = proved.keys().filter(|option| !acting.contains_key(*option)).collect();
    assert!(idle.is_empty(), "no longer said to act: {idle:?}");
    let tests = tests();
    let missing: Vec<&&str> =
        proved.values().filter(|test| !tests.contains(&format!("fn {test}("))).collect();
    assert!(missing.is_empty(), "no such test: {missing:?}");
}

/// The virtual server balances by its backup method where its own is not carried, and by LEASTCONNECTION where neither is.
#[test]
fn the_backup_method_stands_in_for_one_that_is_not_carried() {
    let method = |options: &str| {
        let text = format!("enable ns feature LB\nadd lb vserver v HTTP 192.0.2.10 80 {options}\n");
        let config = read(text.as_bytes(), "ns.conf").config;
        let snapshot = Snapshot::default().next(&config, &Guards::default(), Time::ZERO);
        snapshot.vserver("v").expect("it is added").method
    };
    assert_eq!(method("-lbMethod URLHASH -backupLBMethod LEASTPACKETS"), "LEASTPACKETS");
    assert_eq!(method("-lbMethod URLHASH"), "ROUNDROBIN", "its default");
    assert_eq!(method("-lbMethod URLHASH -backupLBMethod SOURCEIPHASH"), "LEASTCONNECTION");
    assert_eq!(method("-lbMethod LEASTPACKETS -backupLBMethod LEASTBANDWIDTH"), "LEASTPACKETS");
}

/// Error 1325 of what is bound, once `lb parameter` says so.
#[test]
fn what_is_bound_stays_where_its_removal_is_not_allowed() {
    let refused = |allowed: &str| {
        let text = format!(
            "enable ns feature LB\nset lb parameter -AllowBoundSvcRemoval {allowed}\nadd service s 192.0.2.11 HTTP 80\n\
             add lb vserver v HTTP 192.0.2.10 80\nbind lb vserver v s\nrm service s\n"
        );
        let reading = read(text.as_bytes(), "ns.conf");
        (
            reading.config.services.has("s"),
            reading.refused.iter().map(|r| r.refusal.code()).collect::<Vec<_>>(),
        )
    };
    assert_eq!(refused("DISABLED"), (true, vec![1325]));
    assert_eq!(refused("ENABLED"), (false, vec![]));
}

fn add<T: Resource>(object: &str, acting: &mut BTreeMap<String, &str>) {
    let rows = T::rows().filter(|row| row.effect == Effect::Acts);
    acting.extend(rows.map(|row| (format!("{object} {}", row.cli), row.cli)));
}

/// The text of every test of both crates.
fn tests() -> String {
    let mut text = String::new();
    for folder in ["tests", "src", "../steelyard/tests", "../steelyard/src"] {
        gather(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut text);
    }
    text
}

fn gather(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            gather(&path, text);
        } else if path.extension().is_some_and(|e| e == "rs") {
            text.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

/// Object, its options, and a test in which they act.
const PROOFS: &[(&str, &str, &str)] = &[
    ("server", "name IPAddress", "k05_ipv6_works_in_every_place"),
    ("server", "state", "reverse_disabled_and_unmonitored_services_have_the_documented_states"),
    ("service", "name serverName port", "round_robin_under_load"),
    ("service", "serviceType", "k13_a_virtual_server_without_an_address_opens_nothing"),
    (
        "service",
        "healthMonitor state",
        "reverse_disabled_and_unmonitored_services_have_the_documented_states",
    ),
    (
        "monitor binding",
        "monitorName",
        "m28_m36_a_service_is_down_while_its_answers_are_wrong_and_up_again_after",
    ),
    ("monitor binding", "monState", "a_disabled_monitor_is_not_missed"),
    ("monitor binding", "weight", "mon_threshold_weighs_the_monitors_that_are_up"),
    ("service", "downStateFlush", "l14_down_state_flush_cuts_or_spares_what_is_under_way"),
    ("serviceGroup", "downStateFlush", "l14_down_state_flush_cuts_or_spares_what_is_under_way"),
    ("lb vserver", "downStateFlush", "l14_down_state_flush_cuts_or_spares_what_is_under_way"),
    ("service", "maxClient", "two_workers_share_one_connection_and_starve_nobody"),
    ("serviceGroup", "maxClient", "the_limits_of_a_group_hold_for_each_member"),
    ("service", "sp", "surge_protection_opens_connections_at_the_rate_of_the_table"),
    ("serviceGroup", "sp", "surge_protection_opens_connections_at_the_rate_of_the_table"),
    ("ns spParams", "baseThreshold throttle", "the_threshold_is_the_throttles_own_or_the_one_that_is_set"),
    ("service", "maxBandwidth", "a_service_over_max_bandwidth_is_no_candidate"),
    ("serviceGroup", "maxBandwidth", "the_limits_of_a_group_hold_for_each_member"),
    ("service", "monThreshold", "the_weights_of_the_monitors_that_are_up_must_reach_mon_threshold"),
    ("serviceGroup", "monThreshold", "the_weights_of_the_monitors_that_are_up_must_reach_mon_threshold"),
    ("serviceGroup", "serviceGroupName serviceType healthMonitor state", "seeds"),
    ("member", "serverName port weight state", "seeds"),
    (
        "lb vserver",
        "name IPAddress port serviceType state",
        "addresses_are_opened_and_closed_with_their_virtual_servers",
    ),
    ("lb vserver", "backupVServer", "a_backup_serves_while_the_primary_is_down_and_no_longer"),
    (
        "lb vserver",
        "disablePrimaryOnDown",
        "disable_primary_on_down_keeps_the_backup_until_it_is_enabled_by_hand",
    ),
    ("lb vserver", "redirectURL", "a_redirect_url_is_an_answer_of_302_while_nobody_serves"),
    ("lb vserver", "healthThreshold", "health_threshold_takes_a_virtual_server_down_strictly_below_it"),
    ("lb vserver", "soMethod soThreshold", "of_a_threshold_of_n_connections_n_stay_and_the_next_one_spills"),
    ("lb vserver", "soBackupAction", "without_a_backup_the_action_says_what_happens"),
    (
        "lb vserver",
        "soPersistence soPersistenceTimeOut",
        "with_persistence_a_client_stays_for_its_time_where_it_was_sent",
    ),
    ("lb vserver", "lbMethod", "every_method_can_be_configured_and_nothing_else"),
    ("lb vserver", "backupLBMethod", "the_backup_method_stands_in_for_one_that_is_not_carried"),
    ("lb vserver", "cltTimeout", "silence_between_requests_ends_silently_and_within_a_head_by_408"),
    (
        "lb vserver",
        "newServiceRequest newServiceRequestUnit newServiceRequestIncrementInterval",
        "per_second_steps_up_every_interval_and_ends_at_the_load_of_the_others",
    ),
    (
        "lb monitor",
        "monitorName type respCode httpRequest",
        "m28_m36_a_service_is_down_while_its_answers_are_wrong_and_up_again_after",
    ),
    ("lb monitor", "customHeaders", "m02_m03_probes_are_whole_http_messages_with_one_host"),
    ("lb monitor", "query queryType IPAddress", "knot_answers_by_udp_and_by_tcp"),
    ("lb monitor", "send recv", "m07_a_reply_in_several_segments_is_one_answer"),
    ("lb monitor", "destIP destPort", "a_monitor_probes_where_dest_ip_and_dest_port_say"),
    ("lb monitor", "reverse state", "reverse_disabled_and_unmonitored_services_have_the_documented_states"),
    (
        "lb monitor",
        "scriptName scriptArgs dispatcherIP dispatcherPort",
        "a_user_monitor_asks_its_dispatcher_about_the_service",
    ),
    ("lb monitor", "alertRetries resptimeoutThresh", "alarms_are_lines_on_standard_error"),
    ("lb monitor", "deviation", "an_answer_that_comes_later_than_was_learnt_takes_the_service_down"),
    ("lb monitor", "netProfile", "a_monitor_s_net_profile_is_where_its_probes_leave_from"),
    ("lb monitor", "trofsstring", "words_in_an_answer_take_a_service_out_of_service_slowly"),
    ("lb monitor", "trofscode", "a_service_that_says_so_by_its_status_gets_no_new_work"),
    ("lb parameter", "monitorConnectionClose", "m25_probes_end_by_fin_or_rst_as_configured"),
    (
        "lb parameter",
        "monitorSkipMaxClient",
        "a_service_at_its_max_client_is_probed_only_if_lb_parameter_says_so",
    ),
    ("service", "monConnectionClose", "m25_probes_end_by_fin_or_rst_as_configured"),
    ("serviceGroup", "monConnectionClose", "m25_probes_end_by_fin_or_rst_as_configured"),
    ("lb monitor", "secureArgs", "an_external_dispatcher_gets_the_documented_request_and_its_answers_count"),
    ("ssl service", "SNIEnable commonName", "m15_each_client_hello_has_the_name_of_its_own_service"),
    ("ssl service", "serverAuth", "certificates_are_checked_where_that_is_asked_for"),
    ("ssl serviceGroup", "SNIEnable commonName serverAuth", "members_of_a_group_are_probed_by_its_tls"),
    ("lb monitor", "secure", "openssl_is_probed_by_handshakes"),
    ("lb monitor", "userName password fileName", "vsftpd_lets_in_who_knows_the_password"),
    ("lb monitor", "tos tosId", "probes_carry_their_type_of_service"),
    ("lb monitor", "transparent", "only_a_device_that_forwards_is_up"),
    ("lb monitor", "LRTM", "m38_lrtm_decides_with_the_response_times_of_its_monitors"),
    ("lb monitor", "interval", "a_shorter_interval_takes_effect_at_once"),
    ("lb monitor", "resptimeout", "a_service_that_accepts_and_says_nothing_is_down_and_says_why"),
    (
        "lb monitor",
        "retries downTime",
        "a_dead_service_is_down_after_retries_intervals_and_probed_each_down_time",
    ),
    ("lb monitor", "failureRetries", "m11_retries_are_consecutive_unless_failure_retries_says_otherwise"),
    ("lb monitor", "successRetries", "coming_up_takes_consecutive_successes_and_forgets_old_failures"),
    ("lb parameter", "startupRRFactor", "a_factor_counts_per_service"),
    ("lb parameter", "AllowBoundSvcRemoval", "what_is_bound_stays_where_its_removal_is_not_allowed"),
    ("ns ip", "IPAddress netmask type", "connections_and_probes_leave_from_the_snip"),
    ("netProfile", "name", "connections_and_probes_leave_from_the_snip"),
    ("netProfile", "srcIP", "a_net_profile_wins_over_the_snip"),
    ("service", "cip cipHeader", "h54_the_clients_address_is_the_only_entry_whatever_it_sent"),
    ("serviceGroup", "cip cipHeader", "each_service_is_told_the_address_under_its_own_name"),
    ("ns param", "cip cipHeader", "each_service_is_told_the_address_under_its_own_name"),
    ("service", "CKA", "cka_keeps_the_client_where_only_the_close_ends_an_answer"),
    ("serviceGroup", "CKA", "cka_keeps_the_client_where_only_the_close_ends_an_answer"),
    ("service", "svrTimeout", "svr_timeout_bounds_an_answer_and_an_idle_connection"),
    ("serviceGroup", "svrTimeout", "svr_timeout_bounds_an_answer_and_an_idle_connection"),
    ("ns param", "tcpCIP", "a_tcp_service_is_told_the_client_by_a_prefix_where_that_is_configured"),
    ("service", "maxReq", "a_connection_carries_no_more_requests_than_max_req"),
    ("serviceGroup", "maxReq", "a_connection_carries_no_more_requests_than_max_req"),
    ("ns param", "maxReq", "a_connection_carries_no_more_requests_than_max_req"),
    ("service", "netProfile", "a_net_profile_wins_over_the_snip"),
    ("serviceGroup", "netProfile", "a_net_profile_wins_over_the_snip"),
    ("lb vserver", "netProfile", "a_net_profile_wins_over_the_snip"),
    ("system user", "userName", "built_in_and_own_policies_say_who_may_do_what"),
    ("system user", "password", "hashes_of_appliances_let_their_users_in"),
    ("system user", "timeout", "the_time_of_a_session_is_said_by_the_login_the_user_a_group_or_all"),
    ("system user", "promptString", "the_first_prompt_is_that_of_the_user_a_group_or_the_system"),
    ("system user", "maxsession", "a_user_has_no_more_sessions_than_the_configuration_says"),
    ("system user", "allowedManagementInterface", "a_user_may_be_kept_to_the_command_line"),
    ("system group", "groupName", "built_in_and_own_policies_say_who_may_do_what"),
    ("system group", "timeout", "the_time_of_a_session_is_said_by_the_login_the_user_a_group_or_all"),
    ("system group", "promptString", "the_first_prompt_is_that_of_the_user_a_group_or_the_system"),
    ("system group", "allowedManagementInterface", "a_user_may_be_kept_to_the_command_line"),
    ("system cmdPolicy", "policyName action cmdSpec", "built_in_and_own_policies_say_who_may_do_what"),
    ("command policy binding", "policyName", "built_in_and_own_policies_say_who_may_do_what"),
    (
        "command policy binding",
        "priority",
        "the_smallest_priority_is_asked_first_and_of_one_priority_the_users_own",
    ),
    ("user binding", "userName", "built_in_and_own_policies_say_who_may_do_what"),
    (
        "system parameter",
        "timeout restrictedTimeout",
        "the_time_of_a_session_is_said_by_the_login_the_user_a_group_or_all",
    ),
    ("system parameter", "promptString", "the_first_prompt_is_that_of_the_user_a_group_or_the_system"),
    ("system parameter", "minpasswordlen strongPassword", "a_new_password_is_as_the_configuration_asks"),
    ("system parameter", "basicAuth", "a_session_is_known_by_whatever_field_brings_it"),
    ("system parameter", "maxsessionperuser", "a_user_has_no_more_sessions_than_the_configuration_says"),
    ("lb group", "name", "a_new_name_is_used_everywhere_and_keeps_its_place"),
];
