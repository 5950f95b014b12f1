//! Synthetic paths: what was asked for comes out, and the same seed gives the same run.

use netspurt_scenario::SyntheticPath;
use netspurt_scenario::synthetic::{Cycle, Unreachable};

const BERK: &str = r#"
line = [{ octets = [40, 125], delay = ["336 ms", "967 ms"] }, { octets = [125, 256], delay = ["1188 ms", "1403 ms"] }]
split = 126
glitch = { every = 256 }
"#;

fn path(overrides: &[(&str, &str)]) -> SyntheticPath {
    SyntheticPath::parse(BERK, "berk.toml", overrides).unwrap_or_else(|error| panic!("{error}"))
}

/// Mean in seconds, coefficient of variation and losses, a lost cycle counted as zero.
fn moments(run: &[Cycle]) -> (f64, f64, usize) {
    let n = run.len() as f64;
    let delays = || run.iter().map(|cycle| cycle.delay_s.unwrap_or(0.0));
    let mean = delays().sum::<f64>() / n;
    let variance = delays().map(|delay| (delay - mean).powi(2)).sum::<f64>() / n;
    (mean, variance.sqrt() / mean, run.iter().filter(|cycle| cycle.delay_s.is_none()).count())
}

#[test]
fn a_calibrated_run_has_the_requested_mean_variation_and_losses() {
    for (mean, cov, lost) in
        [("865 ms", 1.13, 20), ("589 ms", 0.06, 0), ("267 ms", 1.1, 196), ("2 s", 0.3, 1)]
    {
        for seed in 1..=20 {
            let (cov_text, lost_text) = (cov.to_string(), lost.to_string());
            let target =
                [("calibrate.mean", mean), ("calibrate.cov", &*cov_text), ("calibrate.lost", &*lost_text)];
            let path = path(&target);
            let run = path.build().run(seed).expect("within reach");
            let (got_mean, got_cov, got_lost) = moments(&run);
            let asked = path.calibrate.expect("asked for").mean.0.as_secs_f64();
            assert!((got_mean / asked - 1.0).abs() < 1e-9, "seed {seed}: mean {got_mean}");
            assert!(
                (got_cov - cov).abs() < 1e-6,
                "seed {seed}: coefficient of variation {got_cov}, not {cov}"
            );
            assert_eq!(got_lost, lost, "seed {seed}");
            assert!(run.iter().all(|cycle| cycle.delay_s.is_none_or(|delay| delay > 0.0)), "seed {seed}");
        }
    }
}

#[test]
fn an_unreachable_variation_is_an_error() {
    let losses = [("calibrate.mean", "1 s"), ("calibrate.cov", "0.1"), ("calibrate.lost", "100")];
    assert!(matches!(path(&losses).build().run(1), Err(Unreachable::LossesGiveMore { .. })));
    let flat = [("calibrate.mean", "1 s"), ("calibrate.cov", "100")];
    let error = path(&flat).build().run(1).expect_err("a run of 512 has at most the root of 511");
    assert!(error.to_string().contains("no more than"), "{error}");
}

#[test]
fn without_noise_a_delay_is_that_of_its_length() {
    let run = path(&[("noise", "0"), ("glitch.height", "0")]).build().run(7).expect("nothing to reach");
    for Cycle { octets, delay_s } in run {
        let octets_f = f64::from(octets);
        let expected = if octets < 126 {
            336.0 + (967.0 - 336.0) * (octets_f - 40.0) / 85.0
        } else {
            1188.0 + (1403.0 - 1188.0) * (octets_f - 125.0) / 131.0
        };
        assert!((40..=256).contains(&octets));
        assert!((delay_s.expect("nothing is lost") * 1000.0 - expected).abs() < 1e-6, "{octets} octets");
    }
}

#[test]
fn losses_coincide_with_glitches_if_so_configured() {
    let text = [("cycles", "200000"), ("glitch.shape", r#"{ kind = "plateau", cycles = 20 }"#)];
    let count = |loss: &str| {
        let mut overrides = text.to_vec();
        overrides.push(("loss", loss));
        moments(&path(&overrides).build().run(3).expect("nothing to reach")).2 as f64 / 200_000.0
    };
    assert!((count("{ rate = 0.05 }") - 0.05).abs() < 0.002);
    // A part of 1 - exp(-20/256) of all cycles lies in a glitch.
    let inside = 1.0 - (-20.0_f64 / 256.0).exp();
    assert!((count("{ during_glitch = 0.5 }") - 0.5 * inside).abs() < 0.003);
}

#[test]
fn each_ingredient_draws_from_a_stream_of_its_own() {
    let octets = |overrides: &[(&str, &str)]| -> Vec<u32> {
        path(overrides).build().run(5).expect("nothing to reach").iter().map(|cycle| cycle.octets).collect()
    };
    assert_eq!(octets(&[]), octets(&[("noise", "1"), ("glitch.every", "10"), ("loss.rate", "0.3")]));
    let run = |seed| path(&[("loss.rate", "0.1")]).build().run(seed).expect("nothing to reach");
    assert_eq!(run(9), run(9));
    assert_ne!(run(9), run(10));
}

#[test]
fn mistakes_are_named_with_their_place() {
    for (overrides, words) in [
        (&[("split", "0")][..], ""),
        (&[("line", r#"[{ delay = ["1 s", "2 s"] }]"#)][..], "split is for two lines"),
        (&[("line", r#"{ delay = ["1 s", "2 s"] }"#)][..], "line"),
        (&[("noise", "-1")][..], "noise"),
        (
            &[("calibrate.mean", "1 s"), ("calibrate.cov", "1"), ("calibrate.lost", "512")][..],
            "fewer packets",
        ),
        (&[("glitch.shape", "square")][..], "decay"),
    ] {
        match SyntheticPath::parse(BERK, "berk.toml", overrides) {
            Ok(_) => assert!(words.is_empty(), "{overrides:?} was taken"),
            Err(error) => assert!(error.to_string().contains(words), "{error}"),
        }
    }
    let error = SyntheticPath::parse("cycles = 5\nlnie = 3\n", "x.toml", &[]).expect_err("no such key");
    assert_eq!((error.line, error.column), (Some(2), Some(1)), "{error}");
}

#[test]
fn a_merged_path_reads_back_to_itself() {
    let whole = path(&[("loss.during_glitch", "0.5"), ("calibrate", r#"{ mean = "1 s", cov = 1.0 }"#)]);
    let again = SyntheticPath::parse(&whole.merged_toml(), "again.toml", &[]);
    assert_eq!(again.unwrap_or_else(|error| panic!("{error}")), whole);
}
