//! Model files on this machine: a catalog, a folder of installed models, and resumable, verified downloads.
//!
//! Nothing here loads or runs a model, nothing downloaded is executed, and no API key is ever sent.

mod archive;
mod catalog;
mod checksum;
mod download;
mod error;
mod folder;
mod gguf;
mod http;
mod name;
mod private;
mod pull;
#[cfg(test)]
mod testing;
mod url;
mod wanted;

pub use catalog::{Archive, Entry, catalog, entry, suggested};
pub use checksum::Checksum;
pub use download::{Progress, Step};
pub use error::FilesError;
pub use folder::{FileState, Found, Model, ModelFolder, Record};
pub use gguf::{Gguf, GgufError};
pub use http::DownloadLimits;
pub use name::ModelName;
pub use pull::{Offer, Offered, Puller};
pub use url::FileUrl;
pub use wanted::{Location, Wanted, is_path};
