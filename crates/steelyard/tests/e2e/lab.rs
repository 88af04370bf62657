//! `steelyard lab`: somebody's file, unchanged, on loopback.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};

use libtest_mimic::Trial;

use crate::client::Client;
use crate::corpus::corpus;
use crate::place::Place;
use crate::program::Program;

pub fn trials() -> Vec<Trial> {
    trials![
        every_virtual_server_of_the_corpus_answers_or_is_named,
        services_of_the_file_answer_and_decisions_can_be_explained,
        what_is_guarded_disabled_or_assumed_is_told,
        the_readme_shows_what_it_prints,
        source_addresses_are_not_tried,
    ]
}

/// Every HTTP and TCP virtual server with an address in every file of the corpus answers; every other one is listed.
fn every_virtual_server_of_the_corpus_answers_or_is_named() {
    let Some(files) = corpus() else { return };
    let _addresses = addresses_of_the_corpus();
    let place = Place::new();
    let (mut answered, mut named, mut refused, mut missing) = (0, 0, 0, Vec::new());
    for (file, bytes) in files {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let lab = Program::lab(&place, &text);
        let listing = lab.lines();
        for (name, kind, address) in virtual_servers(&text) {
            let carried = matches!(kind.as_str(), "HTTP" | "TCP") && address != "0.0.0.0";
            let line = listing.iter().find(|line| line.trim_start().starts_with(&format!("{name}  ")));
            match line {
                Some(line) if carried && line.contains("  OUT OF SERVICE: disabled") => {
                    assert!(is_disabled(&text, &name), "{file}: {line}");
                }
                Some(line) if carried && !line.contains("(the line is refused, ") => match address_in(line) {
                    Some(there) => {
                        answers(&kind, there);
                        answered += 1;
                    }
                    None => missing.push(format!("{file}: {line}")),
                },
                // Placeholders for addresses, options that are none: `check` tells them one by one.
                Some(line) if line.contains("(the line is refused, ") => refused += 1,
                Some(line) if line.contains(&kind) => named += 1,
                _ => missing.push(format!("{file}: {name} {kind} {address}")),
            }
        }
    }
    assert!(missing.is_empty(), "neither served nor named:\n{}", missing.join("\n"));
    let counts = format!("{answered} answered, {named} named, {refused} refused");
    assert!(answered > 50 && named > 80 && refused < 30, "{counts}");
}

/// Requests are balanced over the services of the file, which answer with their names, by the file's method.
fn services_of_the_file_answer_and_decisions_can_be_explained() {
    let place = Place::new();
    let _lab = Program::lab(
        &place,
        "add server web1 192.0.2.11\nadd service s1 web1 HTTP 80\nadd service s2 192.0.2.12 HTTP 80\n\
         add serviceGroup g HTTP\nbind serviceGroup g 192.0.2.13 8080\n\
         add lb vserver www HTTP 10.201.7.1 28090 -lbMethod ROUNDROBIN\nbind lb vserver www s1\nbind lb vserver www s2\n\
         bind lb vserver www g\n",
    );
    let mut client = Client::connect("127.201.7.1:28090".parse().unwrap());
    let bodies: Vec<String> =
        (0..4).map(|_| String::from_utf8_lossy(&client.get("/").body).into_owned()).collect();
    assert_eq!(bodies, ["s1\n", "s2\n", "g?192.0.2.13?8080\n", "s1\n"]);
}

/// In the lab nothing real is reached, so what the appliance guards is open; what is switched off in the file stays so.
fn what_is_guarded_disabled_or_assumed_is_told() {
    let place = Place::new();
    let lab = Program::lab(
        &place,
        "add lb vserver guarded HTTP 10.202.7.1 28091 -authn401 ON\n\
         add lb vserver off HTTP 10.202.7.2 28091 -state DISABLED\n",
    );
    let lines = lab.lines();
    let line =
        |start: &str| lines.iter().find(|l| l.starts_with(start)).unwrap_or_else(|| panic!("{lines:?}"));
    assert!(line("guarded").contains("  UP"));
    assert!(line("off").contains("OUT OF SERVICE: disabled"));
    assert!(line("Features that the file uses").ends_with("are on: LB."));
    assert_eq!(Client::connect("127.202.7.1:28091".parse().unwrap()).get("/").status(), 200);
}

