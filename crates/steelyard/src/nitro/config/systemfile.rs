//! `systemfile`: certificates, keys and scripts that clients put, read and remove (`spec/nitro.md` 9, ruling 3).
//!
//! Owns what a request names; which folders and names there are, `files` says. An error tells of no content.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::{Method, StatusCode};
use serde_json::{Map, Value};

use crate::auth::DONE;
use crate::fault::reason;
use crate::files::{CERTIFICATES, Entry, Folders, NAME_BYTES, Refused, is_scripts};
use crate::listing::quoted;
use crate::nitro::change::{Asked, Objects};
use crate::nitro::query::Query;
use crate::nitro::reply::{Failure, Reply};
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;
use crate::nitro::session::{for_superusers, permitted};
use crate::state::State;

/// The files of a folder, or one with what is in it.
pub async fn systemfile(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let named = Named::of_query(wanted.id, wanted.query);
    let (folders, folder, name) = (wanted.state.folders().clone(), named.folder.clone(), named.name.clone());
    let read = move || match name {
        Some(name) => folders.read(&folder, &name).map(|(entry, contents)| vec![(entry, Some(contents))]),
        None => folders.list(&folder).map(|all| all.into_iter().map(|entry| (entry, None)).collect()),
    };
    let found = aside(read).await.map_err(|refused| named.failure(&refused))?;
    let row = |(entry, contents): (Entry, Option<Vec<u8>>)| row(wanted.row(), &named, &entry, contents);
    Ok(found.into_iter().map(row).collect())
}

/// POST puts a new file, DELETE removes one.
pub async fn change(asked: &Asked<'_>, state: &State) -> Reply {
    let changed = match *asked.method {
        Method::POST => add(asked, state).await.map(|()| Reply::created()),
        Method::DELETE => remove(asked, state).await.map(|()| Reply::done()),
        _ => Err(Reply::wrong_verb("GET, POST, DELETE")),
    };
    changed.unwrap_or_else(|reply| reply)
}

async fn add(asked: &Asked<'_>, state: &State) -> Result<(), Reply> {
    let Objects::One(object) = asked.sent.objects(asked.resource)? else {
        return Err(bad(1233, "Invalid JSON input [one file at a time]"));
    };
    let named = Named { folder: folder(text(&object, "filelocation")?), name: text(&object, "filename")? };
    let name = named.name()?;
    let contents = text(&object, "filecontent")?.ok_or_else(|| missing("fileContent"))?;
    if text(&object, "fileencoding")?.is_some_and(|encoding| !encoding.eq_ignore_ascii_case("BASE64")) {
        return Err(bad(1097, "Invalid argument value [fileEncoding, BASE64]"));
    }
    if let Some(unknown) = object.keys().find(|key| !FIELDS.contains(&key.to_ascii_lowercase().as_str())) {
        return Err(Reply::netscaler_error(278, &format!("Invalid argument [{unknown}]")));
    }
    // Some tools break lines of base64.
    let contents: String = contents.split_ascii_whitespace().collect();
    let contents =
        STANDARD.decode(contents).map_err(|_| bad(1097, "Invalid argument value [fileContent]"))?;
    let folder = named.folder.clone();
    carry_out("add", &named, asked, state, move |folders| folders.add(&folder, &name, &contents)).await
}

async fn remove(asked: &Asked<'_>, state: &State) -> Result<(), Reply> {
    let named = Named::of_query(asked.id, asked.query);
    let (folder, name) = (named.folder.clone(), named.name()?);
    carry_out("rm", &named, asked, state, move |folders| folders.remove(&folder, &name)).await
}

/// Does it if who asks may, and notes it down.
async fn carry_out(
    verb: &str,
    named: &Named,
    asked: &Asked<'_>,
    state: &State,
    work: impl FnOnce(Folders) -> Result<(), Refused> + Send + 'static,
) -> Result<(), Reply> {
    let name = named.name.as_deref().unwrap_or_default();
    let command = format!("{verb} system file {} -fileLocation {}", quoted(name), quoted(&named.folder));
    let may = permitted(state, asked.who, &command).and_then(|()| match is_scripts(&named.folder) {
        true => for_superusers(state, asked.who),
        false => Ok(()),
    });
    if let Err(failure) = may {
        state.auth().note(asked.who, &command, &failure.text);
        return Err(failure.into());
    }
    let folders = state.folders().clone();
    let done = aside(move || work(folders)).await.map_err(|refused| named.failure(&refused));
    state.auth().note(asked.who, &command, done.as_ref().map_or_else(|failure| &*failure.text, |()| DONE));
    done.map_err(Reply::from)
}

