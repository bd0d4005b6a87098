//! The options that name a NATS server.

use std::path::PathBuf;

use crate::pipeline::cluster::{LinkError, Login, ServerOptions};

/// A NATS server, by which a learner and its workers speak to each other.
#[derive(clap::Args, Debug)]
pub struct ServerArgs {
    /// The NATS server by which workers on other machines join, such as nats://127.0.0.1:4222; by
    /// default none
    #[arg(long, value_name = "URL")]
    nats: String,
    /// A file with the login at the server: a line USER:PASSWORD, or a NATS credentials file; by
    /// default none
    #[arg(long, value_name = "FILE", requires = "nats")]
    login: Option<PathBuf>,
    /// A file with the certificate of the authority that signed the server's; by default those of the
    /// system
    #[arg(long, value_name = "FILE", requires = "nats")]
    authority: Option<PathBuf>,
}

impl ServerArgs {
    /// The options of a connection.
    ///
    /// # Errors
    ///
    /// The file of the login cannot be read.
    pub fn options(&self) -> Result<ServerOptions, LinkError> {
        Ok(ServerOptions {
            url: self.nats.clone(),
            login: self.login.as_deref().map(Login::read).transpose()?,
            authority: self.authority.clone(),
        })
    }
}
