//! The way of a value of the file into a configuration, and back.

use crate::values::form::Named;
use crate::values::quantity::{
    Cap, Duration, Grain, InitialCwnd, Quantity as _, Rate, Size, TimeLimit, Window,
};
use netspurt_tcp::config::{InitialWindow, TimerGrain};
use netspurt_tcp::time::Span;

/// A type of the file whose values stand for values of type `T` in a configuration.
pub(crate) trait Setting<T>: Sized {
    /// Puts this value of `key` in its place; sizes may be in segments of `mss` bytes. The error is a sentence.
    fn put(&self, place: &mut T, key: &str, mss: u16) -> Result<(), String>;

    /// The value of the key for this field; `None` if only a missing key means it.
    fn of(place: &T) -> Option<Self>;
}

/// Settings that are never refused and need no segment size: how a value gets into its place, and back.
macro_rules! settings {
    ($($type:ty => $place:ty: |$value:ident| $put:expr, |$from:ident| $of:expr;)+) => {
        $(impl Setting<$place> for $type {
            fn put(&self, place: &mut $place, _key: &str, _mss: u16) -> Result<(), String> {
                let $value = *self;
                *place = $put;
                Ok(())
            }
            fn of(place: &$place) -> Option<Self> {
                let $from = *place;
                Some($of)
            }
        })+
    };
}

settings! {
    bool => bool: |value| value, |place| place;
    u8 => u8: |value| value, |place| place;
    u32 => u32: |value| value, |place| place;
    Duration => Span: |value| value.0, |place| Self(place);
    Rate => u64: |value| value.0, |place| Self(place);
    TimeLimit => Option<Span>:
        |value| match value {
            Self::Forever => None,
            Self::For(span) => Some(span.0),
        },
        |place| place.map_or(Self::Forever, |span| Self::For(Duration(span)));
    Grain => TimerGrain:
        |value| match value {
            Self::Continuous => TimerGrain::Continuous,
            Self::Ticks(period) => TimerGrain::Ticks { period: period.0, phase: Span::ZERO },
        },
        |place| match place {
            TimerGrain::Continuous => Self::Continuous,
            TimerGrain::Ticks { period, phase: _ } => Self::Ticks(Duration(period)),
        };
    InitialCwnd => InitialWindow:
        |value| match value {
            Self::Segments(n) => InitialWindow::Segments(n),
            Self::Rfc2581 => InitialWindow::Rfc2581,
            Self::Rfc3390 => InitialWindow::Rfc3390,
            Self::Rfc6928 => InitialWindow::Rfc6928,
        },
        |place| match place {
            InitialWindow::Segments(n) => Self::Segments(n),
            InitialWindow::Rfc2581 => Self::Rfc2581,
            InitialWindow::Rfc3390 => Self::Rfc3390,
            InitialWindow::Rfc6928 => Self::Rfc6928,
        };
}

impl<T: Copy + From<U>, U: Copy + From<T>> Setting<U> for Named<T> {
    fn put(&self, place: &mut U, _key: &str, _mss: u16) -> Result<(), String> {
        *place = self.0.into();
        Ok(())
    }
    fn of(place: &U) -> Option<Self> {
        Some(Self((*place).into()))
    }
}

impl Setting<u16> for Size {
    fn put(&self, place: &mut u16, key: &str, _mss: u16) -> Result<(), String> {
        let what = if key == "mss" { "an MSS".to_owned() } else { format!("a {key}") };
        *place = u16::try_from(self.0)
            .map_err(|_| format!("{what} of {} does not fit into 16 bits", self.print()))?;
        Ok(())
    }
    fn of(place: &u16) -> Option<Self> {
        Some(Self(u64::from(*place)))
    }
}

/// Beyond 32 bits a window saturates, for `Config::validate` to refuse.
fn narrow(window: Window, mss: u16) -> u32 {
    u32::try_from(window.bytes(mss)).unwrap_or(u32::MAX)
}

fn bytes(count: u32) -> Window {
    Window::Bytes(u64::from(count))
}

/// Settings that may be in segments.
macro_rules! sizes {
    ($($type:ty => $place:ty: |$value:ident, $mss:ident| $put:expr, |$from:ident| $of:expr;)+) => {
        $(impl Setting<$place> for $type {
            fn put(&self, place: &mut $place, _key: &str, $mss: u16) -> Result<(), String> {
                let $value = *self;
                *place = $put;
                Ok(())
            }
            fn of(place: &$place) -> Option<Self> {
                let $from = *place;
                $of
            }
        })+
    };
}

sizes! {
    Window => u32: |value, mss| narrow(value, mss), |place| Some(bytes(place));
    Window => u64: |value, mss| value.bytes(mss), |place| Some(Self::Bytes(place));
    Window => Option<u32>: |value, mss| Some(narrow(value, mss)), |place| place.map(bytes);
    Window => Option<u64>: |value, mss| Some(value.bytes(mss)), |place| place.map(Self::Bytes);
    // A send window that is not there, and a threshold that is as high as can be, are infinite.
    Cap => Option<u32>:
        |value, mss| match value {
            Self::Infinite => None,
            Self::At(window) => Some(narrow(window, mss)),
        },
        |place| Some(place.map_or(Self::Infinite, |cap| Self::At(bytes(cap))));
    Cap => u32:
        |value, mss| match value {
            Self::Infinite => u32::MAX,
            Self::At(window) => narrow(window, mss),
        },
        |place| Some(if place == u32::MAX { Self::Infinite } else { Self::At(bytes(place)) });
}
