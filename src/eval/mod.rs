//! Estimates of the final disc difference, without search.
