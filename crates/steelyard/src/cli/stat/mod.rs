//! `stat`: counters, laid out as the appliance does it.
//!
//! Each page is one request to NITRO's statistics, whatever number of objects it has. What can be counted is one table
//! (`kinds`), what a command asks for is `order`'s, and where every character stands is `page`'s.

mod appliance;
mod kinds;
mod order;
mod page;
mod protocol;
mod traffic;

use std::cmp::Reverse;

use serde_json::Value;
use steelyard_core::command::{Action, Command};

use super::json::{self, Print};
use super::layout::text;
use super::line::{Answer, Said};
use super::screen::Screen;
use super::show::Fields;
use crate::door::{Door, percent_encode};
use kinds::{Form, Objects, Part};
use order::{Order, Sorted};
use page::{Line, Manner};

pub use order::STEP;

/// Pages of counters, one as soon as it is asked for.
pub struct Pages {
    order: Order,
    /// How many are left; no end where that is none.
    left: Option<u32>,
    /// As JSON, printed so.
    print: Option<Print>,
}

impl Pages {
    /// Of an object of the configuration.
    ///
    /// # Errors
    /// What is given cannot be done here.
    pub fn of_command(command: &Command) -> Result<Pages, Said> {
        Order::of_command(command).map(Pages::of)
    }

    /// Of the appliance itself.
    ///
    /// # Errors
    /// Nothing of it is counted here, or what is given means nothing.
    pub fn of_action(action: &Action) -> Result<Pages, Said> {
        Order::of_action(action).map(Pages::of)
    }

    fn of(order: Order) -> Pages {
        let left = (order.times > 0).then_some(order.times);
        Pages { order, left, print: None }
    }

    /// The same as JSON, where that is asked for.
    pub fn printed(self, print: Option<Print>) -> Pages {
        Pages { print, ..self }
    }

    /// Is another one to come after a step?
    pub fn has_more(&self) -> bool {
        self.left != Some(0)
    }

    /// The next one, with the figures of now.
    ///
    /// # Errors
    /// There is nothing of that name, or the program is not reached.
    pub fn next(&mut self, door: &Door, screen: Screen) -> Result<Answer, Said> {
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(1);
        }
        let rows = rows(door, &self.order);
        // What comes after goes on from there.
        self.order.cleared = None;
        let order = &self.order;
        match self.print {
            None => rows.map(|rows| laid_out(rows, order, screen).into()),
            Some(print) => match rows {
                Ok(rows) => Ok(json::answer(as_nitro(rows, order), print)),
                Err(said) => json::refused(said, print),
            },
        }
    }
}

fn laid_out(rows: Vec<Fields>, order: &Order, screen: Screen) -> String {
    let manner = Manner { full_values: order.full_values, columns: screen.columns };
    match &order.kind.form {
        Form::Single(parts) => rows.first().map(|of| single(parts, of, order, manner)).unwrap_or_default(),
        Form::Objects(objects) => match order.name.is_some() || order.detail {
            true => rows.iter().map(|of| one(objects, of, order, manner)).collect(),
            false => all(objects, &rows, manner),
        },
    }
}

/// The rows under their resource's name, as NITRO has them.
fn as_nitro(rows: Vec<Fields>, order: &Order) -> Fields {
    let mut rows = rows.into_iter().map(Value::Object);
    let value = match order.kind.form {
        Form::Single(_) => rows.next().unwrap_or_default(),
        Form::Objects(_) => rows.collect(),
    };
    Fields::from_iter([(order.kind.resource.to_owned(), value)])
}

/// What NITRO tells of it, by one request.
fn rows(door: &Door, order: &Order) -> Result<Vec<Fields>, Said> {
    let resource = order.kind.resource;
    let mut path = format!("/nitro/v1/stat/{resource}");
    let encoded = |name: &str| percent_encode(&percent_encode(name));
    let mut query: Vec<String> = order.cleared.map(|word| format!("clearstats={word}")).into_iter().collect();
    match (&order.name, &order.member) {
        (Some(group), Some(member)) => query.push(format!(
            "args=servicegroupname:{},{}:{},port:{}",
            encoded(group),
            member.by,
            encoded(&member.host),
            member.port
        )),
        (Some(name), None) => path.push_str(&format!("/{}", encoded(name))),
        (None, _) => {}
    }
    if order.name.is_some() || order.detail {
        query.push("statbindings=yes".to_owned());
    }
    if !query.is_empty() {
        path.push_str(&format!("?{}", query.join("&")));
    }
    let body = door.get(&path)?;
    let unread = |_| Said::error(format!("Internal error [{resource}]"));
    let mut answer: Fields = serde_json::from_str(&body).map_err(unread)?;
    let mut rows = match answer.remove(resource) {
        Some(Value::Array(rows)) => {
            let fields = |value| if let Value::Object(fields) = value { Some(fields) } else { None };
            rows.into_iter().filter_map(fields).collect()
        }
        Some(Value::Object(fields)) => vec![fields],
        _ => Vec::new(),
    };
    match &order.member {
        Some(member) if rows.is_empty() => Err(Said::error(format!(
            "No such resource [serviceGroupMember, {}:{}]",
            member.host, member.port
        ))),
        _ => {
            sort(&mut rows, order.sorted);
            Ok(rows)
        }
    }
}

fn sort(rows: &mut [Fields], sorted: Option<Sorted>) {
    let hits = |of: &Fields| text(of, "tothits").parse::<u64>().unwrap_or(0);
    match sorted {
        Some(Sorted::Ascending) => rows.sort_by_key(hits),
        Some(Sorted::Descending) => rows.sort_by_key(|of| Reverse(hits(of))),
        None => {}
    }
}

fn all(objects: &Objects, rows: &[Fields], manner: Manner) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let (title, columns) = objects.all;
    page::table(title, columns, &named(rows, objects.name), manner)
}

fn one(objects: &'static Objects, of: &Fields, order: &Order, manner: Manner) -> String {
    let (title, columns) = objects.one;
    let mut out = page::table(title, columns, &named(std::slice::from_ref(of), objects.name), manner);
    let lines = lines(&objects.counters, order);
    if !lines.is_empty() {
        out.push_str(&page::statistics(objects.counters.title, &lines, of, manner));
        out.push('\n');
    }
    for bound in objects.bound {
        let of_resource = of.get(bound.resource).and_then(Value::as_array).into_iter().flatten();
        let elements: Vec<&Fields> = of_resource.filter_map(Value::as_object).collect();
        let rows: Vec<(String, &Fields)> =
            elements.into_iter().map(|element| (text(element, bound.name), element)).collect();
        out.push_str(&page::rows(bound.columns, &rows, manner));
    }
    out
}

fn single(parts: &'static [Part], of: &Fields, order: &Order, manner: Manner) -> String {
    let mut out = String::new();
    for part in parts {
        let lines = lines(part, order);
        if lines.is_empty() {
            continue;
        }
        out.push('\n');
        out.push_str(&match part.rates {
            true => page::statistics(part.title, &lines, of, manner),
            false => page::values(part.title, &lines, of),
        });
    }
    out
}

/// The lines of a part that are asked for.
fn lines(part: &'static Part, order: &Order) -> Vec<&'static Line> {
    let detail: &[Line] = if order.detail { part.detail } else { &[] };
    part.lines.iter().chain(detail).collect()
}

fn named<'r>(rows: &'r [Fields], name: &str) -> Vec<(String, &'r Fields)> {
    rows.iter().map(|of| (text(of, name), of)).collect()
}
