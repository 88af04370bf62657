//! The saved configuration: what a save writes, what it leaves when it cannot, and what a kill in the middle leaves.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use libtest_mimic::Trial;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::installed::{program, skip};
use crate::place::Place;
use crate::program::Program;
use crate::service::{TestService, wait_for};

pub fn trials() -> Vec<Trial> {
    let mut trials = trials![
        k12_what_is_saved_survives_and_what_is_not_is_told,
        k12_five_older_copies_are_kept,
        a_kill_at_any_moment_of_a_save_leaves_the_old_or_the_new,
        a_full_disk_and_a_read_only_directory_lose_nothing,
        without_a_file_it_begins_empty_and_saves_into_the_data_directory,
        what_is_cleared_is_by_level,
        running_and_saved_differ_by_their_lines,
        older_copies_are_compared_by_their_names_and_no_other_file_is,
        a_built_in_monitor_that_is_changed_acts_and_is_saved,
    ];
    trials.push(
        Trial::test("saving::soak_two_hundred_kills", || {
            killed(200);
            Ok(())
        })
        .with_ignored_flag(true),
    );
    trials
}

/// `spec/methods.md` ruling 6: all but the default ones can be changed.
fn a_built_in_monitor_that_is_changed_acts_and_is_saved() {
    let place = Place::new();
    let ip = place.ip();
    let _service = TestService::start(place.service(1), |x| x.answer(204, b""));
    let program =
        Program::launch(&place, &format!("add service s {ip} HTTP 8101\nbind service s -monitorName http\n"));
    assert_eq!(program.field("service", "s", "state"), "DOWN");
    let put = |monitor: Value| program.owner("PUT", "lbmonitor", Some(&json!({"lbmonitor": monitor})));
    let changed = put(json!({"monitorname": "http", "type": "HTTP", "respcode": ["204"]}));
    assert_eq!(changed.0, "HTTP/1.1 200 OK", "{}", changed.1);
    program.wait_for_state("service", "s", "UP");
    for (name, kind) in [("tcp-default", "TCP"), ("ping-default", "PING")] {
        let answer = put(json!({"monitorname": name, "type": kind, "retries": 2})).1;
        assert_eq!(answer["errorcode"], 2139, "{answer}");
    }
    let text = saved(&program);
    assert!(text.contains("set lb monitor http HTTP -respCode 204\n"), "{text}");
    drop(program);
    let program = Program::launch(&place, &text);
    assert_eq!(program.field("service", "s", "state"), "UP", "{text}");
    assert_eq!(saved(&program), text);
}

const CONFIG: &str = "nsconfig";

fn is_changed(program: &Program) -> bool {
    let (status, answer) = program.owner("GET", CONFIG, None);
    assert_eq!(status, "HTTP/1.1 200 OK");
    answer["nsconfig"]["configchanged"].as_bool().unwrap()
}

fn comment(program: &Program, text: &str) {
    let body = json!({"lbvserver": {"name": "v", "comment": text}});
    let (status, answer) = program.owner("PUT", "lbvserver", Some(&body));
    assert_eq!((status.as_str(), &answer["errorcode"]), ("HTTP/1.1 200 OK", &json!(0)), "{answer}");
}

fn save(program: &Program) -> (String, Value) {
    program.owner("POST", "nsconfig?action=save", Some(&json!({"nsconfig": {}})))
}

fn saved(program: &Program) -> String {
    let (status, answer) = save(program);
    assert_eq!((status.as_str(), &answer["message"]), ("HTTP/1.1 200 OK", &json!("Done")), "{answer}");
    fs::read_to_string(program.config_path()).unwrap()
}

fn base(place: &Place) -> String {
    format!("enable ns feature LB\nadd lb vserver v HTTP {} 8000\n", place.ip())
}

