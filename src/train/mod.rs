//! Learning from self-play: actors, the replay window, and the learner.
