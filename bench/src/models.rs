//! The models that figures are reported for.

/// A model of the speed comparison.
pub(crate) struct Model {
    pub(crate) file: &'static str,
    pub(crate) name: &'static str,
    /// The number of states after which the comparison stops, if it covers only the first ones.
    pub(crate) states: Option<u64>,
}

/// The models of the comparison with rumur.
pub(crate) const SPEED: [Model; 5] = [
    Model { file: "cm-mux-mcslock1.m", name: "mcslock1", states: None },
    Model { file: "cm-mux-mcslock2.m", name: "mcslock2", states: None },
    Model { file: "d-German_node3.m", name: "German, 3 nodes", states: None },
    Model { file: "edmc-Flash_node2.m", name: "Flash, 2 nodes", states: None },
    Model { file: "d-n_peterson6.m", name: "n_peterson 6", states: Some(2_500_000) },
];

/// Models of more than a million states, for bytes per state.
pub(crate) const MEMORY: [Model; 5] = [
    Model { file: "cm-mux-mcslock2.m", name: "mcslock2", states: None },
    Model { file: "d-German_node3.m", name: "German, 3 nodes", states: None },
    Model { file: "cm-sym-list6too.m", name: "list6too", states: None },
    Model { file: "d-n_peterson6.m", name: "n_peterson 6", states: Some(10_000_000) },
    Model { file: "romp-german.m", name: "German, 4 nodes (romp)", states: None },
];

/// Models of the memory promise: small and large states, finished and unfinished.
pub(crate) const PROMISE: [&str; 10] = [
    "cm-mux-mcslock2.m",
    "d-German_node3.m",
    "d-n_peterson6.m",
    "edmc-Flash_node4.m",
    "edmc-German_node8.m",
    "cm-sci-sci.m",
    "cm-sym-cache3.m",
    "rud-msi_opt.m",
    "romp-MESI.m",
    "edmc-TL-C_In_M_data.m",
];