/// This machine has the file's source address or lacks it: neither is of interest, for nothing leaves it.
fn source_addresses_are_not_tried() {
    let place = Place::new();
    let lab = Program::lab(
        &place,
        "add netProfile p -srcIP 198.51.100.7\nadd service s1 198.51.100.11 HTTP 80 -netProfile p\n\
         add lb vserver v HTTP 10.203.7.1 28092\nbind lb vserver v s1\n",
    );
    assert_eq!(Client::connect("127.203.7.1:28092".parse().unwrap()).get("/").status(), 200);
    assert_eq!(lab.errors(), "");
}

/// Each line that the README shows of a file of the corpus is one that the lab prints of it, in that order.
fn the_readme_shows_what_it_prints() {
    let Some(files) = corpus() else { return };
    let _addresses = addresses_of_the_corpus();
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    let section = readme.split_once("steelyard lab ns.conf").unwrap().1.split_once("\n## ").unwrap().0;
    let blocks: Vec<&str> = section.split("```").skip(1).step_by(2).collect();
    let shown: Vec<&str> =
        blocks.iter().flat_map(|block| block.split("steelyard 0.1.0: lab of ").skip(1)).collect();
    assert_eq!(shown.len(), 3);
    for shown in shown {
        let mut lines = shown.lines().filter(|line| !line.is_empty() && *line != "...");
        let name = lines.next().unwrap();
        let place = Place::new();
        let (_, bytes) = files.iter().find(|(file, _)| file == name).unwrap();
        let lab = Program::lab(&place, &String::from_utf8_lossy(bytes));
        let printed = lab.lines();
        let mut printed = printed.iter();
        for line in lines.filter(|line| !line.starts_with("'steelyard check ")) {
            assert!(printed.any(|p| p == line), "{name}: not printed, or not in this order: {line}");
        }
    }
}

/// A file's virtual servers have the same addresses in every lab, so two tests that run the same files take turns.
fn addresses_of_the_corpus() -> MutexGuard<'static, ()> {
    static IN_USE: Mutex<()> = Mutex::new(());
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Name, type and address of each, read without the program's reader.
fn virtual_servers(text: &str) -> Vec<(String, String, String)> {
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let words = words(line);
        if let ["add", "lb", "vserver", name, kind, rest @ ..] = &words[..] {
            let address = rest.first().filter(|word| !word.starts_with('-')).copied().unwrap_or("0.0.0.0");
            found.insert((*name).to_owned(), (kind.to_ascii_uppercase(), address.to_owned()));
        }
    }
    found.into_iter().map(|(name, (kind, address))| (name, kind, address)).collect()
}

/// Words between blanks, or in quotes.
fn words(line: &str) -> Vec<&str> {
    let (mut words, mut rest) = (Vec::new(), line.trim());
    while !rest.is_empty() {
        let quoted = rest.strip_prefix('"');
        let end = |text: &str, mark: fn(char) -> bool| text.find(mark).unwrap_or(text.len());
        let (word, after) = match quoted {
            Some(text) => text.split_at(end(text, |c| c == '"')),
            None => rest.split_at(end(rest, char::is_whitespace)),
        };
        words.push(word);
        rest = after.trim_start_matches('"').trim_start();
    }
    words
}

/// Does the file itself say so?
fn is_disabled(text: &str, name: &str) -> bool {
    let lines = text.lines().map(str::to_ascii_lowercase);
    let name = name.to_ascii_lowercase();
    lines
        .filter(|line| line.contains("lb vserver") && line.contains(&name))
        .any(|line| line.starts_with("disable") || line.contains("-state disabled"))
}

/// Where a line of the listing says that it is.
fn address_in(line: &str) -> Option<SocketAddr> {
    line.split_once("  at ")?.1.split_whitespace().next()?.parse().ok()
}

fn answers(kind: &str, there: SocketAddr) {
    if kind == "HTTP" {
        assert_eq!(Client::connect(there).get("/").status(), 200, "{there}");
        return;
    }
    let mut stream = TcpStream::connect(there).unwrap();
    stream.write_all(b"hello").unwrap();
    let mut answer = [0; 256];
    let read = stream.read(&mut answer).unwrap();
    assert!(answer[..read].ends_with(b": hello"), "{there}: {:?}", String::from_utf8_lossy(&answer[..read]));
}
