//! Certificates, and TLS of virtual servers. None of it acts; all of it is kept whole.

use super::*;

const WITH_TLS: &str = "\
enable ns feature LB CS SSL
add ssl certKey ca -cert ca.pem -inform DER
add ssl certKey shop -cert shop.pem -key shop.key -expiryMonitor ENABLED -notificationPeriod 60
link ssl certKey shop ca
add lb vserver v SSL 10.1.1.1 443
add lb vserver plain HTTP 10.1.1.1 80
add cs vserver c SSL 10.1.1.2 443
bind ssl certKey shop -ocspResponder o -priority 1
set ssl vserver v -clientAuth ENABLED -clientCert Mandatory -ssl3 DISABLED -tls13 ENABLED
bind ssl vserver v -certkeyName shop
bind ssl vserver v -certkeyName ca -CA -crlCheck Optional
unbind ssl vserver v -cipherName DEFAULT
bind ssl vserver v -cipherName HIGH
bind ssl vserver v -eccCurveName P_256
bind ssl vserver v -policyName p -priority 10
set ssl vserver c -sslProfile strong
";

#[test]
fn a_file_of_it_prints_as_it_stands() {
    let c = config(WITH_TLS);
    assert_eq!(c.kept, Default::default(), "nothing of it is a line alone");
    let printed = print(&c).ns_conf;
    for line in WITH_TLS.lines().filter(|line| line.contains(" ssl ")) {
        assert!(printed.lines().any(|other| other == line), "{line}\n{printed}");
    }
    is(&c, &printed);
}

/// `spec/nitro-errors.tsv`: 1067 beside what is done.
#[test]
fn what_needs_the_feature_says_so() {
    let mut c = config("add lb vserver v SSL 10.1.1.1 443\n");
    for line in [
        "add ssl certKey k -cert k.pem",
        "set ssl vserver v -tls1 DISABLED",
        "bind ssl vserver v -certkeyName k",
    ] {
        let done = run_line(&mut c, line).unwrap().unwrap();
        assert_eq!(
            done.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["Feature(s) not enabled [SSL]"]
        );
    }
}

/// 315: a certificate that is bound, or that another is linked to, stays.
#[test]
fn a_certificate_in_use_stays() {
    let mut c = config(WITH_TLS);
    assert_eq!(code(&mut c, "rm ssl certKey shop"), 315);
    accept(&mut c, &["unbind ssl vserver v -certkeyName SHOP", "unbind ssl vserver v -certkeyName ca -CA"]);
    assert_eq!(code(&mut c, "rm ssl certKey ca"), 315);
    accept(&mut c, &["add lb monitor m TCP -secure YES", "bind lb monitor m -certkeyName shop"]);
    assert_eq!(code(&mut c, "rm ssl certKey shop ca"), 315);
    accept(&mut c, &["unbind lb monitor m -certkeyName shop", "rm ssl certKey shop ca"]);
    assert!(c.ssl_cert_keys.is_empty());
    assert_eq!(code(&mut c, "rm ssl certKey ca"), 258);
}

#[test]
fn certificates() {
    let mut c = config(WITH_TLS);
    assert_eq!(code(&mut c, "add ssl certKey Shop -cert x"), 273);
    assert_eq!(code(&mut c, "add ssl certKey x -key k"), 1095);
    assert_eq!(code(&mut c, "add ssl certKey x -cert c -key k -fipsKey f"), 1092);
    assert_eq!(code(&mut c, "set ssl certKey shop -cert other"), 1090);
    assert_eq!(code(&mut c, "set ssl certKey shop -notificationPeriod 9"), 1109);
    assert_eq!(code(&mut c, "link ssl certKey ca nobody"), 258);
    assert_eq!(code(&mut c, "link ssl certKey shop ca"), 273);
    assert_eq!(code(&mut c, "unlink ssl certKey ca"), 258);
    assert_eq!(code(&mut c, "update ssl certKey nobody -cert x"), 258);
    assert_eq!(code(&mut c, "bind ssl certKey shop -ocspResponder O"), 273);
    assert_eq!(code(&mut c, "unbind ssl certKey shop -ocspResponder x"), 258);
    accept(
        &mut c,
        &[
            "unlink ssl certKey shop",
            "unset ssl certKey shop -notificationPeriod",
            "update ssl certKey shop -cert new.pem -key new.key -noDomainCheck",
            "unbind ssl certKey shop -ocspResponder o",
        ],
    );
    let shop = c.ssl_cert_keys.find("shop").unwrap();
    assert_eq!((shop.cert.as_str(), shop.key.as_str(), shop.issuer.as_str()), ("new.pem", "new.key", ""));
    assert_eq!((shop.expiry_monitor, shop.notification_period), (Some(true), None));
    assert!(shop.ocsp_responders.is_empty());
}

/// A new key has a pass phrase of its own.
#[test]
fn a_new_key_leaves_the_pass_phrase_of_the_old_behind() {
    let mut c = config("add ssl certKey k -cert c -key k -passcrypt abc== -password\n");
    accept(&mut c, &["update ssl certKey k -cert c2"]);
    assert_eq!(c.ssl_cert_keys.find("k").unwrap().encrypted_passphrase, "abc==");
    accept(&mut c, &["update ssl certKey k -key k2"]);
    let k = c.ssl_cert_keys.find("k").unwrap();
    assert_eq!((k.encrypted_passphrase.as_str(), k.has_password, k.cert.as_str()), ("", false, "c2"));
}

