//! Model files on this machine: a catalog, a folder that keeps them, and a download that ends verified or not at all.
//!
//! Nothing here loads or runs a model, and nothing that is fetched is executed. No key is ever sent.

mod address;
mod archive;
mod catalog;
mod error;
mod fetch;
mod folder;
mod gguf;
mod http;
mod name;
mod package;
mod private;
mod progress;
mod pull;
mod sum;
#[cfg(test)]
mod testing;
mod wanted;

pub use address::Address;
pub use catalog::{Entry, Package, catalog, entry, suggested};
pub use error::FilesError;
pub use folder::{Found, Model, ModelFolder, Record, Standing, Vouched};
pub use gguf::{Gguf, GgufError};
pub use http::Patience;
pub use name::{ModelName, NoName};
pub use progress::{Progress, Step};
pub use pull::{Offer, Offered, Puller, Ways};
pub use sum::{NoSum, Sum};
pub use wanted::{Wanted, is_path};
