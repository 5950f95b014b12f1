//! Another congestion control on an open connection (TCP_CONGESTION).

use crate::bottleneck::{MSS, Path, World, config};
use netspurt_tcp::Change;
use netspurt_tcp::congestion::Kind;
use netspurt_tcp::time::Span;

/// 10 Mbit/s and 50 ms, with a queue of one bandwidth-delay product.
const PATH: Path = Path { rate: 1_250_000, delay: Span::from_ms(25), queue: 62 * 1000, loss: 0 };

/// A transfer with CUBIC that has lost something.
fn after_a_loss() -> World {
    let mut world = World::unopened(config("linux"), PATH, 1);
    world.open();
    world.write(20_000_000);
    world.run_for(Span::from_secs(4));
    assert!(world.sender.ssthresh() < u32::MAX && world.sender.cwnd() > 20 * MSS);
    world
}

#[test]
fn the_new_one_takes_over_cwnd_ssthresh_and_the_rtt() {
    for kind in
        [Kind::RenoLinux, Kind::Htcp, Kind::Westwood, Kind::Illinois, Kind::Vegas, Kind::Dctcp, Kind::Ledbat]
    {
        let mut world = after_a_loss();
        let tcp = &mut world.sender;
        let before = (tcp.cwnd(), tcp.ssthresh(), tcp.srtt(), tcp.rto());
        tcp.change(world.now, Change::Congestion(kind));
        assert_eq!((tcp.cwnd(), tcp.ssthresh(), tcp.srtt(), tcp.rto()), before, "{kind:?}");
        assert_eq!(tcp.config().congestion, kind);
        let acknowledged = tcp.acknowledged();
        world.run_for(Span::from_secs(4));
        assert!(world.sender.acknowledged() > acknowledged + 3_000_000, "{kind:?} goes on");
    }
}

#[test]
fn bbr_measures_the_path_from_the_change_on() {
    let mut world = after_a_loss();
    let (cwnd, ssthresh) = (world.sender.cwnd(), world.sender.ssthresh());
    world.sender.change(world.now, Change::Congestion(Kind::Bbr));
    assert_eq!(world.sender.cwnd(), cwnd);
    assert!(ssthresh < u32::MAX && world.sender.ssthresh() == u32::MAX, "a path model has none");
    world.run_for(Span::from_secs(6));
    let rate = world.sender.info().pacing_rate.expect("it paces");
    assert!((900_000..1_700_000).contains(&rate), "{rate} bytes a second on a path of 1 250 000");
}

#[test]
fn an_idle_time_after_the_change_restarts_from_the_initial_window() {
    let mut world = World::unopened(config("linux"), PATH, 1);
    world.open();
    world.write(200_000);
    world.run_for(Span::from_secs(3));
    world.sender.change(world.now, Change::Congestion(Kind::RenoLinux));
    assert!(world.sender.cwnd() > 10 * MSS);
    world.run_for(Span::from_secs(20));
    world.write(1000);
    assert_eq!(world.sender.cwnd(), 10 * MSS);
}