/// There is one for each virtual server with TLS, and for no other.
#[test]
fn tls_goes_with_its_virtual_server() {
    let mut c = config(WITH_TLS);
    let names = |c: &Config| c.all_ssl_vservers().map(|v| v.name).collect::<Vec<_>>();
    assert_eq!(names(&c), ["v", "c"]);
    assert_eq!(code(&mut c, "set ssl vserver plain -tls1 DISABLED"), 258);
    assert_eq!(code(&mut c, "bind ssl vserver nobody -certkeyName shop"), 258);
    accept(&mut c, &["rename lb vserver v w", "rename cs vserver c d"]);
    is(&c, &WITH_TLS.replace("vserver v ", "vserver w ").replace("vserver c ", "vserver d "));
    accept(&mut c, &["rm lb vserver w", "unset ssl vserver d -sslProfile"]);
    assert!(c.ssl_vservers.is_empty(), "nothing is said of TLS any more");
    assert_eq!(names(&c), ["d"]);
}

#[test]
fn what_is_bound_for_tls() {
    let mut c = config(WITH_TLS);
    assert_eq!(code(&mut c, "bind ssl vserver c -certkeyName nobody"), 258);
    assert_eq!(code(&mut c, "bind ssl vserver v -certkeyName SHOP"), 273);
    assert_eq!(code(&mut c, "bind ssl vserver v"), 1095);
    assert_eq!(code(&mut c, "bind ssl vserver v -certkeyName ca -cipherName HIGH"), 1092);
    assert_eq!(code(&mut c, "bind ssl vserver v -cipherName HIGH -CA"), 1093);
    assert_eq!(code(&mut c, "bind ssl vserver v -policyName P"), 273);
    assert_eq!(code(&mut c, "bind ssl vserver v -policyName q -invoke vserver x"), 1097);
    assert_eq!(code(&mut c, "unbind ssl vserver v -cipherName LOW"), 258);
    assert_eq!(code(&mut c, "unbind ssl vserver v -certkeyName shop -CA"), 258);
    accept(
        &mut c,
        &[
            "bind ssl vserver v -certkeyName shop -SNICert",
            "bind ssl vserver v -cipherName DEFAULT",
            "unbind ssl vserver v -cipherName HIGH",
            "unbind ssl vserver v -eccCurveName ALL",
            "bind ssl vserver v -eccCurveName P_384",
            "bind ssl vserver v -eccCurveName P_384",
            "unbind ssl vserver v -policyName p",
        ],
    );
    let v = c.ssl_vservers.find("v").unwrap();
    assert_eq!((v.bound.cert_keys.len(), v.bound.policies.len()), (3, 0));
    assert_eq!((v.bound.ciphers.without_default, v.bound.ciphers.names.len()), (false, 0));
    assert_eq!(
        (v.bound.curves.without_default, &v.bound.curves.names[..]),
        (true, &["P_384".to_owned()][..])
    );
    is(&c, &print(&c).ns_conf);
}

/// There is one for each service and group with TLS, and for no other.
#[test]
fn tls_goes_with_its_service() {
    const LINES: &str = "add service s 10.0.0.1 SSL 443\nadd service plain 10.0.0.1 HTTP 80\nadd serviceGroup g SSL\n\
        add ssl certKey ca -cert ca.pem\n\
        set ssl service s -tls1 DISABLED -SNIEnable ENABLED -serverAuth ENABLED -commonName app.example\n\
        bind ssl service s -certkeyName ca -CA -ocspCheck Optional\n\
        unbind ssl service s -cipherName DEFAULT\n\
        bind ssl service s -cipherName HIGH\n\
        set ssl serviceGroup g -sessReuse ENABLED -SNIEnable ENABLED -commonName b.example\n\
        bind ssl serviceGroup g -eccCurveName P_256\n";
    let mut c = config(&format!("enable ns feature SSL\n{LINES}"));
    let tls = |c: &Config| {
        print(c).ns_conf.lines().filter(|l| l.contains(" ssl service")).map(str::to_owned).collect::<Vec<_>>()
    };
    let printed: Vec<String> =
        LINES.lines().filter(|l| l.contains(" ssl service")).map(str::to_owned).collect();
    assert_eq!(tls(&c), printed);
    is(&c, &print(&c).ns_conf);
    assert_eq!(code(&mut c, "set ssl service plain -tls1 DISABLED"), 258);
    assert_eq!(code(&mut c, "set ssl service g -tls1 DISABLED"), 258);
    assert_eq!(code(&mut c, "bind ssl serviceGroup g -certkeyName nobody"), 258);
    assert_eq!(code(&mut c, "bind ssl service s -certkeyName CA -CA"), 273);
    assert!(code(&mut c, "rm ssl certKey ca") != 0, "it is in use");
    accept(&mut c, &["rename service s t", "rename serviceGroup g h"]);
    assert_eq!(c.tls_of_service("t").name, "app.example");
    assert!(c.tls_of_group("h").sends_name && !c.tls_of_group("h").is_checked);
    accept(
        &mut c,
        &["unset ssl service t -serverAuth -commonName", "unbind ssl service t -certkeyName ca -CA"],
    );
    assert!(!c.tls_of_service("t").is_checked && c.tls_of_service("t").cert_keys.is_empty());
    accept(&mut c, &["rm service t", "rm serviceGroup h", "rm ssl certKey ca"]);
    assert!(c.ssl_services.is_empty() && c.ssl_service_groups.is_empty());
}
