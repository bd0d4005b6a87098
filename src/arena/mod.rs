//! Matches between players of any kind, and their ratings.
