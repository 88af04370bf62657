//! What NITRO keeps for the appliance's sake, beside content switching: TLS of virtual servers and what is bound for it,
//! load balancing profiles.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::place::Place;
use crate::program::Program;

pub fn trials() -> Vec<Trial> {
    trials![tls_of_virtual_servers_is_kept_and_shown, a_profile_is_kept_and_shown]
}

const LINES: &str = "\
enable ns feature LB SSL CS
add ssl certKey shop -cert shop.pem -key shop.key
add ssl certKey ca -cert ca.pem
add lb vserver web SSL 192.0.2.5 443
add lb vserver plain HTTP 192.0.2.5 80
add cs vserver cs SSL 192.0.2.6 443
";

/// Status line without the version, and body.
fn ask(program: &Program, method: &str, path: &str, fields: Value) -> (String, Value) {
    let resource = path.split(['/', '?']).next().unwrap();
    let body = (!fields.is_null()).then(|| json!({resource: fields}));
    let (status, answer) = program.owner(method, path, body.as_ref());
    (status.trim_start_matches("HTTP/1.1 ").to_owned(), answer)
}

fn done(program: &Program, method: &str, path: &str, fields: Value) {
    let (status, answer) = ask(program, method, path, fields);
    assert!(["200 OK", "201 Created"].contains(&&*status), "{method} {path}: {status} {answer}");
}

fn rows(program: &Program, path: &str) -> Vec<Value> {
    let (status, mut answer) = ask(program, "GET", path, Value::Null);
    assert_eq!(status, "200 OK", "{path}: {answer}");
    let resource = path.split(['/', '?']).next().unwrap();
    serde_json::from_value(answer[resource].take()).unwrap_or_default()
}

fn has(element: &Value, fields: Value) {
    for (name, value) in fields.as_object().unwrap() {
        assert_eq!(&element[name], value, "{name} of {element}");
    }
}

fn saved(program: &Program) -> String {
    let (_, answer) = ask(program, "GET", "nsrunningconfig", Value::Null);
    answer["nsrunningconfig"]["response"].as_str().unwrap().to_owned()
}

