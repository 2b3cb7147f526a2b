//! Programs as text: to be inspected, kept as test data, and read back exactly.
//!
//! Everything is a parenthesised list that begins with a word; `;` starts a comment. Ids carry a mark: `t0` a type, `f0` a function, `p0` a property, `r0`
//! a register, `!0` a fault. A place is `(state 12 …)`, `(frame 0 …)` or `(ref0 4 …)`, its offset followed by its indices `(value stride count !fault)`.
//!
//! ```
//! use wayfarer_ir::{text, verify};
//!
//! let counter = r#"(program "counter" (words 1)
//!   (type t0 (scalar (bits 2) (low 0) (count 4)))
//!   (variable "x" t0 (offset 0) (at 1 1))
//!   (start "zero" (at 2 1) (guard (registers 0) 1) (command (registers 0) (frame 0)))
//!   (rule "step" (at 3 1) (guard (registers 0) 1)
//!     (command (registers 0) (frame 0)
//!       (store 2 (state 0) (add (load 2 (state 0)) 1)))))"#;
//! let program = text::read(counter).unwrap();
//! assert!(verify(&program).is_empty());
//! assert_eq!(text::read(&text::print(&program)), Ok(program));
//! ```

mod items;
mod lists;
mod print;
mod read;
mod read_code;

pub use lists::ReadError;
pub use print::print;
pub use read::read;
