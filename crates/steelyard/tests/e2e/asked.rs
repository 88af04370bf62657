//! What a running program tells of itself by the management port, to nsroot.

use serde_json::Value;

use crate::program::Program;
use crate::service::wait_for;

impl Program {
    /// `GET path` on the management port: the status line, and the JSON.
    pub fn nitro(&self, path: &str) -> (String, Value) {
        let (host, keys) = (self.nitro_address(), self.keys());
        let answer = self.manage(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{keys}\r\n"));
        let value = serde_json::from_slice(&answer.body).unwrap();
        (answer.start, value)
    }

    /// Header fields by which nsroot makes a request.
    pub fn keys(&self) -> String {
        format!("X-NITRO-USER: nsroot\r\nX-NITRO-PASS: {}\r\n", self.password())
    }

    /// The elements of `GET /nitro/v1/stat/<resource>`.
    pub fn stat(&self, resource: &str) -> Vec<Value> {
        let (status, answer) = self.nitro(&format!("/nitro/v1/stat/{resource}"));
        assert_eq!(status, "HTTP/1.1 200 OK", "{answer}");
        answer[resource].as_array().cloned().unwrap_or_default()
    }

    /// One field of the element called `name`, as `GET /nitro/v1/stat/<resource>/<name>` answers it.
    pub fn field(&self, resource: &str, name: &str, field: &str) -> Value {
        self.element(resource, name)[field].clone()
    }

    /// Waits until a service or virtual server has this state.
    pub fn wait_for_state(&self, resource: &str, name: &str, state: &str) {
        wait_for(&format!("{name} is {state}"), || self.field(resource, name, "state") == state);
    }

    /// A counter of one service, by its NITRO name.
    pub fn service(&self, name: &str, counter: &str) -> u64 {
        number(&self.element("service", name), counter)
    }

    /// A counter of the virtual server `v`, by its NITRO name.
    pub fn counter(&self, counter: &str) -> u64 {
        number(&self.element("lbvserver", "v"), counter)
    }

    /// Active transactions of a service, as the program counts them.
    pub fn active(&self, name: &str) -> u64 {
        self.service(name, "activetransactions")
    }

    /// Waits until no service has an active transaction: the invariant "active is 0 at rest".
    pub fn wait_at_rest(&self) {
        wait_for("active is 0 at rest", || {
            self.stat("service").iter().all(|service| number(service, "activetransactions") == 0)
        });
    }

    /// Turns of all workers so far.
    pub fn turns(&self) -> u64 {
        let page = self.manage("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").text();
        let lines = page.lines().filter(|line| line.starts_with("steelyard_worker_turns_total{"));
        lines.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
    }

    fn element(&self, resource: &str, name: &str) -> Value {
        let (status, answer) = self.nitro(&format!("/nitro/v1/stat/{resource}/{name}"));
        assert_eq!(status, "HTTP/1.1 200 OK", "{answer}");
        answer[resource][0].clone()
    }
}

/// A NITRO number, which is a string or a number on the wire.
pub fn number(element: &Value, name: &str) -> u64 {
    match &element[name] {
        Value::String(text) => text.parse().ok(),
        value => value.as_u64(),
    }
    .unwrap_or_else(|| panic!("{name} is not a number in {element}"))
}

/// A NITRO text.
pub fn text(element: &Value, name: &str) -> String {
    element[name].as_str().unwrap_or_else(|| panic!("{name} is not a text in {element}")).to_owned()
}
