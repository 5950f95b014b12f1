//! What holds for every text and every quantity.

use netspurt_scenario::{
    Cap, Direction, Duration, Grain, InitialCwnd, Limit, Packets, Quantity, Rate, Scenario, Size, TimeLimit,
    Window,
};
use netspurt_tcp::time::Span;
use proptest::prelude::*;

#[track_caller]
fn reads<Q: Quantity + PartialEq + core::fmt::Debug>(text: &str, value: Q) {
    assert_eq!(Q::parse(text), Ok(value), "{text}");
}

#[test]
fn units_are_exact() {
    reads("1.544 Mbit/s", Rate(1_544_000));
    reads("1 Gb/s", Rate(1_000_000_000));
    reads("10 Tbit/s", Rate(10_000_000_000_000));
    reads("0.1 Gbps", Rate(100_000_000));
    reads("290 ms", Duration(Span::from_ms(290)));
    reads("290ms", Duration(Span::from_ms(290)));
    reads("1e-3 us", Duration(Span::from_ns(1)));
    reads("0.3 ns", Duration(Span::from_ps(300)));
    reads("1 min", Duration(Span::from_secs(60)));
    reads("500 ps", Duration(Span::from_ps(500)));
    reads("1_000 s", Duration(Span::from_secs(1000)));
    reads("156 KiB", Size(159_744));
    reads("1.5 MiB", Size(3 << 19));
    reads("150 kB", Size(150_000));
    reads("7 bytes", Size(7));
    reads("50 packets", Limit::Packets(50));
    reads("64 KiB", Limit::Bytes(65_536));
    reads("1 packet", Packets(1));
    reads("100 segments", Window::Segments(100));
    reads("infinite", Cap::Infinite);
    reads("continuous", Grain::Continuous);
    reads("forever", TimeLimit::Forever);
    reads("rfc3390", InitialCwnd::Rfc3390);
    reads("a->b", Direction { from: "a".to_owned(), to: "b".to_owned() });
}

#[test]
fn the_spellings_of_tc_and_iperf3_are_read() {
    for text in ["10mbit", "10Mbit", "10 Mbit/s", "10M", "10m", "10000kbit", "10000k", "10e6bit"] {
        reads(text, Rate(10_000_000));
    }
    reads("1gbit", Rate(1_000_000_000));
    reads("1mibit", Rate(1 << 20));
    reads("40ms", Duration(Span::from_ms(40)));
    reads("40msec", Duration(Span::from_ms(40)));
    reads("30sec", Duration(Span::from_secs(30)));
    reads("1500b", Size(1500));
    reads("20MB", Size(20_000_000));
    reads("20M", Size(20 << 20));
    reads("64k", Size(65_536));
    reads("64K", Window::Bytes(65_536));
    reads("100p", Limit::Packets(100));
    reads("100pkts", Packets(100));
    reads("1500b", Limit::Bytes(1500));
}

#[test]
fn spellings_with_two_meanings_are_refused() {
    for text in ["10mbps", "1 gbps", "10 MB/s", "8Bps"] {
        assert!(Rate::parse(text).is_err_and(|error| error.contains(" means ")), "{text}");
    }
    for text in ["64kb", "64KB", "1mb", "1Mb", "5mbit"] {
        assert!(Size::parse(text).is_err_and(|error| error.contains(" means ")), "{text}");
        assert!(Limit::parse(text).is_err_and(|error| error.contains(" means ")), "{text}");
    }
    assert!(Duration::parse("5m").is_err_and(|error| error.contains("write \"min\" or \"ms\"")));
}

#[test]
fn a_percentage_is_the_number_nearest_to_it() {
    let scenario = |rate: &str| {
        let text = format!(
            "duration = \"1 s\"\n[link.l]\nbetween = [\"a\", \"b\"]\nloss = {{ kind = \"packet-error\", rate = {rate} }}\n\
             reorder = {{ probability = {rate}, delay = \"1 ms\" }}\n"
        );
        Scenario::parse(&text, "loss.toml", &[]).expect("a rate of loss")
    };
    for (percentage, number) in
        [("0.1%", "0.001"), ("2.5 %", "0.025"), ("100%", "1.0"), ("0%", "0"), ("7e-2%", "7e-4")]
    {
        assert_eq!(scenario(&format!("\"{percentage}\"")), scenario(number), "{percentage}");
    }
}

