//! What haproxy and nginx did with the rows of the conformance tables, by the same verdicts: their columns were recorded once,
//! in the notation of the tables' README. README shows the totals; this compares them.

use libtest_mimic::Trial;

use super::verdict::{Row, rows};

pub fn trials() -> Vec<Trial> {
    trials![the_readme_has_the_totals_beside_haproxy_and_nginx]
}

/// Table, what is expected at which level, and the words of README.
const LINES: [(&str, &str, &str); 6] = [
    ("requests", "forward must", "requests that must be sent on"),
    ("requests", "reject must", "requests that must be refused"),
    ("requests", "reject should", "requests that should be refused"),
    ("requests", "either", "requests with a choice, if it is done cleanly"),
    ("responses", "", "answers: relayed, 502, 504 or visibly cut"),
    ("pairs", "", "several requests on a connection, none too many"),
];

fn the_readme_has_the_totals_beside_haproxy_and_nginx() {
    let mut lines = Vec::new();
    let mut total = [0; 3];
    for (table, expected, words) in LINES {
        let of_line = |row: &&Row| {
            table == "pairs" || format!("{} {}", row["expected"], row["level"]).starts_with(expected)
        };
        let rows = rows(table);
        let rows: Vec<&Row> = rows.iter().filter(of_line).collect();
        let right = |proxy: &str| rows.iter().filter(|row| is_right(table, row, &row[proxy])).count();
        let line = [rows.len(), right("haproxy"), right("nginx")];
        (0..3).for_each(|column| total[column] += line[column]);
        lines.push(shown(words, line));
    }
    lines.push(shown("all", total));
    let readme = include_str!("../../../../README.md");
    assert!(readme.contains(&lines.join("\n")), "README lacks these lines:\n{}", lines.join("\n"));
}

/// Each row is a test of its own here, and all of them pass in a green run.
fn shown(words: &str, [all, haproxy, nginx]: [usize; 3]) -> String {
    format!("| {words} | {all} | {all} | {haproxy} | {nginx} |")
}

fn is_right(table: &str, row: &Row, seen: &str) -> bool {
    match table {
        "requests" => is_right_request(row, seen),
        "responses" => is_right_response(row, seen),
        _ => is_right_pair(row, seen),
    }
}

/// `rejected:STATUS`, `forwarded:n=K,...`, `forwarded-normalised:n=K,...`. A chunk or a trailer outside the grammar that was
/// sent on (`RAWCHUNK`), and a body that is another at the service (`BODYDIFF`), are wrong wherever sending on is not.
fn is_right_request(row: &Row, seen: &str) -> bool {
    let forwarded = seen.starts_with("forwarded");
    let spoiled = seen.contains("RAWCHUNK") || seen.contains("BODYDIFF");
    match row["expected"].as_str() {
        "forward" => forwarded && !spoiled,
        "reject" => !forwarded,
        _ => !forwarded || !(spoiled || row["note"].contains("never complete it at the server")),
    }
}

/// `relayed:`, `rejected:`, `cut:` and so on, then what went out, then how the next request on the connection went.
fn is_right_response(row: &Row, seen: &str) -> bool {
    let (kind, rest) = seen.split_once(':').unwrap();
    if rest.contains("next=no-second-answer")
        || matches!(kind, "relayed-malformed" | "relayed+junk" | "silent")
    {
        return false;
    }
    let answered = |status: &str| kind == "rejected" && rest.contains(&format!("{status}/"));
    match row["expected"].as_str() {
        "relay" => kind == "relayed",
        "502" => answered("502"),
        "504" => answered("504"),
        // The client sees that it is not whole: 502 while nothing was sent, else an end before the end.
        "close" => answered("502") || matches!(kind, "cut" | "closed-silent" | "interim-only"),
        _ => true,
    }
}

/// `forwarded:n=K VIEWS client=STATUSES`: no more than may arrive, no less than must, and those that are listed.
fn is_right_pair(row: &Row, seen: &str) -> bool {
    let (_, rest) = seen.split_once("n=").unwrap();
    let (count, rest) = rest.split_once(' ').unwrap();
    let (views, _) = rest.split_once(" client=").unwrap();
    let count: usize = count.parse().unwrap();
    let (min, max): (usize, usize) =
        (row["min_requests"].parse().unwrap(), row["max_requests"].parse().unwrap());
    let listed = row["server_view"].replace(" (optional)", "").replace("http://other.test", "");
    let views: Vec<&str> = views.split("; ").filter(|view| *view != "-").collect();
    let same = views.iter().zip(listed.split("; ")).all(|(seen, listed)| *seen == listed);
    (min..=max).contains(&count) && views.len() == count && same
}
