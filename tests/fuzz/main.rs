//! Every parser against inputs that are made to break it: any bytes, and valid texts and files
//! with parts changed, cut, moved and repeated.
//!
//! A test tries some thousand inputs; `scripts/fuzz.sh` tries as many as it is told to. Besides
//! panics and endless loops, which all targets look for, each states what must hold for what is
//! accepted, and that neither memory nor messages grow beyond the input's size.

mod files;
mod input;
mod limits;
mod protocols;
mod samples;
mod texts;
