//! The stack behind packetdrill's `userdata`.
#![expect(unsafe_code, reason = "a pointer that C stores")]

use crate::shared_stack::SharedStack;
use libc::c_void;
use std::sync::Arc;

/// `userdata`: a pointer from [`Arc::into_raw`].
pub(crate) type Data = *mut c_void;

/// The pointer for a stack.
pub(super) fn from_stack(stack: Arc<SharedStack>) -> Data {
    Arc::into_raw(stack).cast_mut().cast()
}

/// The stack behind `userdata`.
///
/// # Safety
/// `data` is from [`from_stack`], and [`free`] was not called.
pub(super) unsafe fn shared<'a>(data: Data) -> &'a SharedStack {
    // SAFETY: the pointer refers to the stack that an `Arc` owns.
    unsafe { &*data.cast::<SharedStack>() }
}

/// Releases the stack.
///
/// # Safety
/// As for [`shared`].
pub(super) unsafe extern "C" fn free(data: Data) {
    // SAFETY: packetdrill calls this once, last.
    drop(unsafe { Arc::from_raw(data.cast_const().cast::<SharedStack>()) });
}