fn k12_what_is_saved_survives_and_what_is_not_is_told() {
    let place = Place::new();
    let ip = place.ip();
    let mut program = Program::launch(&place, &base(&place));
    let original = fs::read_to_string(program.config_path()).unwrap();
    assert!(!is_changed(&program));
    // In an order that no file could be read in from top to bottom: the binding's ends are added last at the save.
    for (resource, body) in [
        (
            "lbmonitor",
            json!({"lbmonitor": {"monitorname": "m", "type": "HTTP", "interval": 7, "units3": "SEC"}}),
        ),
        ("server", json!({"server": {"name": "web", "ipaddress": ip}})),
        (
            "service",
            json!({"service": {"name": "s", "servername": "web", "servicetype": "HTTP", "port": 8101}}),
        ),
        (
            "lbvserver_service_binding",
            json!({"lbvserver_service_binding": {"name": "v", "servicename": "s", "weight": "3"}}),
        ),
        (
            "service_lbmonitor_binding",
            json!({"service_lbmonitor_binding": {"name": "s", "monitor_name": "m"}}),
        ),
    ] {
        let (status, answer) = program.owner("POST", resource, Some(&body));
        assert_eq!((status.as_str(), &answer["errorcode"]), ("HTTP/1.1 201 Created", &json!(0)), "{answer}");
        assert!(is_changed(&program));
    }
    assert_eq!(
        fs::read_to_string(program.config_path()).unwrap(),
        original,
        "nothing is written before the save"
    );
    let text = saved(&program);
    assert!(!is_changed(&program));
    let at = |line: &str| text.find(line).unwrap_or_else(|| panic!("{line} is not in {text}"));
    let order = [
        "add server web",
        "add service s web HTTP 8101",
        "add lb vserver v",
        "bind lb vserver v s -weight 3",
    ];
    assert!(order.map(at).is_sorted(), "{text}");
    assert!(at("add lb monitor m HTTP") < at("bind service s -monitorName m"), "{text}");
    comment(&program, "not saved");
    assert!(is_changed(&program));
    program.signal(Signal::KILL);
    assert_eq!(program.exit_code(), None, "killed");
    let again = Program::launch(&place, &text);
    assert!(!is_changed(&again));
    let (_, running) = again.owner("GET", "nsrunningconfig", None);
    let running = running["nsrunningconfig"]["response"].as_str().unwrap();
    assert_eq!(running, text, "running and saved are the same");
    let (_, file) = again.owner("GET", "nssavedconfig", None);
    assert_eq!(file["nssavedconfig"]["textblob"], *text);
    assert_eq!(again.field("service", "s", "name"), "s");
}

fn k12_five_older_copies_are_kept() {
    let place = Place::new();
    let program = Program::launch(&place, &base(&place));
    for n in 0..7 {
        comment(&program, &format!("save {n}"));
        assert!(saved(&program).contains(&format!("save {n}")));
    }
    for (age, n) in [5, 4, 3, 2, 1].into_iter().enumerate() {
        let copy = fs::read_to_string(format!("{}.{age}", program.config_path())).unwrap();
        assert!(copy.contains(&format!("save {n}")), "copy {age}: {copy}");
    }
    assert!(!Path::new(&format!("{}.5", program.config_path())).exists());
}

fn a_kill_at_any_moment_of_a_save_leaves_the_old_or_the_new() {
    killed(10);
}

/// Kills that many times, from the moment when the save is asked for to that when one takes twice as long. Each time the
/// files must be those of before or those of after, with the secret that belongs to them, and serve again.
fn killed(times: u32) {
    let place = Place::new();
    let config = base(&place) + "add lb monitor m HTTP -password first\n";
    let mut program = Program::launch(&place, &config);
    saved(&program);
    comment(&program, "how long one takes");
    let began = Instant::now();
    let mut before = saved(&program);
    let span = began.elapsed();
    let (mut old, mut new) = (0, 0);
    for n in 0..times {
        comment(&program, &format!("kill {n}"));
        let secret =
            json!({"lbmonitor": {"monitorname": "m", "type": "HTTP", "password": format!("secret {n}")}});
        assert_eq!(program.owner("PUT", "lbmonitor", Some(&secret)).0, "HTTP/1.1 200 OK");
        let (_, running) = program.owner("GET", "nsrunningconfig", None);
        let after = running["nsrunningconfig"]["response"].as_str().unwrap().to_owned();
        let asked = program.owner_begins("POST", "nsconfig?action=save", Some(&json!({"nsconfig": {}})));
        // Closer together in the beginning, where the files are written.
        std::thread::sleep(span * 2 * (n * n) / (times * times));
        program.signal(Signal::KILL);
        drop(asked);
        assert_eq!(program.exit_code(), None, "killed");
        let found = fs::read_to_string(program.config_path()).unwrap();
        match &found {
            found if *found == before => old += 1,
            found if *found == after => new += 1,
            _ => panic!("neither the old nor the new after kill {n}: {found}"),
        }
        program = Program::launch(&place, &found);
        assert_eq!(program.errors(), "", "every secret opens, every line is whole");
        assert!(!is_changed(&program));
        before = found;
    }
    eprintln!("killed {times} times: {old} left the old files, {new} the new ones");
}

