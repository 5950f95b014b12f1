//! A queue in a ring of plain values. The size is a power of two. There is no allocation after it has reached its size.

/// First in, first out, with random access from the front.
#[derive(Debug)]
pub(crate) struct Ring<T> {
    slots: Box<[T]>,
    head: u32,
    len: u32,
}

impl<T: Copy + Default> Ring<T> {
    pub(crate) fn new() -> Self {
        Self { slots: Box::default(), head: 0, len: 0 }
    }

    pub(crate) const fn len(&self) -> u32 {
        self.len
    }

    const fn place(&self, index: u32) -> usize {
        self.head.wrapping_add(index) as usize & (self.slots.len() - 1)
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<T> {
        if self.len == 0 { None } else { Some(self.slots[self.place(0)]) }
    }

    pub(crate) fn get(&self, index: u32) -> T {
        self.slots[self.place(index)]
    }

    #[inline]
    pub(crate) fn push_back(&mut self, value: T) {
        if self.len as usize == self.slots.len() {
            self.grow();
        }
        let place = self.place(self.len);
        self.slots[place] = value;
        self.len += 1;
    }

    #[inline]
    pub(crate) fn pop_front(&mut self) -> Option<T> {
        let value = self.front()?;
        self.drop_front();
        Some(value)
    }

    /// Removes the first value, after [`Ring::front`] has returned it.
    #[inline]
    pub(crate) const fn drop_front(&mut self) {
        self.head = self.head.wrapping_add(1);
        self.len -= 1;
    }

    /// Removes all values, without a look at them.
    #[inline]
    pub(crate) const fn clear(&mut self) {
        self.head = self.head.wrapping_add(self.len);
        self.len = 0;
    }

    #[cold]
    fn grow(&mut self) {
        let mut slots = vec![T::default(); (self.slots.len() * 2).max(4)];
        for (index, slot) in (0..self.len).zip(&mut slots) {
            *slot = self.get(index);
        }
        (self.slots, self.head) = (slots.into_boxed_slice(), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_survives_growth_and_wrapping() {
        let mut ring = Ring::new();
        let (mut next_in, mut next_out) = (0u32, 0u32);
        for round in 0..200u32 {
            for _ in 0..=round % 7 {
                ring.push_back(next_in);
                next_in += 1;
            }
            for _ in 0..round % 6 {
                assert_eq!(ring.pop_front(), Some(next_out));
                next_out += 1;
            }
        }
        assert_eq!(ring.len(), next_in - next_out);
    }
}