/// What a request names.
struct Named {
    folder: String,
    name: Option<String>,
}

impl Named {
    fn of_query(id: Option<&str>, query: Query<'_>) -> Named {
        let args = query.pairs("args");
        let arg =
            |name: &str| args.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, v)| v.clone());
        Named { folder: folder(arg("filelocation")), name: id.map(str::to_owned).or_else(|| arg("filename")) }
    }

    /// The name, where neither it nor the folder is longer than in the reference.
    fn name(&self) -> Result<String, Reply> {
        let name = self.name.clone().ok_or_else(|| missing("fileName"))?;
        let refused = match (name.len(), self.folder.len()) {
            (..=NAME_BYTES, ..=FOLDER_BYTES) => return Ok(name),
            (..=NAME_BYTES, _) => Refused::Folder,
            _ => Refused::LongName,
        };
        Err(self.failure(&refused).into())
    }

    fn failure(&self, refused: &Refused) -> Failure {
        let name = self.name.as_deref().unwrap_or_default();
        let netscaler = StatusCode::from_u16(599).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let (status, code, text) = match refused {
            Refused::Nowhere => {
                (StatusCode::FORBIDDEN, 257, "Operation not permitted [nothing is kept here]".to_owned())
            }
            Refused::Folder => {
                (StatusCode::FORBIDDEN, 257, "Operation not permitted [fileLocation]".to_owned())
            }
            Refused::Name => (StatusCode::BAD_REQUEST, 1097, "Invalid argument value [fileName]".to_owned()),
            Refused::LongName => (
                StatusCode::BAD_REQUEST,
                1106,
                format!("String length exceeds maximum [fileName, {NAME_BYTES}]"),
            ),
            Refused::Missing => (StatusCode::NOT_FOUND, 1155, format!("No such file [fileName, {name}]")),
            Refused::Exists => {
                (StatusCode::CONFLICT, 273, format!("Resource already exists [fileName, {name}]"))
            }
            Refused::NoFile => (netscaler, 1156, "Not a file".to_owned()),
            Refused::TooLarge => (netscaler, 283, "File too large".to_owned()),
            Refused::TooMany => (netscaler, 1072, "Maximum resource limit reached".to_owned()),
            Refused::Io(error) => (netscaler, 1190, format!("File operation failed [{}]", reason(error))),
        };
        Failure { status, code, text }
    }
}

fn row(mut row: Row, named: &Named, entry: &Entry, contents: Option<Vec<u8>>) -> Row {
    row.text("filename", &*entry.name).text("filelocation", &*named.folder);
    if let Some(contents) = contents {
        row.text("filecontent", STANDARD.encode(contents)).text("fileencoding", "BASE64");
    }
    row.text("fileaccesstime", entry.accessed.text())
        .text("filemodifiedtime", entry.modified.text())
        .number("filesize", entry.size);
    if entry.is_folder {
        row.texts("filemode", ["DIRECTORY".to_owned()]);
    }
    row
}

/// Where an appliance looks unless it is told where.
fn folder(given: Option<String>) -> String {
    given.unwrap_or_else(|| CERTIFICATES.to_owned())
}

fn text(object: &Map<String, Value>, name: &str) -> Result<Option<String>, Reply> {
    match object.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)) {
        None | Some((_, Value::Null)) => Ok(None),
        Some((_, Value::String(text))) => Ok(Some(text.clone())),
        Some(_) => Err(bad(1234, &format!("Invalid JSON data type [{name}]"))),
    }
}

/// On a thread that may wait for a disk.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refused> + Send + 'static,
) -> Result<T, Refused> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(Refused::Io(error.into())))
}

fn missing(argument: &str) -> Reply {
    bad(1095, &format!("Required argument missing [{argument}]"))
}

fn bad(code: u32, text: &str) -> Reply {
    Reply::error(StatusCode::BAD_REQUEST, code, text)
}

/// As in the reference.
const FOLDER_BYTES: usize = 127;
/// What the body of a POST may have.
const FIELDS: &[&str] = &["filename", "filecontent", "filelocation", "fileencoding"];
