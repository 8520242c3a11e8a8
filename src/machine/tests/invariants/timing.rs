//! Queues, and cycles of an activity by stall reason.

use quadrille_machine::timing::*;

/// In a queue of depth 2, the third item enters in the cycle in which the first one leaves.
#[test]
fn a_queue_admits_when_a_slot_is_free() {
    let mut queue = Queue::new(2);
    assert_eq!(queue.entry(3), 3);
    queue.leave(10);
    assert_eq!(queue.entry(4), 4);
    queue.leave(20);
    assert_eq!(queue.entry(9), 10);
    assert_eq!(queue.entry(10), 10);
    assert_eq!(queue.entry(11), 11);
    // A depth that is not a power of two: each of the second three items waits for one of the first three.
    let mut queue = Queue::new(3);
    for item in 0..3 {
        assert_eq!(queue.entry(0), 0);
        queue.leave(10 + item);
    }
    for item in 0..7 {
        assert_eq!(queue.entry(0), 10 + item);
        queue.leave(13 + item);
    }
}

/// Data takes 100 cycles. The second item is 9 cycles late. The third item arrives when the second leaves the queue,
/// so it is not late.
#[test]
fn an_item_that_the_queue_held_up_is_not_late() {
    let mut activity = Activity::default();
    activity.idle_for_data(0, 100);
    activity.busy_until(101);
    activity.leave_queue(0);
    activity.idle_for_data(10, 110);
    activity.busy_until(111);
    activity.leave_queue(60);
    activity.idle_for_data(60, 160);
    let [starved, miss] =
        [StallReason::Starved, StallReason::Miss].map(|reason| activity.idle[reason as usize]);
    assert_eq!((starved, miss), (9, 149));
}

#[test]
fn each_cycle_is_counted_once() {
    let mut activity = Activity::default();
    activity.keep_timeline(64);
    activity.idle_until(10, StallReason::Starved);
    activity.busy_until(13);
    activity.idle_until(12, StallReason::Miss);
    activity.busy_until(1_000_000);
    activity.idle_until(1_000_001, StallReason::Drained);
    assert_eq!(activity.total(), 1_000_001);
    assert_eq!(activity.busy, 999_990);
    let sum: u64 = activity.timeline().map(|t| t.windows.clone()).iter().flatten().flatten().sum();
    assert_eq!(sum, 1_000_001);
}
