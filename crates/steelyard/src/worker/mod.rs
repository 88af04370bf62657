//! One thread per core that carries traffic: sockets in, engine decides, sockets out.
