//! A four-way min-heap, for events in the far future.

/// A heap of keys with the smallest first.
#[derive(Debug, Default)]
pub(super) struct Heap(Vec<u128>);

impl Heap {
    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    pub(super) fn first(&self) -> Option<u128> {
        self.0.first().copied()
    }

    pub(super) fn push(&mut self, key: u128) {
        let mut at = self.0.len();
        self.0.push(key);
        while at > 0 {
            let parent = (at - 1) / 4;
            if self.0[parent] <= key {
                break;
            }
            self.0[at] = self.0[parent];
            at = parent;
        }
        self.0[at] = key;
    }

    pub(super) fn pop(&mut self) -> Option<u128> {
        let first = self.first()?;
        let last = self.0.pop()?;
        if !self.0.is_empty() {
            self.place(last);
        }
        Some(first)
    }

    /// Puts `key` into the heap, starting at the root, whose content is overwritten.
    fn place(&mut self, key: u128) {
        let heap = self.0.as_mut_slice();
        let mut at = 0;
        loop {
            let first = 4 * at + 1;
            let (child, least) = match heap.get(first..) {
                Some([a, b, c, d, ..]) => {
                    let (left, l) = if b < a { (1, *b) } else { (0, *a) };
                    let (right, r) = if d < c { (3, *d) } else { (2, *c) };
                    if r < l { (first + right, r) } else { (first + left, l) }
                }
                Some([a, rest @ ..]) => {
                    let (mut child, mut least) = (first, *a);
                    for (i, &other) in rest.iter().enumerate() {
                        if other < least {
                            (child, least) = (first + 1 + i, other);
                        }
                    }
                    (child, least)
                }
                _ => break,
            };
            if key <= least {
                break;
            }
            heap[at] = least;
            at = child;
        }
        heap[at] = key;
    }
}
