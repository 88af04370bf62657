//! Why a request is answered by the proxy itself: one enum for all protocols that have status codes.

/// A final answer of our own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The request breaks the protocol.
    BadRequest,
    /// The request did not arrive in time.
    RequestTimeout,
    /// The request target is too long.
    TargetTooLong,
    /// An expectation that nobody can meet.
    ExpectationFailed,
    /// The head is too large or has too many fields.
    HeadTooLarge,
    /// A method or transfer coding that is not carried.
    NotImplemented,
    /// A major version that is not spoken.
    VersionNotSupported,
    /// No service gave a valid answer.
    BadGateway,
    /// No service of the virtual server is UP.
    Unavailable,
    /// A service did not answer in time.
    GatewayTimeout,
}

impl Refusal {
    /// The status code (RFC 9110 section 15, RFC 6585).
    pub fn status(self) -> u16 {
        match self {
            Refusal::BadRequest => 400,
            Refusal::RequestTimeout => 408,
            Refusal::TargetTooLong => 414,
            Refusal::ExpectationFailed => 417,
            Refusal::HeadTooLarge => 431,
            Refusal::NotImplemented => 501,
            Refusal::BadGateway => 502,
            Refusal::Unavailable => 503,
            Refusal::GatewayTimeout => 504,
            Refusal::VersionNotSupported => 505,
        }
    }

    /// The reason phrase.
    pub fn reason(self) -> &'static str {
        match self {
            Refusal::BadRequest => "Bad Request",
            Refusal::RequestTimeout => "Request Timeout",
            Refusal::TargetTooLong => "URI Too Long",
            Refusal::ExpectationFailed => "Expectation Failed",
            Refusal::HeadTooLarge => "Request Header Fields Too Large",
            Refusal::NotImplemented => "Not Implemented",
            Refusal::BadGateway => "Bad Gateway",
            Refusal::Unavailable => "Service Unavailable",
            Refusal::GatewayTimeout => "Gateway Timeout",
            Refusal::VersionNotSupported => "HTTP Version Not Supported",
        }
    }

    /// One sentence for the person who reads the answer.
    pub fn sentence(self) -> &'static str {
        match self {
            Refusal::BadRequest => "The request is not valid.",
            Refusal::RequestTimeout => "The request did not arrive in time.",
            Refusal::TargetTooLong => "The address in the request is too long.",
            Refusal::ExpectationFailed => "The expectation in the request can not be met.",
            Refusal::HeadTooLarge => "The header of the request is too large.",
            Refusal::NotImplemented => "The method or transfer coding of the request is not supported.",
            Refusal::BadGateway => "The service did not give a valid answer.",
            Refusal::Unavailable => "No service is available.",
            Refusal::GatewayTimeout => "The service did not answer in time.",
            Refusal::VersionNotSupported => "The protocol version of the request is not supported.",
        }
    }
}
