//! The stack that the replaced libc functions use. They have no `userdata`.

use crate::shared_stack::SharedStack;
use std::sync::{Arc, Mutex, PoisonError, Weak};

static CURRENT: Mutex<Weak<SharedStack>> = Mutex::new(Weak::new());

/// Makes this the current stack.
pub(super) fn set(stack: &Arc<SharedStack>) {
    *CURRENT.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(stack);
}

/// The stack that was created last, if it still exists.
pub(super) fn get() -> Option<Arc<SharedStack>> {
    CURRENT.lock().unwrap_or_else(PoisonError::into_inner).upgrade()
}
