//! Text to configuration: parse a line, apply it, print it; refusals carry NITRO error codes.
