//! Decisions as the documentation's own table: each request, every service's N and Nw, who tied, who was chosen and
//! why. Values are rounded up to two decimals, as the documentation prints them (`spec/methods.md` 1.1).

use std::fmt::Write as _;

use steelyard_core::balance::{Measures, method, shown_hundredths, shown_weighted_hundredths};

use super::{Answer, Decision, Row};
use crate::columns::align;

/// The whole text. Wide virtual servers get a form that shows the tied set and the chosen service only.
pub fn render(answer: &Answer) -> String {
    let mut out = format!("{}, {}: {}\n", answer.vserver, answer.method, legend(&answer.method));
    if answer.decisions.is_empty() {
        out.push_str("No decision yet.\n");
        return out;
    }
    // Where another method stood in, its values are shown.
    let mut stand_ins: Vec<&str> = answer.decisions.iter().map(|d| d.rule.as_str()).collect();
    stand_ins.sort_unstable();
    stand_ins.dedup();
    for rule in stand_ins.into_iter().filter(|rule| *rule != answer.method) {
        let _ = writeln!(out, "Where {rule} stood in: {}", legend(rule));
    }
    let wide = answer.decisions.iter().map(|d| d.services.len()).max().unwrap_or(0) > COLUMNS;
    // Services may have come or gone between two decisions; each list of names gets a table of its own.
    for run in answer.decisions.chunk_by(|a, b| names(a).eq(names(b))) {
        let rows: Vec<Vec<String>> = if wide {
            std::iter::once(compact_head()).chain(run.iter().map(compact_row)).collect()
        } else {
            std::iter::once(full_head(&run[0])).chain(run.iter().map(full_row)).collect()
        };
        out.push('\n');
        align(&rows, &mut out);
    }
    out
}

fn names(decision: &Decision) -> impl Iterator<Item = &str> {
    decision.services.iter().map(|row| row.name.as_str())
}

fn full_head(decision: &Decision) -> Vec<String> {
    let services =
        decision.services.iter().enumerate().map(|(i, row)| format!("{} {}", i + 1, short(&row.name)));
    let last = ["tied", "choice", "why"].map(str::to_owned);
    std::iter::once("request".to_owned()).chain(services).chain(last).collect()
}

fn full_row(decision: &Decision) -> Vec<String> {
    let cells = decision.services.iter().map(|row| match row.eligible {
        true => cell(&decision.rule, row),
        false => row.why_not.clone().unwrap_or_else(|| "-".to_owned()),
    });
    let last = [tied_numbers(decision, usize::MAX), short(&decision.selected), why(decision)];
    std::iter::once(decision.request.to_string()).chain(cells).chain(last).collect()
}

fn compact_head() -> Vec<String> {
    ["request", "choice", "N (Nw)", "tied", "why"].map(str::to_owned).to_vec()
}

fn compact_row(decision: &Decision) -> Vec<String> {
    let chosen = decision.services.iter().find(|row| row.name == decision.selected);
    let count = format!("{} of {}: ", decision.tied.len(), decision.services.len());
    vec![
        decision.request.to_string(),
        short(&decision.selected),
        chosen.map_or_else(String::new, |row| cell(&decision.rule, row)),
        count + &tied_numbers(decision, TIED_SHOWN),
        why(decision),
    ]
}

/// Positions in the ring, from 1.
fn tied_numbers(decision: &Decision, most: usize) -> String {
    let position = |name: &String| names(decision).position(|n| n == name).map(|i| (i + 1).to_string());
    let mut shown: Vec<String> = decision.tied.iter().filter_map(position).take(most).collect();
    if decision.tied.len() > most {
        shown.push("...".to_owned());
    }
    shown.join(" ")
}

fn why(decision: &Decision) -> String {
    if decision.reason != "method" {
        return decision.reason.clone();
    }
    if decision.tied.len() < 2 {
        return "least".to_owned();
    }
    let last = decision.last_selected.as_ref().and_then(|last| names(decision).position(|n| n == last));
    match last {
        Some(position) => format!("tie: next after {}", position + 1),
        None => "tie: first of the ring".to_owned(),
    }
}

fn short(name: &str) -> String {
    match name.char_indices().nth(NAME_SHOWN) {
        None => name.to_owned(),
        Some(_) => {
            let tail: String =
                name.chars().rev().take(NAME_SHOWN - 5).collect::<Vec<_>>().into_iter().rev().collect();
            name.chars().take(2).collect::<String>() + "..." + &tail
        }
    }
}

/// What a method's values are. One that this program does not know comes from another version: plain numbers.
fn legend(rule: &str) -> String {
    match method(rule) {
        Some(method) if method.measures == Measures::Turns => format!("{} (round)", method.shows),
        Some(method) => format!("N = {} (Nw = N * 10000 / weight)", method.shows),
        None => "N (Nw = N * 10000 / weight)".to_owned(),
    }
}

fn cell(rule: &str, row: &Row) -> String {
    let method = method(rule);
    if method.is_some_and(|method| method.measures == Measures::Turns) {
        return format!("{} ({})", row.metric, row.key);
    }
    let unit = method.map_or(1, |method| method.unit);
    let weighted = shown_weighted_hundredths(row.metric, row.weight, unit);
    format!("{} ({})", decimal(shown_hundredths(row.metric, unit)), decimal(weighted))
}

