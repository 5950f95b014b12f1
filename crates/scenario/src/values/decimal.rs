//! Decimal numbers with a unit, read and printed exactly: no float on the way.

use crate::values::suggest;

/// A unit by its name, and how many of the smallest unit it holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    pub(crate) size: u64,
}

/// The units of a quantity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Units {
    /// Its own, which messages show.
    pub(crate) own: &'static [Unit],
    /// Spellings of other tools that mean one thing only.
    pub(crate) also: &'static [Unit],
    /// Spellings that are refused, and why.
    pub(crate) unclear: &'static [(&'static str, &'static str)],
}

/// Reads `1.544 Mbit/s` into a count of the smallest unit. What lies between two of those is rounded to the nearer one.
/// Where `units` are those of several quantities, the first that knows a unit reads it.
pub(crate) fn parse(text: &str, units: &[Units]) -> Result<u64, String> {
    rounded(text, units).map(|(count, _)| count)
}

/// Reads `1000 packets`: a count of things that have no parts.
pub(crate) fn parse_whole(text: &str, things: Units) -> Result<u64, String> {
    match rounded(text, &[things])? {
        (count, true) => Ok(count),
        (count, false) => {
            let count = count.max(1);
            let unit = things.own.iter().find(|unit| unit.name.ends_with('s') == (count > 1));
            let name = unit.map_or("", |unit| unit.name);
            Err(format!("{text:?} is not a whole number: write \"{count} {name}\""))
        }
    }
}

/// The count of the smallest unit, and whether it is exact.
fn rounded(text: &str, units: &[Units]) -> Result<(u64, bool), String> {
    let (mantissa, exponent, unit) = split(text)?;
    let names = || units.iter().flat_map(|units| units.own).map(|unit| unit.name);
    if unit.is_empty() {
        return Err(no_unit(text.trim(), names()));
    }
    let mut known = units.iter().flat_map(|units| units.own.iter().chain(units.also));
    let Some(unit) = known.find(|known| known.name == unit) else {
        let mut unclear = units.iter().flat_map(|units| units.unclear);
        return Err(match unclear.find(|(name, _)| *name == unit) {
            Some((_, meaning)) => format!("{unit:?} means {meaning}"),
            None => format!("{unit:?} is not a unit for this: {}", suggest::among(unit, names())),
        });
    };
    let too_large = || format!("{text:?} is too large");
    let scaled = mantissa.checked_mul(u128::from(unit.size)).ok_or_else(too_large)?;
    let power = 10_u128.checked_pow(exponent.unsigned_abs());
    let (count, exact) = if exponent >= 0 {
        let count = match power {
            Some(power) => scaled.checked_mul(power).ok_or_else(too_large)?,
            None if scaled == 0 => 0,
            None => return Err(too_large()),
        };
        (count, true)
    } else {
        // A divisor beyond 10^38 leaves nothing of a number below 2^128.
        power.map_or((0, scaled == 0), |power| {
            let rest = scaled % power;
            (scaled / power + u128::from(rest >= power.div_ceil(2)), rest == 0)
        })
    };
    u64::try_from(count).map(|count| (count, exact)).map_err(|_| too_large())
}

/// The sentence for a number that stands alone. Two usual units show that there is a choice: `5` may be milliseconds or seconds.
pub(crate) fn no_unit<'a>(number: &str, units: impl Iterator<Item = &'a str>) -> String {
    let units: Vec<&str> = units.collect();
    let usual = ["packets", "ms", "s", "Mbit/s", "KiB", "B"];
    let mut examples: Vec<&str> = usual.into_iter().filter(|unit| units.contains(unit)).take(2).collect();
    if examples.is_empty() {
        examples.extend(units.first());
    }
    let Some(first) = examples.first() else { return format!("{number} has no unit") };
    if let Some(positive) = number.strip_prefix('-') {
        return format!("{number} is negative and has no unit: write a value such as \"{positive} {first}\"");
    }
    let others: Vec<&str> = units.iter().copied().filter(|unit| !examples.contains(unit)).collect();
    let values: Vec<String> = examples.iter().map(|unit| format!("\"{number} {unit}\"")).collect();
    let rest =
        if others.is_empty() { String::new() } else { format!("; other units: {}", others.join(", ")) };
    format!("{number} has no unit: write {}{rest}", values.join(" or "))
}

/// Digits, the power of ten they are to be multiplied with, and the unit behind them.
fn split(text: &str) -> Result<(u128, i32, &str), String> {
    let text = text.trim();
    if let Some(positive) = text.strip_prefix('-') {
        return Err(format!(
            "{text:?} is negative: write a value without the sign, such as {:?}",
            positive.trim()
        ));
    }
    let digits_end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    let (number, rest) = text.split_at(digits_end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{fraction}").replace('_', "");
    if digits.is_empty() || fraction.contains('.') {
        return Err(format!("{text:?} does not begin with a number"));
    }
    let mantissa = digits.parse().map_err(|_| format!("{text:?} has too many digits"))?;
    let (power, unit) = exponent(rest);
    let places = i32::try_from(fraction.bytes().filter(u8::is_ascii_digit).count()).unwrap_or(i32::MAX);
    Ok((mantissa, power.saturating_sub(places), unit.trim()))
}

/// Reads `e-3` if that is what stands there; an `e` that begins a word is left alone.
fn exponent(rest: &str) -> (i32, &str) {
    let none = (0, rest);
    let Some(tail) = rest.strip_prefix(['e', 'E']) else { return none };
    let unsigned = tail.strip_prefix(['+', '-']).unwrap_or(tail);
    let end = unsigned.find(|c: char| !c.is_ascii_digit()).unwrap_or(unsigned.len());
    if end == 0 {
        return none;
    }
    let magnitude = unsigned[..end].parse::<i32>().unwrap_or(i32::MAX / 2).min(i32::MAX / 2);
    (if tail.starts_with('-') { -magnitude } else { magnitude }, &unsigned[end..])
}

/// Prints a count of the smallest unit in the largest of `units` that leaves at least one before the point. The units
/// are powers of ten of the smallest, the largest first, so that every value is a finite decimal.
pub(crate) fn print(value: u64, units: &[Unit]) -> String {
    let Some(unit) = units.iter().find(|unit| unit.size <= value).or(units.last()) else {
        return value.to_string();
    };
    let (whole, rest) = (value / unit.size, value % unit.size);
    if rest == 0 {
        return format!("{whole} {}", unit.name);
    }
    let places = unit.size.ilog10() as usize;
    let fraction = format!("{rest:0places$}");
    format!("{whole}.{} {}", fraction.trim_end_matches('0'), unit.name)
}
