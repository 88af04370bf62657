//! FTP probes against scripted servers.

use super::super::Verdict;
use super::*;

fn probe(user: &str, password: Option<&str>, file: Option<&str>, sense: Sense) -> FtpProbe {
    let password = password.map(|password| Plain::new(password.to_owned()));
    FtpProbe::new(Arc::new(LogIn::new(user, password, file)), sense)
}

/// Plays a server that says each of these after the command before it, in pieces of `cut` bytes, 1 ms between replies.
/// What was sent, and the result if there was one.
fn play(mut probe: FtpProbe, replies: &[&str], cut: usize) -> (String, Option<ProbeResult>) {
    let mut sent = String::new();
    assert_eq!(probe.opened(Time::from_us(0)), Step::Wait);
    for (nth, reply) in (1u64..).zip(replies) {
        let now = Time::from_us(1_000 * nth);
        for piece in reply.as_bytes().chunks(cut) {
            match probe.received(piece, now) {
                Step::Wait => {}
                Step::Send(bytes) => {
                    sent += std::str::from_utf8(&bytes).unwrap();
                    probe.sent(now);
                }
                Step::Farewell(bytes, result) => {
                    assert_eq!(bytes, b"QUIT\r\n");
                    return (sent, Some(result));
                }
                Step::Done(result) => return (sent, Some(result)),
                step => panic!("{step:?}"),
            }
        }
    }
    (sent, None)
}

fn result(probe: FtpProbe, replies: &[&str]) -> ProbeResult {
    play(probe, replies, 1_000).1.expect("a result")
}

const WELCOME: &str = "220 hello\r\n";
const MORE: &str = "331 Please specify the password.\r\n";
const IN: &str = "230 Login successful.\r\n";

#[test]
fn a_log_in_is_timed_from_user_to_its_last_reply() {
    for cut in [1, 3, 1_000] {
        let (sent, result) =
            play(probe("u", Some("p w"), None, Sense::Direct), &["120 soon\r\n", WELCOME, MORE, IN], cut);
        assert_eq!(sent, "USER u\r\nPASS p w\r\n");
        let result = result.unwrap();
        // USER went at 2 ms, 230 came at 4 ms.
        assert_eq!((result.verdict, result.response_us), (Verdict::Success, Some(2_000)));
        assert_eq!(result.to_string(), "Success - reply to PASS: 230 Login successful.");
    }
}

#[test]
fn a_user_without_a_password_is_in_at_once_and_nobody_is_anonymous() {
    let (sent, result) = play(probe("u", Some("p"), None, Sense::Direct), &[WELCOME, IN], 2);
    assert_eq!((sent.as_str(), result.unwrap().response_us), ("USER u\r\n", Some(1_000)));
    let (sent, _) = play(probe("", None, None, Sense::Direct), &[WELCOME, MORE, IN], 2);
    assert_eq!(sent, "USER anonymous\r\nPASS guest@\r\n");
    let (sent, result) = play(probe("u", None, None, Sense::Direct), &[WELCOME, MORE, "202 ok\r\n"], 2);
    assert_eq!((sent.as_str(), result.unwrap().verdict), ("USER u\r\nPASS \r\n", Verdict::Success));
}

#[test]
fn every_reply_that_lets_nobody_in_is_a_failure_that_names_it() {
    let cases: [(&[&str], &str); 8] = [
        (&["421 Too many users\r\n"], "FTP greeting: 421 Too many users"),
        (&["530 no\r\n"], "FTP greeting: 530 no"),
        (&[WELCOME, "332 Need account\r\n"], "reply to USER: 332 Need account"),
        (&[WELCOME, "530 no\r\n"], "reply to USER: 530 no"),
        (&[WELCOME, MORE, "530 Login incorrect.\r\n"], "reply to PASS: 530 Login incorrect"),
        (&[WELCOME, MORE, "332 Need account\r\n"], "reply to PASS: 332 Need account"),
        (&[WELCOME, MORE, "150 what\r\n"], "reply to PASS: 150 what"),
        (&[WELCOME, MORE, "421\r\n"], "reply to PASS: 421"),
    ];
    for (replies, said) in cases {
        let result = result(probe("u", Some("secret"), None, Sense::Direct), replies);
        assert_eq!(result.to_string(), format!("Failure - {said}."));
        assert_eq!(result.response_us, None);
    }
}

#[test]
fn m20_replies_of_several_lines_are_one_answer() {
    let long = "220-Welcome\r\n Second line\r\n234 not the end of this reply\r\n220 ready\r\n";
    let into = "230-\r\n230-530 no\r\n530 not the end\r\n230 in\r\n";
    for cut in [1, 5, 1_000] {
        let (sent, result) = play(probe("u", Some("p"), None, Sense::Direct), &[long, MORE, into], cut);
        assert_eq!(sent, "USER u\r\nPASS p\r\n");
        assert_eq!(result.unwrap().to_string(), "Success - reply to PASS: 230 in.");
    }
}

#[test]
fn m22_a_reply_that_never_ends_is_a_failure_at_the_time_out() {
    let mut silent = probe("u", Some("p"), None, Sense::Direct);
    for (bytes, said) in [("", "FTP greeting"), (WELCOME, "reply to USER"), (MORE, "reply to PASS")] {
        silent.received(bytes.as_bytes(), Time::from_us(5));
        let result = silent.timed_out(Stage::Response);
        assert_eq!(result.to_string(), format!("Failure - time out while waiting for the {said}."));
    }
    assert_eq!(silent.received(b"553-\r\n553- excluded\r\n150 opening\r\n", Time::from_us(6)), Step::Wait);
    assert_eq!(silent.timed_out(Stage::Response).verdict, Verdict::Failure);
    assert_eq!(silent.closed().verdict, Verdict::Failure);
}

