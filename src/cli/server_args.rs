//! The options that name a NATS server, by which a learner and its workers speak to each other.

use std::path::PathBuf;

use crate::pipeline::cluster::{LinkError, Login, ServerOptions};

/// How to log in at the server.
#[derive(clap::Args, Debug)]
pub struct LoginArgs {
    /// A file with the login at the server: a line USER:PASSWORD, or a NATS credentials file; by
    /// default none
    #[arg(long, value_name = "FILE", requires = "nats")]
    login: Option<PathBuf>,
    /// A file with the certificate of the authority that signed the server's; by default those of the
    /// system
    #[arg(long, value_name = "FILE", requires = "nats")]
    authority: Option<PathBuf>,
}

impl LoginArgs {
    /// The options of a connection to the server at `url`.
    ///
    /// # Errors
    ///
    /// The file of the login cannot be read.
    pub fn options(&self, url: &str) -> Result<ServerOptions, LinkError> {
        Ok(ServerOptions {
            url: url.into(),
            login: self.login.as_deref().map(Login::read).transpose()?,
            authority: self.authority.clone(),
        })
    }
}
