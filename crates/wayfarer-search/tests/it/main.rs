//! The searches and stores against brute force on explicit graphs.

mod audit;
mod crews;
mod device;
mod difference;
mod distributions;
mod elastic;
mod graphs;
mod phases;
mod searches;
mod stores;
mod tree;
mod varying;
