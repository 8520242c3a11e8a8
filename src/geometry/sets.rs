//! Disjoint sets, for the connected parts of a mesh.

pub(crate) struct Sets {
    parents: Vec<u32>,
}

impl Sets {
    pub(crate) fn new(count: usize) -> Self {
        Self { parents: (0_u32..).take(count).collect() }
    }

    /// Least number in the set that contains `number`.
    pub(crate) fn of(&mut self, number: u32) -> u32 {
        let mut at = number;
        while self.parents[at as usize] != at {
            let above = self.parents[at as usize];
            self.parents[at as usize] = self.parents[above as usize];
            at = above;
        }
        at
    }

    pub(crate) fn join(&mut self, a: u32, b: u32) {
        let [a, b] = [self.of(a), self.of(b)];
        // The lower number represents the set, so that the order of joins does not affect the result.
        self.parents[a.max(b) as usize] = a.min(b);
    }
}