fn a_full_disk_and_a_read_only_directory_lose_nothing() {
    let place = Place::new();
    let Some(disk) = Disk::new(&place) else { return };
    let program = &disk.program;
    let secret = |word: &str| {
        let body = json!({"lbmonitor": {"monitorname": "m", "type": "HTTP", "password": word}});
        assert_eq!(program.owner_at(&disk.socket(), "PUT", "lbmonitor", Some(&body)).0, "HTTP/1.1 200 OK");
    };
    let save = || program.owner_at(&disk.socket(), "POST", "nsconfig?action=save", None);
    let body = json!({"lbmonitor": {"monitorname": "m", "type": "HTTP"}});
    assert_eq!(program.owner_at(&disk.socket(), "POST", "lbmonitor", Some(&body)).0, "HTTP/1.1 201 Created");
    secret("one");
    assert_eq!(save().0, "HTTP/1.1 200 OK");
    let files = || ["ns.conf", "steelyard.conf"].map(|name| fs::read(disk.folder().join(name)).unwrap());
    let before = files();
    secret("two");
    disk.fill();
    let (status, answer) = save();
    assert_eq!(status, "HTTP/1.1 599 Netscaler specific error");
    assert!(answer["message"].as_str().unwrap().contains("no space left on device"), "{answer}");
    assert!(files() == before, "what was saved is as it was");
    disk.mount("ro");
    let (status, answer) = save();
    assert_eq!(status, "HTTP/1.1 599 Netscaler specific error");
    assert!(answer["message"].as_str().unwrap().contains("read-only file system"), "{answer}");
    assert!(files() == before, "what was saved is as it was");
    disk.mount("rw");
    disk.empty();
    assert_eq!(save().0, "HTTP/1.1 200 OK", "nothing was lost of what runs");
    assert!(files()[1] != before[1]);
    assert_eq!(fs::read(disk.folder().join("ns.conf.0")).unwrap(), before[0]);
}

/// A program whose configuration is on a disk of 64 KiB that only it and this test see.
struct Disk {
    program: Program,
    folder: PathBuf,
}

impl Disk {
    /// `None` where it cannot be made.
    fn new(place: &Place) -> Option<Disk> {
        let mut command = program("unshare")?;
        program("nsenter")?;
        let may = program("unshare")?.args(["--mount", "true"]).output().unwrap().status.success();
        if !may {
            skip("a test with a disk of its own", "mounting is not permitted here: run it as root");
            return None;
        }
        let config = place.file("small.conf", &base(place));
        let folder = Path::new(&config).with_file_name("disk");
        fs::create_dir(&folder).unwrap();
        let script =
            "mount -t tmpfs -o size=64k tmpfs \"$1\" && cp \"$2\" \"$1/ns.conf\" && shift 2 && exec \"$@\"";
        let disk = folder.to_str().unwrap();
        command.args(["--mount", "sh", "-c", script, "sh", disk, &config]);
        let program = Program::launch_by(command, place, &format!("{disk}/ns.conf"), disk);
        Some(Disk { program, folder })
    }

    /// The disk as seen from outside.
    fn folder(&self) -> PathBuf {
        let root = format!("/proc/{}/root", self.program.id());
        Path::new(&root).join(self.folder.strip_prefix("/").unwrap())
    }

    /// A path short enough for a socket.
    fn socket(&self) -> PathBuf {
        self.folder().join("nitro.sock")
    }

    fn fill(&self) {
        let mut size = 64 << 10;
        while size > 0 {
            // What does not fit whole is written in part, until not even a byte does.
            let name = self.folder().join(format!("filler-{size}"));
            size = if fs::write(name, vec![0; size]).is_ok() { size } else { size / 2 };
        }
    }

    fn empty(&self) {
        for entry in fs::read_dir(self.folder()).unwrap() {
            let entry = entry.unwrap();
            if entry.file_name().to_str().unwrap().starts_with("filler-") {
                fs::remove_file(entry.path()).unwrap();
            }
        }
    }

