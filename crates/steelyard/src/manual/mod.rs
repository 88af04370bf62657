//! `steelyard man`: pages of the manual, for `man`: one of the program, one of each of its commands, and one of all
//! commands of NetScaler's command line.
//!
//! Owns names and places of the files. What a page of this program's own says comes from the command line's own definition,
//! what `commands` says from the core's rows.

mod commands;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap_mangen::Man;

use crate::NAME;
use crate::fault::Fault;

/// Which pages.
#[derive(clap::Args)]
pub struct ManArgs {
    /// The page to print: steelyard, steelyard-run and so on, or steelyard-commands.
    #[arg(value_name = "PAGE", default_value = NAME, conflicts_with = "out")]
    page: String,
    /// Write all pages into this directory, which is made where it is not there.
    #[arg(long, value_name = "DIRECTORY")]
    out: Option<PathBuf>,
}

/// A page as `man` reads it.
struct Page {
    name: String,
    /// 1: programs, 7: everything else.
    section: &'static str,
    text: Vec<u8>,
}

/// Prints a page, or writes all.
///
/// # Errors
/// There is no such page, or it cannot be written.
pub fn run(args: &ManArgs, command: clap::Command) -> Result<(), Fault> {
    let pages = pages(command).map_err(|error| Fault::System { what: "write the manual", error })?;
    let Some(out) = &args.out else {
        let page = pages.iter().find(|page| page.name == args.page);
        let page = page.ok_or_else(|| Fault::NoPage {
            name: args.page.clone(),
            known: pages.iter().map(|page| page.name.clone()).collect(),
        })?;
        // A reader that has enough closes the pipe, which is no error.
        let _ = io::stdout().lock().write_all(&page.text);
        return Ok(());
    };
    write(&pages, out).map_err(|(path, error)| Fault::Unwritable { path, error })
}

fn write(pages: &[Page], folder: &Path) -> Result<(), (PathBuf, io::Error)> {
    fs::create_dir_all(folder).map_err(|error| (folder.to_owned(), error))?;
    for page in pages {
        let path = folder.join(format!("{}.{}", page.name, page.section));
        fs::write(&path, &page.text).map_err(|error| (path, error))?;
    }
    Ok(())
}

/// Every page.
fn pages(mut command: clap::Command) -> io::Result<Vec<Page>> {
    command.build();
    let mut pages = vec![page_of(command.clone(), NAME.to_owned())?];
    for of in command.get_subcommands().filter(|of| !of.is_hide_set()) {
        pages.push(page_of(of.clone(), format!("{NAME}-{}", of.get_name()))?);
    }
    pages.push(Page { name: format!("{NAME}-commands"), section: "7", text: commands::page()?.into_bytes() });
    Ok(pages)
}

fn page_of(command: clap::Command, name: String) -> io::Result<Page> {
    let mut text = Vec::new();
    let man = Man::new(command).title(&name).date(NO_DATE).source(SOURCE).manual(MANUAL);
    man.render(&mut text)?;
    Ok(Page { name, section: "1", text })
}

/// What has no date says so by a blank: an empty word would be lost on the way.
const NO_DATE: &str = " ";
/// In the footer of pages.
const SOURCE: &str = concat!("steelyard ", env!("CARGO_PKG_VERSION"));
/// In the middle of the header.
const MANUAL: &str = "Steelyard";
