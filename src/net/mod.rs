//! Networks: the tower, its inference copies, and the optimiser. Knows no search.
