//! Issue ports: start and departure cycles of items.

use quadrille_machine::issue_port::*;
use quadrille_machine::rate::Rate;
use quadrille_machine::stage::Sink;
use quadrille_machine::timing::Cycle;

/// Sink that takes one item per `every` cycles.
struct Slow {
    every: Cycle,
    free: Cycle,
    taken: Vec<Cycle>,
}

impl Sink<u32, ()> for Slow {
    fn offer(&mut self, _: u32, at: Cycle, (): &mut ()) -> Cycle {
        let taken = at.max(self.free);
        self.free = taken + self.every;
        self.taken.push(taken);
        taken
    }

    fn end(&mut self, _: Cycle, (): &mut ()) {}
}

fn starts(rate: Rate, latency: u64, every: Cycle) -> (Vec<Cycle>, Vec<Cycle>) {
    let (mut port, taken) = (IssuePort::new(rate, latency), Vec::new());
    let mut next = Slow { every, free: 0, taken };
    let starts = (0..5).map(|item| {
        let start = port.start(0);
        port.issue(item, start, 1, &mut (), &mut next);
        start
    });
    (starts.collect(), next.taken)
}

/// A pipeline of two stages takes two items at full rate, and then one item whenever one leaves.
#[test]
fn items_enter_until_the_pipeline_is_full() {
    assert_eq!(starts(Rate::ONE, 2, 10), (vec![0, 1, 2, 12, 22], vec![2, 12, 22, 32, 42]));
    assert_eq!(starts(Rate::ONE, 0, 3), (vec![0, 1, 3, 6, 9], vec![0, 3, 6, 9, 12]));
    assert_eq!(starts(Rate::new(2, 1), 1, 0), (vec![0, 0, 1, 1, 2], vec![1, 1, 2, 2, 3]));
    // Eight cycles at the port and 20 behind it hold four items, not three.
    assert_eq!(starts(Rate::new(1, 8), 20, 0).0, [0, 8, 16, 24, 32]);
    assert_eq!(starts(Rate::new(1, 3), 1, 0), (vec![0, 3, 6, 9, 12], vec![3, 6, 9, 12, 15]));
}
