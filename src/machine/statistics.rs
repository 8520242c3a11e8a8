//! Statistics of units: structs of counters that are summed and listed generically.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::{Deserialize, Serialize, Serializer};

/// Value of one counter, with its name and documentation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// Name of the field; names of nested fields are joined by dots.
    pub name: String,
    /// Number of events counted, or the largest value of a [`Peak`].
    pub value: u64,
    /// Documentation of the field that holds the count.
    pub meaning: &'static str,
}

/// A counter or a struct of counters.
pub trait Counter {
    /// Adds the counts of another instance of the unit.
    fn add(&mut self, other: &Self);

    /// Appends every count to `list`, with `name` as the prefix of its name. `meaning` documents a single counter.
    fn list(&self, name: &str, meaning: &'static str, list: &mut Vec<Count>);

    /// Passes every value to `visit`, in the order of [`Counter::list`].
    fn values(&self, visit: &mut dyn FnMut(u64));
}

fn single(name: &str, value: u64, meaning: &'static str) -> Count {
    Count { name: name.to_owned(), value, meaning: meaning.trim() }
}

impl Counter for u64 {
    fn add(&mut self, other: &Self) {
        *self += other;
    }

    fn list(&self, name: &str, meaning: &'static str, list: &mut Vec<Count>) {
        list.push(single(name, *self, meaning));
    }

    fn values(&self, visit: &mut dyn FnMut(u64)) {
        visit(*self);
    }
}

/// A histogram; bins are named by their index.
impl<const N: usize> Counter for [u64; N] {
    fn add(&mut self, other: &Self) {
        for (sum, count) in self.iter_mut().zip(other) {
            *sum += count;
        }
    }

    fn list(&self, name: &str, meaning: &'static str, list: &mut Vec<Count>) {
        let counts = self.iter().enumerate();
        list.extend(
            counts.map(|(number, count)| single(&format!("{name}.{number}"), *count, meaning)),
        );
    }

    fn values(&self, visit: &mut dyn FnMut(u64)) {
        self.iter().copied().for_each(visit);
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

    fn list(&self, name: &str, meaning: &'static str, list: &mut Vec<Count>) {
        if let Some(counter) = self {
            counter.list(name, meaning, list);
        }
    }

    fn values(&self, visit: &mut dyn FnMut(u64)) {
        if let Some(counter) = self {
            counter.values(visit);
        }
    }
}

/// A maximum; adding another instance keeps the larger value.
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

    fn list(&self, name: &str, meaning: &'static str, list: &mut Vec<Count>) {
        list.push(single(name, self.0, meaning));
    }

    fn values(&self, visit: &mut dyn FnMut(u64)) {
        visit(self.0);
    }
}

/// Type-erased statistics of a unit.
pub trait Statistics: Any + Debug + Send {
    /// Adds `other` if it has the same type.
    fn merge(&mut self, other: &dyn Statistics);

    /// Clones the statistics into a box.
    fn boxed(&self) -> Box<dyn Statistics>;

    /// Lists every count with its name and meaning, in the order of the fields.
    fn counts(&self) -> Vec<Count>;
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

    fn counts(&self) -> Vec<Count> {
        let mut list = Vec::new();
        self.list("", "", &mut list);
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

    /// Statistics of type `T`, summed over the units that count with it; zeros if the run had none.
    pub fn of<T: Counter + Any + Default>(&self) -> T {
        self.sum(|_| true)
    }

    /// Statistics of `unit`, one of several units that count with type `T`; zeros if the run had none.
    pub fn of_unit<T: Counter + Any + Default>(&self, unit: &str) -> T {
        self.sum(|name| name == unit)
    }

    fn sum<T: Counter + Any + Default>(&self, is_counted: impl Fn(&str) -> bool) -> T {
        let mut sum = T::default();
        for (_, statistics) in self.0.iter().filter(|(name, _)| is_counted(name)) {
            let statistics: &dyn Any = statistics.as_ref();
            if let Some(counts) = statistics.downcast_ref() {
                sum.add(counts);
            }
        }
        sum
    }

    /// Name and counts of each unit, in the order of first addition.
    pub fn units(&self) -> impl Iterator<Item = (&'static str, Vec<Count>)> {
        self.0.iter().map(|(name, unit)| (*name, unit.counts()))
    }
}

impl Serialize for StatisticsByUnit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let named = |counts: Vec<Count>| {
            BTreeMap::from_iter(counts.into_iter().map(|count| (count.name, count.value)))
        };
        serializer.collect_map(self.units().map(|(name, counts)| (name, named(counts))))
    }
}

/// Declares a unit's statistics: a struct of counters that implements [`Statistics`](crate::statistics::Statistics).
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
            $($(#[$($field_meta:tt)+])* $field_vis:vis $field:ident: $type:ty),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        $vis struct $name {
            $($(#[$($field_meta)+])* $field_vis $field: $type,)+
        }

        impl $crate::statistics::Counter for $name {
            fn add(&mut self, other: &Self) {
                $($crate::statistics::Counter::add(&mut self.$field, &other.$field);)+
            }

            fn list(
                &self,
                name: &str,
                _meaning: &'static str,
                list: &mut Vec<$crate::statistics::Count>,
            ) {
                let dot = if name.is_empty() { "" } else { "." };
                $($crate::statistics::Counter::list(
                    &self.$field,
                    &format!("{name}{dot}{}", stringify!($field)),
                    concat!($($crate::doc_of!($($field_meta)+)),*),
                    list,
                );)+
            }

            fn values(&self, visit: &mut dyn FnMut(u64)) {
                $($crate::statistics::Counter::values(&self.$field, visit);)+
            }
        }
    };
}
pub use statistics;

/// Declares a struct of results with a constant `DOCS`: the name and documentation of each field.
#[macro_export]
macro_rules! documented {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $($(#[$($field_meta:tt)+])* $field_vis:vis $field:ident: $type:ty),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        $vis struct $name {
            $($(#[$($field_meta)+])* $field_vis $field: $type,)+
        }

        impl $name {
            /// Name and documentation of each field.
            pub const DOCS: &'static [(&'static str, &'static str)] = &[
                $((stringify!($field), concat!($($crate::doc_of!($($field_meta)+)),*)),)+
            ];
        }
    };
}
pub use documented;

/// Text of a doc attribute; empty for any other attribute.
#[doc(hidden)]
#[macro_export]
macro_rules! doc_of {
    (doc = $text:literal) => {
        $text
    };
    ($($other:tt)+) => {
        ""
    };
}
