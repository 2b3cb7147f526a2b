//! The models that experiments run on, compiled into the program so that the laboratory works anywhere.

use wayfarer::{LoadOptions, Loaded, load_text};

/// A Murphi model of `models/murphi`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Model {
    /// Its file.
    pub(crate) file: &'static str,
    text: &'static str,
}

macro_rules! models {
    ($($name:ident = $file:literal;)*) => {
        $(pub(crate) const $name: Model = Model { file: $file, text: include_str!(concat!("../../../models/murphi/", $file)) };)*
        /// All of them.
        const ALL: &[Model] = &[$($name),*];
    };
}

models! {
    BOUNDED_RETRANSMISSION_TIMERS = "bounded_retransmission_timers.m";
    BUFFERS = "buffers.m";
    CLIENT_SERVER = "client_server.m";
    DINING = "dining.m";
    FISCHER = "fischer.m";
    KERBEROS = "kerberos.m";
    OTHELLO = "othello.m";
    QUICKSORT = "quicksort.m";
    SELECTIVE_REPEAT = "selective_repeat.m";
    SHARING_LIST = "sharing_list.m";
    TOKEN_RING_LAN = "token_ring_lan.m";
}

impl Model {
    /// The model with these values of its constants and, if `find` is given, a predicate on states to search
    /// for.
    pub(crate) fn load(self, constants: &[(&str, i64)], find: Option<&str>) -> Result<Loaded, String> {
        let find = find.map(str::to_string);
        let constants = constants.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        load_text(self.file, self.text.to_string(), &LoadOptions { constants, find, ..LoadOptions::default() })
            .map_err(|error| format!("{}: {error}", self.file))
    }
}

/// A hash that changes whenever a model does, so that saved results of other models are not used.
pub(crate) fn fingerprint() -> u64 {
    // FNV-1a: it needs no secrecy, and is the same on every machine.
    let bytes = ALL.iter().flat_map(|model| model.file.bytes().chain(model.text.bytes()));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_model_loads() {
        super::ALL.iter().for_each(|model| drop(model.load(&[], None).unwrap()));
    }

    #[test]
    fn machine_code_stays_inside_a_large_board() {
        // `inside(i, j) & square[i][j]…` is evaluated without a branch, with i and j from -1 on.
        let board = super::OTHELLO.load(&[("Size", 6), ("Repeat", 0)], None).unwrap();
        let desk = crate::Desk::new(true, 1, 1, &crate::Unwatched);
        let states = |interpret| {
            let strategy = crate::shapes::spec("rdfs").unwrap();
            let plan = wayfarer::Plan { strategy, states: Some(400), interpret, ..wayfarer::Plan::default() };
            desk.run(&board, &plan).unwrap().rules_fired
        };
        assert_eq!(states(false), states(true));
    }
}
