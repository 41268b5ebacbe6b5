//! Module to canonical text.