#[test]
fn only_the_smallest_unit_is_rounded() {
    reads("0.4 ps", Duration(Span::ZERO));
    reads("0.5 ps", Duration(Span::from_ps(1)));
    reads("0.0000000000000000000000000000000000000000000001 s", Duration(Span::ZERO));
    reads("1.0000000000005 s", Duration(Span::from_ps(1_000_000_000_001)));
}

#[test]
fn what_cannot_be_held_is_refused() {
    for text in [
        "214 h 3",
        "1e30 s",
        "99999999999999999999999999999999999999999 s",
        "1.2.3 s",
        ". s",
        "s",
        "",
        "1 kg",
    ] {
        assert!(Duration::parse(text).is_err(), "{text}");
    }
    assert!(Duration::parse("1e999999999999 s").is_err());
    assert!(Limit::parse("5 segments").is_err());
}

/// Prints and reads again.
fn again<Q: Quantity + PartialEq + core::fmt::Debug>(value: Q) -> Result<(), TestCaseError> {
    let text = value.print();
    prop_assert_eq!(Q::parse(&text), Ok(value), "{}", text);
    Ok(())
}

/// Words and marks of a scenario, so that random texts come near to real ones.
fn near_scenario() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "duration",
        " = ",
        "\"10 s\"",
        "\n",
        "[link.a]",
        "between",
        "[",
        "]",
        "\"x\"",
        ",",
        "{",
        "}",
        "kind",
        "[[flow]]",
        "app",
        "\"bulk\"",
        "from",
        "to",
        "tcp",
        ".",
        "rto",
        "\"linux\"",
        "1",
        "-1e9",
        "nan",
        "\"1 GiB\"",
        "loss",
        "true",
        "\"\"",
        "\"->\"",
        "direction",
        "1979-05-27",
        "host",
        "é",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn a_quantity_prints_to_what_it_reads_from(n: u64, small: u32) {
        for n in [n, u64::from(small), n % 1_000_000 * 1000, n >> 20 << 20] {
            again(Duration(Span::from_ps(n)))?;
            again(Rate(n))?;
            again(Size(n))?;
            again(Packets(n))?;
            again(Limit::Packets(n))?;
            again(Limit::Bytes(n))?;
            again(Window::Segments(n))?;
            again(Cap::At(Window::Bytes(n)))?;
            again(Grain::Ticks(Duration(Span::from_ps(n))))?;
            again(TimeLimit::For(Duration(Span::from_ps(n))))?;
        }
        again(InitialCwnd::Segments(small))?;
    }

    #[test]
    fn no_text_panics(text in ".*", path in ".*", value in ".*") {
        let good = include_str!("satellite.toml");
        let _ = Scenario::parse(&text, "any", &[]);
        let _ = Scenario::parse(good, "any", &[(&path, &value)]);
        let _ = Duration::parse(&text);
        let _ = Limit::parse(&text);
        let _ = InitialCwnd::parse(&text);
    }

    #[test]
    fn no_text_that_looks_like_a_scenario_panics(text in near_scenario(), value in near_scenario()) {
        let good = include_str!("everything.toml");
        let _ = Scenario::parse(&text, "any", &[]);
        for path in ["link.bottleneck.loss", "flow.0.app", "tcp", "flow", "host.server.tcp.rto.min", "link"] {
            let _ = Scenario::parse(good, "any", &[(path, &value)]);
        }
    }

    #[test]
    fn a_cut_file_is_an_error_with_a_place_or_a_scenario(cut in 0..2400_usize) {
        let text: String = include_str!("everything.toml").chars().take(cut).collect();
        if let Err(error) = Scenario::parse(&text, "cut.toml", &[]) {
            prop_assert!(error.line.is_some() && error.column.is_some());
            prop_assert!(!error.message.contains('\n') && !error.message.is_empty());
        }
    }
}
