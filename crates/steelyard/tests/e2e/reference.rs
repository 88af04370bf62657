//! NITRO's reference, as the executable has it (`documented.tsv`): which fields each resource has, and of which type.

/// A resource of the reference.
pub struct Reference {
    /// `config` or `stat`.
    pub section: &'static str,
    /// Its name.
    pub resource: &'static str,
    /// Its fields.
    pub fields: Vec<Field>,
}

/// A field of the reference. What it does not say is empty.
#[derive(Clone, Copy)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// `String`, `Double[]` ...
    pub kind: &'static str,
    /// May it be given?
    pub settable: bool,
    /// `ON, OFF`, `1..65535`.
    pub values: &'static str,
    /// What it is where it was not given.
    pub default: &'static str,
}

/// All of it.
pub fn reference() -> Vec<Reference> {
    let mut all: Vec<Reference> = Vec::new();
    for line in include_str!("../../src/nitro/documented.tsv").lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        let column = |nth: usize| columns.get(nth).copied().unwrap_or_default();
        match column(0) {
            "" => all.last_mut().unwrap().fields.push(Field {
                name: column(1),
                kind: column(2),
                settable: column(3) == "rw",
                values: column(4),
                default: column(5),
            }),
            section => all.push(Reference { section, resource: column(1), fields: Vec::new() }),
        }
    }
    all
}

/// One resource under `config`.
pub fn of_config(resource: &str) -> Reference {
    let found = reference().into_iter().find(|r| r.section == "config" && r.resource == resource);
    found.unwrap_or_else(|| panic!("{resource} is not in the reference"))
}
