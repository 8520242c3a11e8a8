//! Things with numbers that are used again once they are given back.

/// No number.
pub(super) const NONE: u32 = u32::MAX;

/// Things by number.
#[derive(Debug)]
pub(super) struct Slab<T> {
    items: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> Slab<T> {
    /// Keeps a thing; returns its number.
    #[inline]
    pub(super) fn insert(&mut self, item: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.items[number as usize] = item;
            return number;
        }
        self.items.push(item);
        u32::try_from(self.items.len() - 1).unwrap_or(NONE)
    }

    /// Gives a number back.
    #[inline]
    pub(super) fn remove(&mut self, number: u32) {
        self.free.push(number);
    }

    #[inline]
    pub(super) fn get(&self, number: u32) -> &T {
        &self.items[number as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, number: u32) -> &mut T {
        &mut self.items[number as usize]
    }

    /// Things kept.
    pub(super) fn len(&self) -> usize {
        self.items.len() - self.free.len()
    }
}