    fn mount(&self, how: &str) {
        let mut command: Command = program("nsenter").unwrap();
        let target = format!("{}", self.program.id());
        let options = format!("remount,{how}");
        command.args(["--target", &target, "--mount", "mount", "-o", &options]);
        let output = command.arg(&self.folder).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
}

fn without_a_file_it_begins_empty_and_saves_into_the_data_directory() {
    let place = Place::new();
    let data = Path::new(&place.file("none", "")).with_file_name("fresh");
    let command = Command::new(crate::program::EXECUTABLE);
    let program = Program::launch_empty(command, &place, data.to_str().unwrap());
    let (_, answer) = program.owner("GET", "nsrunningconfig", None);
    assert_eq!(answer["nsrunningconfig"]["response"], "#NS14.1 Build 51.80\n");
    let body = json!({"server": {"name": "web", "ipaddress": "192.0.2.1"}});
    assert_eq!(program.owner("POST", "server", Some(&body)).0, "HTTP/1.1 201 Created");
    assert_eq!(save(&program).0, "HTTP/1.1 200 OK");
    assert!(fs::read_to_string(data.join("ns.conf")).unwrap().contains("add server web 192.0.2.1\n"));
}

fn what_is_cleared_is_by_level() {
    let place = Place::new();
    let config = base(&place) + "add ns ip 192.0.2.9 255.255.255.0\nadd server web 192.0.2.1\n";
    let program = Program::launch(&place, &config);
    let clear = |level: &str| {
        let body = json!({"nsconfig": {"force": true, "level": level}});
        program.owner("POST", "nsconfig?action=clear", Some(&body))
    };
    assert_eq!(clear("some").1["message"], "Invalid argument value [level]");
    for (level, left) in [("basic", [true, true]), ("extended", [false, true]), ("full", [false, false])] {
        assert_eq!(clear(level).0, "HTTP/1.1 200 OK");
        let (_, answer) = program.owner("GET", "nsrunningconfig", None);
        let text = answer["nsrunningconfig"]["response"].as_str().unwrap();
        assert!(!text.contains("add server") && !text.contains("add lb vserver"), "{level}: {text}");
        let has = ["enable ns feature LB", "add ns ip 192.0.2.9"].map(|line| text.contains(line));
        assert_eq!(has, left, "{level}: {text}");
    }
    wait_for("the virtual server is gone", || program.stat("lbvserver").is_empty());
    assert!(is_changed(&program));
}

fn older_copies_are_compared_by_their_names_and_no_other_file_is() {
    let place = Place::new();
    let program = Program::launch(&place, "enable ns feature LB\nadd server first 192.0.2.1\n");
    for (name, ip) in [("second", "192.0.2.2"), ("third", "192.0.2.3")] {
        let body = json!({"server": {"name": name, "ipaddress": ip}});
        assert_eq!(program.owner("POST", "server", Some(&body)).0, "HTTP/1.1 201 Created");
        assert_eq!(program.owner("POST", "nsconfig?action=save", None).0, "HTTP/1.1 200 OK");
    }
    let diff =
        |object: Value| program.owner("POST", "nsconfig?action=diff", Some(&json!({"nsconfig": object})));
    let response = |object: Value| {
        let (status, answer) = diff(object);
        assert_eq!(status, "HTTP/1.1 200 OK", "{answer}");
        answer["nsconfig"]["response"].as_str().unwrap().to_owned()
    };
    assert_eq!(response(json!({"config1": "ns.conf.0"})), "+ add server third 192.0.2.3\n");
    let both = json!({"config1": "/nsconfig/ns.conf", "config2": "/nsconfig/ns.conf.1"});
    assert_eq!(response(both), "- add server second 192.0.2.2\n- add server third 192.0.2.3\n");
    fs::write(program.data().join("other"), "add server other 192.0.2.9\n").unwrap();
    for name in [
        "ns.conf.4",
        "ns.conf.5",
        "ns.conf.00",
        "ns.confx",
        "/etc/passwd",
        "../data/other",
        "ns.conf.0/../other",
        "",
        "/nsconfig//ns.conf",
    ] {
        let (status, answer) = diff(json!({"config1": name}));
        assert_eq!(
            (status.as_str(), &answer["errorcode"]),
            ("HTTP/1.1 404 Not Found", &json!(1155)),
            "{name}"
        );
    }
    assert_eq!(diff(json!({"config1": 5})).1["errorcode"], 1155);
    assert_eq!(diff(json!({"outtype": "xml"})).1["errorcode"], 301);
}

fn running_and_saved_differ_by_their_lines() {
    let place = Place::new();
    let program = Program::launch(&place, &base(&place));
    let diff = || program.owner("POST", "nsconfig?action=diff", None).1["nsconfig"]["response"].clone();
    assert_eq!(diff(), "");
    let body = json!({"server": {"name": "web", "ipaddress": "192.0.2.1"}});
    assert_eq!(program.owner("POST", "server", Some(&body)).0, "HTTP/1.1 201 Created");
    assert_eq!(
        program.owner("POST", "nsfeature?action=disable", Some(&json!({"nsfeature": {"feature": ["LB"]}}))).0,
        "HTTP/1.1 200 OK"
    );
    assert_eq!(diff(), "- enable ns feature LB\n+ add server web 192.0.2.1\n");
}