/// `spec/nitro.md` 9, sslvserver and sslvserver_sslcertkey_binding.
fn tls_of_virtual_servers_is_kept_and_shown() {
    let place = Place::new();
    let program = Program::launch(&place, LINES);
    let names = |program: &Program| -> Vec<Value> {
        rows(program, "sslvserver").iter().map(|row| row["vservername"].clone()).collect()
    };
    assert_eq!(names(&program), ["web", "cs"]);
    let from_the_start = json!({
        "dh": "DISABLED", "ersa": "ENABLED", "sesstimeout": "120", "clientauth": "DISABLED", "ssl3": "ENABLED",
        "sendclosenotify": "YES", "includesubdomains": "NO", "maxage": "0", "cleartextport": 0, "dhcount": "0",
    });
    has(&rows(&program, "sslvserver/web")[0], from_the_start.clone());
    for nothing in ["sslvserver/plain", "sslvserver/nobody", "sslvserver_sslcertkey_binding/plain"] {
        let (status, answer) = ask(&program, "GET", nothing, Value::Null);
        assert_eq!((&*status, &answer["errorcode"]), ("404 Not Found", &json!(258)), "{nothing}");
    }
    done(&program, "PUT", "sslvserver", json!({"vservername": "web", "ssl3": "DISABLED", "maxage": 600}));
    has(
        &rows(&program, "sslvserver/WEB")[0],
        json!({"vservername": "web", "ssl3": "DISABLED", "maxage": "600"}),
    );

    let bindings = "sslvserver_sslcertkey_binding";
    assert!(rows(&program, "sslvserver_sslcertkey_binding/web").is_empty());
    done(&program, "PUT", bindings, json!({"vservername": "web", "certkeyname": "shop", "snicert": false}));
    done(
        &program,
        "POST",
        bindings,
        json!({"vservername": "web", "certkeyname": "ca", "ca": true, "crlcheck": "Optional"}),
    );
    let bound = rows(&program, "sslvserver_sslcertkey_binding/web");
    assert_eq!(bound.len(), 2);
    has(&bound[0], json!({"vservername": "web", "certkeyname": "shop", "ca": false, "cleartextport": 0}));
    has(&bound[1], json!({"certkeyname": "ca", "ca": true, "crlcheck": "Optional", "snicert": false}));
    let (status, answer) =
        ask(&program, "PUT", bindings, json!({"vservername": "web", "certkeyname": "nobody"}));
    assert_eq!((&*status, &answer["errorcode"]), ("404 Not Found", &json!(258)));
    let lines = saved(&program);
    for line in [
        "set ssl vserver web -ssl3 DISABLED -maxage 600\n",
        "bind ssl vserver web -certkeyName shop\n",
        "bind ssl vserver web -certkeyName ca -CA -crlCheck Optional\n",
    ] {
        assert!(lines.contains(line), "{line}{lines}");
    }
    let (status, _) =
        ask(&program, "DELETE", "sslvserver_sslcertkey_binding/web?args=certkeyname:ca", Value::Null);
    assert_eq!(status, "404 Not Found", "it is bound to know others by");
    done(&program, "DELETE", "sslvserver_sslcertkey_binding/web?args=certkeyname:ca,ca:true", Value::Null);
    done(&program, "DELETE", "sslvserver_sslcertkey_binding/web?args=certkeyname:shop,ca:false", Value::Null);
    done(
        &program,
        "POST",
        "sslvserver?action=unset",
        json!({"vservername": "web", "ssl3": true, "maxage": true}),
    );
    assert!(rows(&program, "sslvserver_sslcertkey_binding/web").is_empty());
    has(&rows(&program, "sslvserver/web")[0], from_the_start);
    assert!(!saved(&program).contains("ssl vserver web"), "nothing is said of it any more");
    let label = json!({
        "name": "cs", "policyname": "any", "priority": 5, "invoke": true, "labeltype": "policylabel", "labelname": "l",
    });
    done(&program, "PUT", "csvserver_cspolicy_binding", label);
    assert!(
        saved(&program).contains("bind cs vserver cs -policyName any -priority 5 -invoke policylabel l\n")
    );
    done(&program, "DELETE", "lbvserver/web", Value::Null);
    assert_eq!(names(&program), ["cs"]);
}

/// `spec/nitro.md` 9, lbprofile: the pass phrase is kept and not shown.
fn a_profile_is_kept_and_shown() {
    let place = Place::new();
    let program = Program::launch(&place, "enable ns feature LB\nadd lb vserver web HTTP 192.0.2.5 80\n");
    let profile = json!({"lbprofilename": "p", "dbslb": "ENABLED", "cookiepassphrase": "hunter2"});
    done(&program, "POST", "lbprofile", profile);
    done(&program, "PUT", "lbvserver", json!({"name": "web", "lbprofilename": "p"}));
    let row = &rows(&program, "lbprofile/p")[0];
    has(row, json!({"dbslb": "ENABLED", "httponlycookieflag": "ENABLED", "vsvrcount": "1"}));
    assert_eq!(row["cookiepassphrase"], Value::Null);
    assert!(!saved(&program).contains("hunter2"));
    let (_, answer) = ask(&program, "DELETE", "lbprofile/p", Value::Null);
    assert_eq!(answer["errorcode"], 315);
    done(&program, "POST", "lbvserver?action=unset", json!({"name": "web", "lbprofilename": true}));
    done(&program, "PUT", "lbprofile/p", json!({"lbprofilename": "p", "httponlycookieflag": "DISABLED"}));
    done(&program, "POST", "lbprofile?action=unset", json!({"lbprofilename": "p", "dbslb": true}));
    has(&rows(&program, "lbprofile")[0], json!({"dbslb": "DISABLED", "httponlycookieflag": "DISABLED"}));
    done(&program, "DELETE", "lbprofile/p", Value::Null);
    assert!(rows(&program, "lbprofile").is_empty());
}
