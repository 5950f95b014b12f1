//! A share between 0 and 1, such as a probability, which may be written as a percentage: `"0.1%"` for 0.001.

use serde_json::{Map, Value, json};

/// The `format` of a percentage in the schema.
pub(crate) const FORMAT: &str = "percentage";

/// Lets every number of the schema that lies between 0 and 1 be written as a percentage too.
pub(crate) fn admit(schema: &mut Value) {
    match schema {
        Value::Array(list) => list.iter_mut().for_each(admit),
        Value::Object(table) => {
            table.values_mut().for_each(admit);
            if lies_between_0_and_1(table) {
                let number: Map<String, Value> = ["type", "format", "minimum", "maximum"]
                    .into_iter()
                    .filter_map(|key| table.remove(key).map(|value| (key.to_owned(), value)))
                    .collect();
                table.insert("anyOf".to_owned(), json!([number, percentage()]));
            }
        }
        _ => {}
    }
}

fn lies_between_0_and_1(schema: &Map<String, Value>) -> bool {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    schema.get("type").is_some_and(|kind| kind == "number")
        && bound("minimum") == Some(0.0)
        && bound("maximum") == Some(1.0)
}

fn percentage() -> Value {
    json!({
        "type": "string",
        "format": FORMAT,
        "pattern": r"^\s*[0-9.][0-9._eE+-]*\s*%\s*$",
        "examples": ["0.1%"],
    })
}

/// Reads `0.1%` as the number nearest to 0.001. The error is one sentence without a full stop.
pub(crate) fn parse(text: &str) -> Result<f64, String> {
    let Some(number) = text.trim().strip_suffix('%').map(str::trim_end) else {
        return Err(format!(
            "{text:?} is neither a number nor a percentage: write a probability such as 0.001, or \"0.1%\""
        ));
    };
    let digits = number.replace('_', "");
    let plain = |c: char| c.is_ascii_digit() || ".eE+-".contains(c);
    let percent: f64 = match digits.parse() {
        Ok(percent) if digits.chars().all(plain) => percent,
        _ => return Err(format!("{text:?} does not begin with a number")),
    };
    if (0.0..=100.0).contains(&percent) {
        // Moving the decimal point in the text keeps "0.1%" the same number as 0.001, which a division would not.
        Ok(format!("{percent:e}").split_once('e').and_then(shifted).unwrap_or(percent / 100.0))
    } else {
        Err(format!("{text:?} is out of range: it must be between 0% and 100%"))
    }
}

fn shifted((mantissa, exponent): (&str, &str)) -> Option<f64> {
    let exponent: i32 = exponent.parse().ok()?;
    format!("{mantissa}e{}", exponent - 2).parse().ok()
}
