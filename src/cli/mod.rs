//! One file per verb.

pub mod audit;
