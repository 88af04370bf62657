//! Sans-I/O probes, one file per type, and the UP/DOWN machine.
