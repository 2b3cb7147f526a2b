//! Runs programs on a GPU. An IR program becomes CUDA C ([`Source`]), which is compiled at run time and searched by kernels.

mod bounds;
mod source;
mod unsupported;

pub use source::{MOST_BITS, MOST_RULES, Source};
pub use unsupported::Unsupported;
