//! One RTO estimator by its name and parameters, outside a scenario: for a replay of recorded delays.

use crate::reading::{schema_of, shaped};
use crate::tcp::parametric::Rto;
use crate::values::form::Named;
use netspurt_tcp::rto;
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::LazyLock;

/// The part of a scenario that names an estimator.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Chosen {
    rto: Named<Rto>,
}

static SCHEMA: LazyLock<serde_json::Value> = LazyLock::new(schema_of::<Chosen>);

/// The estimator called `name` with parameters (key, value), both as the scenario file has them under `tcp.rto`.
///
/// The error is a sentence.
pub fn estimator(name: &str, parameters: &[(&str, &str)]) -> Result<rto::Kind, String> {
    let paths: Vec<String> = parameters.iter().map(|(key, _)| format!("rto.{key}")).collect();
    let values = parameters.iter().map(|(_, value)| *value);
    let overrides: Vec<(&str, &str)> =
        std::iter::once(("rto", name)).chain(paths.iter().map(String::as_str).zip(values)).collect();
    let (_, Chosen { rto: Named(choice) }) = shaped(&SCHEMA, "", &overrides)
        .map_err(|fault| fault.message.trim_start_matches("rto: ").trim_start_matches("rto.").to_owned())?;
    let kind = rto::Kind::from(choice);
    kind.validate().map_err(|error| error.to_string())?;
    Ok(kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_tcp::rto::{Factor, Kind};
    use netspurt_tcp::time::Span;

    #[test]
    fn a_name_brings_its_defaults_and_parameters_override_them() {
        let Ok(Kind::Rfc889 { f1, f2, g, .. }) = estimator("rfc889", &[("f2", "0.5")]) else { panic!() };
        assert_eq!([f1, f2, g], [Factor::ratio(15, 16), Factor::ratio(1, 2), Factor::ratio(2, 1)]);
        let Ok(Kind::Linux { min, .. }) = estimator("linux", &[("min", "50 ms")]) else { panic!() };
        assert_eq!(min, Span::from_ms(50));
        assert!(estimator("fixed", &[("rto", "3 s")]).is_ok());
    }

    #[test]
    fn an_error_is_one_sentence() {
        for (name, parameters, words) in [
            ("lunix", &[][..], "linux"),
            ("rfc889", &[("f3", "0.5")][..], "f3"),
            ("rfc889", &[("f1", "1.5")][..], "f1"),
            ("linux", &[("min", "50")][..], "50 ms"),
            ("linux", &[("min", "5 s"), ("max", "1 s")][..], "bound"),
            ("fixed", &[][..], "parameters"),
        ] {
            let message = estimator(name, parameters).expect_err("this is wrong");
            assert!(message.contains(words) && !message.contains('\n'), "{name}: {message}");
        }
    }
}
