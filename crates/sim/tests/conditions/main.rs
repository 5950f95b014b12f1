//! What a link may have beside a rate, a delay and a queue, against closed forms.

mod changes;
mod delays;
mod gathered;
mod line;
mod tokens;
