//! A queue in a power-of-two ring of plain values: no allocation once it has grown to its working size.

/// First in, first out, with random access from the front.
#[derive(Debug)]
pub(crate) struct Ring<T> {
    slots: Vec<T>,
    head: usize,
    len: usize,
}

impl<T: Copy + Default> Ring<T> {
    pub(crate) const fn new() -> Self {
        Self { slots: Vec::new(), head: 0, len: 0 }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    const fn place(&self, index: usize) -> usize {
        (self.head + index) & (self.slots.len() - 1)
    }

    pub(crate) fn front(&self) -> Option<T> {
        if self.len == 0 { None } else { Some(self.slots[self.place(0)]) }
    }

    pub(crate) fn get(&self, index: usize) -> T {
        self.slots[self.place(index)]
    }

    #[inline]
    pub(crate) fn push_back(&mut self, value: T) {
        if self.len == self.slots.len() {
            self.grow();
        }
        let place = self.place(self.len);
        self.slots[place] = value;
        self.len += 1;
    }

    #[inline]
    pub(crate) fn pop_front(&mut self) -> Option<T> {
        let value = self.front()?;
        self.head = self.place(1);
        self.len -= 1;
        Some(value)
    }

    /// Puts `value` behind the last element for which `goes_before` holds, searching from the back.
    pub(crate) fn insert_from_back(&mut self, value: T, goes_before: impl Fn(&T) -> bool) {
        self.push_back(value);
        let mut at = self.len - 1;
        while at > 0 && !goes_before(&self.get(at - 1)) {
            let (from, to) = (self.place(at - 1), self.place(at));
            self.slots[to] = self.slots[from];
            at -= 1;
        }
        let place = self.place(at);
        self.slots[place] = value;
    }

    #[cold]
    fn grow(&mut self) {
        let mut slots = vec![T::default(); (self.slots.len() * 2).max(4)];
        for (index, slot) in slots.iter_mut().enumerate().take(self.len) {
            *slot = self.get(index);
        }
        (self.slots, self.head) = (slots, 0);
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
        assert_eq!(ring.len() as u32, next_in - next_out);
    }

    #[test]
    fn a_late_comer_is_put_where_it_belongs() {
        let mut ring = Ring::new();
        for value in [1, 5, 9] {
            ring.push_back(value);
        }
        ring.insert_from_back(5, |&other| other <= 5);
        ring.insert_from_back(0, |&other| other <= 0);
        let all: Vec<i32> = std::iter::from_fn(|| ring.pop_front()).collect();
        assert_eq!(all, [0, 1, 5, 5, 9]);
    }
}
