//! Serial lines.
