//! Tests of what runs on a device, without one: generated source is compiled as C++ where a compiler is there.

mod agreement;
mod device;
mod emulated;
mod generated;
mod harness;
mod models;
mod searches;
