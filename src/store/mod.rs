//! Bytes that outlive the process: run directories, checkpoints, game files, streams. No tensors.