#[test]
fn ftp_extended_asks_for_the_size_of_the_file_in_binary() {
    let ask = |last: &str| {
        let probe = probe("u", Some("p"), Some("pub/a file.bin"), Sense::Direct);
        play(probe, &[WELCOME, MORE, IN, "200 binary\r\n", last], 4)
    };
    let (sent, there) = ask("213 1024\r\n");
    assert_eq!(sent, "USER u\r\nPASS p\r\nTYPE I\r\nSIZE pub/a file.bin\r\n");
    let there = there.unwrap();
    // The log-in took from 1 ms to 3 ms; the file is not in the time.
    assert_eq!((there.verdict, there.response_us), (Verdict::Success, Some(2_000)));
    let (_, gone) = ask("550 Could not get file size.\r\n");
    let said = "Failure - the file is not there, reply to SIZE: 550 Could not get file size.";
    assert_eq!(gone.unwrap().to_string(), said);
    let (_, unknown) = ask("502 not implemented\r\n");
    assert_eq!(unknown.unwrap().to_string(), "Failure - reply to SIZE: 502 not implemented.");
    let refused =
        result(probe("u", Some("p"), Some("f"), Sense::Direct), &[WELCOME, IN, "504 no binary\r\n"]);
    assert_eq!(refused.to_string(), "Failure - reply to TYPE: 504 no binary.");
}

/// Whatever of it is not one command is never sent.
#[test]
fn no_option_can_be_a_second_command() {
    for (user, password, file, said) in [
        ("u\r\nDELE x", "p", None, "-userName has a line break"),
        ("u\n", "p", None, "-userName has a line break"),
        ("u", "p\rSTOR", None, "-password has a line break"),
        ("u\0", "p", None, "-userName has a line break"),
        ("u", "p", Some("f\nDELE f"), "-fileName has a line break"),
        ("u", "p", Some(""), "there is no -fileName"),
    ] {
        let mut probe = probe(user, Some(password), file, Sense::Direct);
        let Step::Done(result) = probe.opened(Time::from_us(1)) else { panic!("{said}") };
        assert_eq!(result.to_string(), format!("Failure - nothing was asked: {said}."));
    }
}

#[test]
fn what_is_not_ftp_fails_at_once() {
    for (bytes, what) in [
        ("SSH-2.0-OpenSSH_9\r\n", "a line without a reply code"),
        ("220 a\r\n230 before it was asked\r\n", "more than one reply at a time"),
        ("220 a\r\n2", "more than one reply at a time"),
    ] {
        let result = result(probe("u", Some("p"), None, Sense::Direct), &[bytes]);
        assert_eq!(result.to_string(), format!("Failure - invalid FTP: {what}."));
    }
    let endless = "220-x\r\n".repeat(20_000);
    assert_eq!(result(probe("u", None, None, Sense::Direct), &[&endless]).verdict, Verdict::Failure);
}

/// Not documented for FTP; as for HTTP, the answer is turned around, and no answer is a failure either way.
#[test]
fn reverse_turns_the_answer_around() {
    let reverse = || probe("u", Some("p"), None, Sense::Reverse);
    let good = result(reverse(), &[WELCOME, MORE, IN]);
    assert_eq!((good.verdict, good.response_us), (Verdict::Failure, None));
    let bad = result(reverse(), &[WELCOME, MORE, "530 no\r\n"]);
    assert_eq!((bad.verdict, bad.response_us), (Verdict::Success, None));
    assert_eq!(result(reverse(), &["421 full\r\n"]).verdict, Verdict::Failure);
    assert_eq!(reverse().closed().verdict, Verdict::Failure);
    assert_eq!(reverse().timed_out(Stage::Connect).verdict, Verdict::Failure);
}

#[test]
fn a_password_is_in_no_text() {
    let probe = probe("u", Some("secret"), None, Sense::Direct);
    assert!(!format!("{:?}", probe.log_in).contains("secret"));
}

proptest::proptest! {
    #[test]
    fn any_server_and_any_cut_give_one_verdict(
        replies in proptest::collection::vec(proptest::prop_oneof![
            "(120|220|230|331|332|530|200|213|550)[ -][ -~]{0,12}\r\n",
            "220-[ -~]{0,9}\r\n[ -~]{0,9}\r\n220 x\r\n",
            "[ -~]{0,20}\r\n",
        ], 1..8),
        file in proptest::option::of("[ -~]{1,9}"),
        cut in 1usize..30,
    ) {
        let replies: Vec<&str> = replies.iter().map(String::as_str).collect();
        let ask = |cut| play(probe("u", Some("p"), file.as_deref(), Sense::Direct), &replies, cut);
        let (sent, whole) = ask(1_000);
        proptest::prop_assert_eq!(ask(cut), (sent.clone(), whole.clone()));
        for line in sent.split_terminator("\r\n") {
            proptest::prop_assert!(["USER u", "PASS p", "TYPE I"].contains(&line) || line.starts_with("SIZE "), "{}", line);
        }
        let is_in = sent.starts_with("USER u\r\n") && replies.iter().any(|r| r.contains("230") || r.contains("202"));
        proptest::prop_assert!(is_in || whole.is_none_or(|result| result.verdict != Verdict::Success));
    }
}
