//! Line protocols that let other programs play against this one, and the reverse.
