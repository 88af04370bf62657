//! Choosing among services: the methods, the tournament tree, the picker, the decision log.
