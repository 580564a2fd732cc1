//! Factorisations of the operators of robots and of the equalities in them.

pub(crate) mod factor;
