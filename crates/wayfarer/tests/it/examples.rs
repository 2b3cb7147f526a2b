//! The crate's examples, which assert exact counts.

#[path = "../../examples/raft_election.rs"]
mod raft_election;
#[path = "../../examples/ring_buffer.rs"]
mod ring_buffer;
#[path = "../../examples/sliding_puzzle.rs"]
mod sliding_puzzle;
#[path = "../../examples/two_phase_commit.rs"]
mod two_phase_commit;

use wayfarer::RunError;

#[test]
fn raft_elects_one_leader_a_term() -> Result<(), RunError> {
    raft_election::main()
}

#[test]
fn the_ring_buffer_loses_and_invents_nothing() -> Result<(), RunError> {
    ring_buffer::main()
}

#[test]
fn the_sliding_puzzle_is_solved() -> Result<(), RunError> {
    sliding_puzzle::main()
}

#[test]
fn two_phase_commit_agrees() -> Result<(), RunError> {
    two_phase_commit::main()
}
