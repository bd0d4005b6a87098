//! What a net file says about its net besides the weights.

use serde::{Deserialize, Serialize};

use super::plan::NetSpec;
use crate::game::Goal;

/// A net as a file describes it: enough to build it and to know what it is for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Description {
    /// Its board and its parts.
    #[serde(flatten)]
    pub spec: NetSpec,
    /// Which score it strives for.
    #[serde(with = "goal_name")]
    pub goal: Goal,
    /// Positions of self-play that were made before it.
    pub positions: u64,
    /// Learning steps that it was made by.
    pub steps: u64,
}

mod goal_name {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use crate::game::Goal;

    pub fn serialize<S: Serializer>(goal: &Goal, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(goal.name())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Goal, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
