//! What runs left behind, put into tables and documents.

pub mod suite;
