//! What services are told of clients: the address of the real peer, whatever a client says.

use libtest_mimic::Trial;

use crate::client::request;
use crate::message::Message;
use crate::place::Place;
use crate::program::{Program, config};
use crate::service::{TestService, Then};

pub fn trials() -> Vec<Trial> {
    trials![
        h25_the_clients_address_can_not_be_named_away,
        h54_the_last_entry_is_the_peer,
        h55_a_websocket_handshake_has_the_clients_address,
    ]
}

fn h54_the_last_entry_is_the_peer() {
    let (seen, peer) = told(&crate::hostile::input("H54.req.bin"));
    assert_eq!(seen.all("x-forwarded-for"), [peer]);
}

fn h25_the_clients_address_can_not_be_named_away() {
    let (seen, peer) = told(&crate::hostile::input("H25.req.bin"));
    assert_eq!((seen.all("x-forwarded-for"), seen.text()), (vec![peer.as_str()], "hello".to_owned()));
}

fn h55_a_websocket_handshake_has_the_clients_address() {
    let offer = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                 Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nX-Forwarded-For: 1.2.3.4\r\n";
    let (seen, peer) = told(&request("GET", "/chat", offer, b""));
    assert_eq!((seen.all("x-forwarded-for"), seen.all("upgrade")), (vec![peer.as_str()], vec!["websocket"]));
}

/// The request as it arrives at a service with `-cip ENABLED X-Forwarded-For`, and the client's address.
fn told(bytes: &[u8]) -> (Message, String) {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| x.ok("told").map(|_| Then::Close));
    let text = config(&place, "ROUNDROBIN", &[s1.address()])
        .replace("-healthMonitor NO", "-healthMonitor NO -cip ENABLED X-Forwarded-For");
    let program = Program::start_with(&place, &text);
    let mut client = program.client();
    let peer = client.address().ip().to_string();
    client.send(bytes);
    assert_eq!(client.answer().status(), 200);
    program.wait_at_rest();
    (s1.log()[0].request.clone(), peer)
}
