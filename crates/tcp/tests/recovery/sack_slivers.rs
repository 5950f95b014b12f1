//! Reports that no receiver makes: what they may cost.

use crate::common::lone::{FULL, Lone, ack, ours, plain};
use netspurt_tcp::config::{Config, InitialWindow, Recovery, WindowOption};
use netspurt_tcp::options::{Options, SackBlock};

#[test]
fn a_peer_that_reports_slivers_fills_no_memory() {
    // A million bytes are out, in a thousand segments: a receiver that gets every other one reports 500 ranges.
    for (recovery, most) in
        [(Recovery::Sack, 1200), (Recovery::NewReno, 1200), (Recovery::Reno, 1200), (Recovery::Rack, 0)]
    {
        let config = Config {
            recovery,
            sack: true,
            send_buffer: 1 << 21,
            initial_window: InitialWindow::Segments(1000),
            window_option: WindowOption::Rfc7323,
            ..plain()
        };
        let options = Options { sack_permitted: true, window_scale: Some(7), ..FULL };
        let mut lone = Lone::established(config, options, 60_000);
        lone.gets(ack(1, 1, 60_000));
        let out = lone.writes(1 << 20).iter().map(|out| u64::from(out.len)).sum::<u64>();
        assert!(out >= 900_000, "{recovery:?}: {out}");
        for n in 0..20_000 {
            let blocks = (0..3).map(|k| 50 + 2 * ((3 * n + k) * 7919 % 400_000));
            let mut report = ack(1, 1, 60_000);
            blocks.for_each(|at| {
                report.options.sack.push(SackBlock { left: ours(at), right: ours(at + 1) });
            });
            report.header_len = 48;
            lone.gets(report);
        }
        let sacked = lone.c.info().sacked;
        assert!(sacked <= most, "{recovery:?}: {sacked} slivers of one byte");
    }
}
