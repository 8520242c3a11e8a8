//! Statistics of units: plain structs of counters, declared beside the unit that counts, which can be
//! summed and listed generically.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::{Deserialize, Serialize, Serializer};

/// A counter or a struct of counters.
pub trait Counter {
    /// Adds the counts of another instance.
    fn add(&mut self, other: &Self);

    /// Appends every count to `list`, with its name below `name`; field names are joined by dots.
    fn list(&self, name: &str, list: &mut Vec<(String, u64)>);
}

impl Counter for u64 {
    fn add(&mut self, other: &Self) {
        *self += other;
    }

    fn list(&self, name: &str, list: &mut Vec<(String, u64)>) {
        list.push((name.to_owned(), *self));
    }
}

/// A histogram; its counts are named by their numbers, from 0.
impl<const N: usize> Counter for [u64; N] {
    fn add(&mut self, other: &Self) {
        for (sum, count) in self.iter_mut().zip(other) {
            *sum += count;
        }
    }

    fn list(&self, name: &str, list: &mut Vec<(String, u64)>) {
        let counts = self.iter().enumerate();
        list.extend(counts.map(|(number, count)| (format!("{name}.{number}"), *count)));
    }
}

impl<T: Counter + Clone> Counter for Option<T> {
    fn add(&mut self, other: &Self) {
        match (self.as_mut(), other) {
            (Some(sum), Some(other)) => sum.add(other),
            (None, Some(other)) => *self = Some(other.clone()),
            (_, None) => {}
        }
    }

    fn list(&self, name: &str, list: &mut Vec<(String, u64)>) {
        if let Some(counter) = self {
            counter.list(name, list);
        }
    }
}

/// A maximum; the sum over several instances is the largest of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Peak(pub u64);

impl Peak {
    /// Raises the peak to `value`.
    #[inline]
    pub fn raise(&mut self, value: u64) {
        self.0 = self.0.max(value);
    }
}

impl Counter for Peak {
    fn add(&mut self, other: &Self) {
        self.raise(other.0);
    }

    fn list(&self, name: &str, list: &mut Vec<(String, u64)>) {
        list.push((name.to_owned(), self.0));
    }
}

/// Type-erased statistics of a unit.
pub trait Statistics: Any + Debug + Send {
    /// Adds `other` if it has the same type.
    fn merge(&mut self, other: &dyn Statistics);

    /// Clones the statistics.
    fn boxed(&self) -> Box<dyn Statistics>;

    /// Every count with its name.
    fn counts(&self) -> Vec<(String, u64)>;
}

impl<T: Counter + Any + Debug + Clone + Send> Statistics for T {
    fn merge(&mut self, other: &dyn Statistics) {
        let other: &dyn Any = other;
        if let Some(other) = other.downcast_ref::<T>() {
            self.add(other);
        }
    }

    fn boxed(&self) -> Box<dyn Statistics> {
        Box::new(self.clone())
    }

    fn counts(&self) -> Vec<(String, u64)> {
        let mut list = Vec::new();
        self.list("", &mut list);
        list
    }
}

/// Statistics of all units of a run, summed over the instances of each unit.
#[derive(Debug, Default)]
pub struct StatisticsByUnit(Vec<(&'static str, Box<dyn Statistics>)>);

impl StatisticsByUnit {
    /// Adds the statistics of an instance of `unit`.
    pub fn add(&mut self, unit: &'static str, statistics: &dyn Statistics) {
        match self.0.iter_mut().find(|(name, _)| *name == unit) {
            Some((_, sum)) => sum.merge(statistics),
            None => self.0.push((unit, statistics.boxed())),
        }
    }

    /// Statistics of `unit`; zeros if the run had no such unit with statistics of type `T`.
    pub fn of<T: Statistics + Default + Clone>(&self, unit: &str) -> T {
        let found = self.0.iter().find(|(name, _)| *name == unit);
        let typed = found.and_then(|(_, statistics)| {
            let statistics: &dyn Any = statistics.as_ref();
            statistics.downcast_ref::<T>().cloned()
        });
        typed.unwrap_or_default()
    }
}

/// Serializes as a map from units to maps of their counts.
impl Serialize for StatisticsByUnit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let counts = |unit: &dyn Statistics| BTreeMap::from_iter(unit.counts());
        let units = self
            .0
            .iter()
            .map(|(name, unit)| (name, counts(unit.as_ref())));
        serializer.collect_map(units)
    }
}

/// Declares the statistics of a unit: a plain struct of counters that implements
/// [`Statistics`](crate::statistics::Statistics).
///
/// ```
/// quadrille_machine::statistics! {
///     /// Packets of a unit.
///     pub struct PacketCounters {
///         /// Packets taken in.
///         pub taken: u64,
///         /// Packets dropped.
///         pub dropped: u64,
///     }
/// }
/// let mut counters = PacketCounters::default();
/// counters.taken += 1;
/// ```
#[macro_export]
macro_rules! statistics {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $($(#[$field_meta:meta])* $field_vis:vis $field:ident: $type:ty),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        $vis struct $name {
            $($(#[$field_meta])* $field_vis $field: $type,)+
        }

        impl $crate::statistics::Counter for $name {
            fn add(&mut self, other: &Self) {
                $($crate::statistics::Counter::add(&mut self.$field, &other.$field);)+
            }

            fn list(&self, name: &str, list: &mut Vec<(String, u64)>) {
                let dot = if name.is_empty() { "" } else { "." };
                $($crate::statistics::Counter::list(
                    &self.$field,
                    &format!("{name}{dot}{}", stringify!($field)),
                    list,
                );)+
            }
        }
    };
}
pub use statistics;
