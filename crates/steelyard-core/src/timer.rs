//! The timer wheel: deadlines of connections and transactions by opaque key.