/// Hundredths with two decimals; a whole number has none.
fn decimal(hundredths: u128) -> String {
    match (hundredths / 100, hundredths % 100) {
        (whole, 0) => whole.to_string(),
        (whole, part) => format!("{whole}.{part:02}"),
    }
}

/// With more services a line would be wider than a terminal.
const COLUMNS: usize = 4;
const TIED_SHOWN: usize = 8;
const NAME_SHOWN: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(request: u64, metrics: &[u64], weights: &[u32], tied: &[usize], selected: usize) -> Decision {
        let name = |i: usize| format!("Service-HTTP-{}", i + 1);
        let row = |(i, (&metric, &weight)): (usize, (&u64, &u32))| Row {
            name: name(i),
            eligible: true,
            why_not: None,
            metric,
            weight,
            key: metric * 10_000 / u64::from(weight),
        };
        Decision {
            request,
            at_us: 0,
            reason: "method".to_owned(),
            rule: "LEASTRESPONSETIME".to_owned(),
            last_selected: Some(name(0)),
            services: metrics.iter().zip(weights).enumerate().map(row).collect(),
            tied: tied.iter().copied().map(name).collect(),
            selected: name(selected),
        }
    }

    fn answer(method: &str, mut decisions: Vec<Decision>) -> Answer {
        decisions.iter_mut().for_each(|d| d.rule = method.to_owned());
        Answer { vserver: "Vserver-LB-1".to_owned(), method: method.to_owned(), decisions }
    }

    #[test]
    fn values_are_rounded_up_to_two_decimals_as_the_documentation_prints_them() {
        let row = |metric, weight| Row {
            name: "s1".to_owned(),
            eligible: true,
            why_not: None,
            metric,
            weight,
            key: 0,
        };
        assert_eq!(cell("LEASTREQUEST", &row(15, 3)), "15 (50000)");
        assert_eq!(cell("LEASTRESPONSETIME", &row(8_000_000, 3)), "8 (26666.67)");
        assert_eq!(cell("LRTM", &row(7_000_000, 3)), "7 (23333.34)");
        assert_eq!(cell("LRTM", &row(1, 100)), "0.01 (0.01)");
        assert_eq!(cell("LEASTBANDWIDTH", &row(5 * 1_750_000, 3)), "5 (16666.67)");
        assert_eq!(cell("LEASTPACKETS", &row(0, 3)), "0 (0)");
        assert_eq!(cell("A METHOD TO COME", &row(3, 1)), "3 (30000)");
    }

    #[test]
    fn three_services_fit_a_terminal() {
        let text = render(&answer(
            "LEASTRESPONSETIME",
            vec![
                decision(999_999, &[6_000_000, 0, 30_500], &[2, 3, 4], &[1], 1),
                decision(1_000_000, &[40_000, 60_000, 80_000], &[2, 3, 4], &[0, 1, 2], 1),
            ],
        ));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|l| l.len() <= 120), "{text}");
        assert_eq!(
            lines[2].split_whitespace().collect::<Vec<_>>(),
            [
                "request",
                "1",
                "Service-HTTP-1",
                "2",
                "Service-HTTP-2",
                "3",
                "Service-HTTP-3",
                "tied",
                "choice",
                "why"
            ]
        );
        assert!(lines[3].contains("6 (30000)") && lines[3].contains("0.04 (76.25)"), "{text}");
        assert!(lines[3].ends_with("2      Service-HTTP-2  least"), "{text}");
        assert!(
            lines[4].contains("0.04 (200)") && lines[4].ends_with("1 2 3  Service-HTTP-2  tie: next after 1")
        );
        let column = |line: &str, text: &str| line.find(text).unwrap();
        assert_eq!(column(lines[2], "tied"), column(lines[4], "1 2 3"));
    }

    #[test]
    fn many_services_get_the_compact_form() {
        let (metrics, weights) = (vec![3u64; 64], vec![1u32; 64]);
        let tied: Vec<usize> = (0..64).collect();
        let text = render(&answer("LEASTCONNECTION", vec![decision(7, &metrics, &weights, &tied, 9)]));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|l| l.len() <= 120), "{text}");
        assert!(lines[3].contains("Service-HTTP-10"), "{text}");
        assert!(lines[3].contains("3 (30000)  64 of 64: 1 2 3 4 5 6 7 8 ...  tie: next after 1"), "{text}");
    }

    #[test]
    fn a_service_that_cannot_be_chosen_says_why_and_other_reasons_are_named() {
        let mut d = decision(1, &[1, 2, 3], &[1, 1, 1], &[0], 0);
        d.services[1].eligible = false;
        d.services[1].why_not = Some("DOWN".to_owned());
        d.reason = "startup round robin".to_owned();
        let text = render(&answer("ROUNDROBIN", vec![d]));
        assert!(text.contains("DOWN") && text.contains("startup round robin"), "{text}");
        assert!(render(&answer("LRTM", Vec::new())).ends_with("No decision yet.\n"));
    }

    #[test]
    fn a_change_of_services_begins_a_new_table() {
        let two = decision(1, &[1, 2], &[1, 1], &[0], 0);
        let three = decision(2, &[1, 2, 3], &[1, 1, 1], &[0], 0);
        let text = render(&answer("LEASTREQUEST", vec![two, three]));
        assert_eq!(text.matches("request ").count(), 2, "{text}");
    }

    #[test]
    fn long_names_keep_their_ends() {
        assert_eq!(short("Service-HTTP-100"), "Service-HTTP-100");
        assert_eq!(short("group?server-name?8080"), "gr...r-name?8080");
    }
}
