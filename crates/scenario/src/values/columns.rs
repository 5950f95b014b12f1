//! CSV files of recordings: a column of times, and one of values in one of several units.

use crate::values::quantity::{Duration, Quantity};
use netspurt_tcp::time::Span;

/// The longest time that a file may say, in seconds.
pub(crate) const LONGEST_S: f64 = 1e7;

/// The number of a line, from 1, and what is wrong with it.
pub(crate) type WrongLine = (usize, String);

/// Times and values of a CSV file with a line of names: the first of the columns that there is, in its unit, up to the
/// largest value in units of 1. Lines that are empty or begin with `#` are none. Times rise.
pub(crate) fn read_columns(
    text: &str,
    columns: &[(&str, f64)],
    most: f64,
) -> Result<Vec<(Duration, f64)>, WrongLine> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    let Some((head, names)) = lines.next() else { return Err((1, "the file is empty".to_owned())) };
    let names: Vec<&str> = names.split(',').map(|name| name.trim().trim_matches('"')).collect();
    let find = |name: &str| names.iter().position(|known| *known == name);
    let values = || columns.iter().find_map(|(name, unit)| Some((find(name)?, *unit)));
    let (Some(time), Some((value, unit))) = (find("time_s"), values()) else {
        let known: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let message = format!(
            "the columns time_s and one of {} are needed, not {}",
            known.join(", "),
            names.join(", ")
        );
        return Err((head, message));
    };
    let mut read: Vec<(Duration, f64)> = Vec::new();
    for (number, line) in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let cell = |column: usize, most: f64| {
            let text = cells.get(column).map_or("", |cell| cell.trim());
            let value = text.parse::<f64>().ok().filter(|value| (0.0..=most).contains(value));
            value.ok_or_else(|| {
                (number, format!("{:?} is no number from 0 to {most:e} for {}", shown(text), names[column]))
            })
        };
        let time = Duration(Span::from_ps((cell(time, LONGEST_S)? * 1e12).round() as u64));
        if let Some((before, _)) = read.last().filter(|(before, _)| time <= *before) {
            let message = format!("{} comes after {}: times must rise", time.print(), before.print());
            return Err((number, message));
        }
        read.push((time, cell(value, most / unit)? * unit));
    }
    Ok(read)
}

/// As much of a line as fits into a sentence.
pub(crate) fn shown(line: &str) -> String {
    line.trim().chars().take(40).collect()
}
