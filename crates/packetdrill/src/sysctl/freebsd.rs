//! The sysctls of FreeBSD that the adapter knows.

use netspurt_tcp::config::{Config, EcnUse, WindowOption};

/// Their names.
pub(super) const NAMES: [&str; 4] = [
    "net.inet.tcp.ecn.enable",
    "net.inet.tcp.insecure_rst",
    "net.inet.tcp.rfc1323",
    "net.inet.tcp.sack.enable",
];

/// Applies one to a configuration.
///
/// # Errors
/// A sentence that says what is wrong and what is valid.
pub(super) fn set(config: &mut Config, name: &str, value: &str) -> Result<(), String> {
    let number: u8 = value.parse().map_err(|_| format!("`{name}={value}`: expected a number"))?;
    match (name, number) {
        ("net.inet.tcp.insecure_rst", _) => config.insecure_rst = number > 0,
        ("net.inet.tcp.sack.enable", _) => config.sack = number > 0,
        ("net.inet.tcp.rfc1323", 0) => {
            (config.timestamps, config.window_option) = (false, WindowOption::None);
        }
        ("net.inet.tcp.rfc1323", 1) => {}
        ("net.inet.tcp.ecn.enable", 0) => config.ecn = EcnUse::Off,
        ("net.inet.tcp.ecn.enable", 1) => config.ecn = EcnUse::Rfc3168,
        ("net.inet.tcp.ecn.enable", 2) => config.ecn = EcnUse::Accept,
        _ if NAMES.contains(&name) => {
            return Err(format!("`{name}={value}`: the adapter does not know this value"));
        }
        _ => return Err(format!("unknown sysctl `{name}`; known: {}", NAMES.join(", "))),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_tcp::profile;

    #[test]
    fn a_sysctl_changes_the_configuration_and_an_unknown_one_is_refused() {
        let mut config = profile::by_name("freebsd").expect("it exists").config.clone();
        for flag in ["insecure_rst=1", "sack.enable=0", "rfc1323=0", "ecn.enable=1"] {
            let (name, value) = flag.split_once('=').expect("a value");
            assert_eq!(set(&mut config, &format!("net.inet.tcp.{name}"), value), Ok(()));
        }
        assert!(config.insecure_rst && !config.sack && !config.timestamps);
        assert_eq!((config.window_option, config.ecn), (WindowOption::None, EcnUse::Rfc3168));
        assert!(set(&mut config, "net.inet.tcp.rfc1323", "7").is_err());
        assert!(set(&mut config, "net.inet.tcp.insecure_syn", "1").is_err());
    }
}
