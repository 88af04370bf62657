//! The configuration: one resource per file, struct and attribute rows from one list.
