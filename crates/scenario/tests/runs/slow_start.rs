//! Slow start that is left before it overruns the path: HyStart as Linux has it, and HyStart++ (RFC 9406).

use netspurt_scenario::Scenario;
use netspurt_sim::World;
use netspurt_sim::record::result::FlowResult;

/// 10 MB over 100 Mbit/s and 50 ms there and back, through a queue of one bandwidth-delay product.
fn transfer(rule: &str, overrides: &[(&str, &str)]) -> FlowResult {
    let text = format!(
        "duration = \"60 s\"\n[tcp]\nprofile = \"linux\"\nhystart = \"{rule}\"\n[link.path]\nbetween = [\"a\", \"b\"]\n\
         rate = \"100 Mbit/s\"\ndelay = \"25 ms\"\nqueue = {{ kind = \"drop-tail\", limit = \"400 packets\" }}\n\
         [[flow]]\nfrom = \"a\"\nto = \"b\"\n[flow.app]\nkind = \"bulk\"\nbytes = \"10 MB\"\n"
    );
    let spec = Scenario::parse(&text, "hystart.toml", overrides).unwrap().build("hystart").unwrap();
    let result = World::new(spec, 1, None).unwrap().run(&|| false);
    assert!(result.flows[0].completed);
    result.flows[0].clone()
}

#[test]
fn slow_start_overruns_the_queue_unless_it_is_left_in_time() {
    let overrun = transfer("off", &[]);
    assert!(overrun.retransmitted > 800, "{}", overrun.retransmitted);
    let in_time = transfer("linux", &[]);
    assert_eq!(in_time.retransmitted, 0, "the train of ACKs tells before the delay does");
    // And not too early: the path stays in use.
    assert!(in_time.end_s.unwrap() < 1.25 * overrun.end_s.unwrap());
}

#[test]
fn careful_rounds_overrun_the_queue_by_a_quarter_of_the_window_at_most() {
    // The delay shows a round after the queue has formed, when the window has doubled once more: 1280 segments where path
    // and queue hold 1717. Then it grows by a quarter.
    let deep = ("link.path.queue", "{ kind = \"drop-tail\", limit = \"1300 packets\" }");
    let careful = transfer("rfc9406", &[deep]);
    let overrun = transfer("off", &[deep]);
    assert!(careful.retransmitted < 1717 / 4 + 10, "{}", careful.retransmitted);
    assert!(overrun.retransmitted > careful.retransmitted + 200, "{}", overrun.retransmitted);
    // Half as fast, with an ACK for two segments that counts as one, it is in time. A window that opens would give each an ACK.
    let slower = [deep, ("tcp.counting", "\"acks\""), ("tcp.receive_memory", "\"bytes\"")];
    assert_eq!(transfer("rfc9406", &slower).retransmitted, 0);
}

#[test]
fn without_a_round_trip_time_for_every_ack_slow_start_goes_on() {
    let blind = [
        ("tcp.recovery", "\"sack\""),
        ("tcp.tail_loss_probe", "false"),
        ("tcp.prr", "false"),
        ("tcp.undo", "false"),
    ];
    assert!(transfer("linux", &blind).retransmitted > 100);
}

#[test]
fn search_ends_slow_start_when_the_path_is_full() {
    // A very deep queue: only then the round trips are long enough for the data of one window to have left and to be missed.
    let deep = ("link.path.queue", "{ kind = \"drop-tail\", limit = \"3500 packets\" }");
    for congestion in ["\"cubic-linux\"", "\"cubic\""] {
        let keys = [
            deep,
            ("tcp.congestion", congestion),
            ("tcp.receive_window", "\"64 MB\""),
            ("tcp.send_buffer", "\"64 MB\""),
            ("flow.0.app.bytes", "\"40 MB\""),
        ];
        let overrun = transfer("off", &keys);
        let in_time = transfer("search", &keys);
        println!("{congestion}: {} {}", overrun.retransmitted, in_time.retransmitted);
        assert!(overrun.retransmitted > 300, "{congestion}: {}", overrun.retransmitted);
        assert!(in_time.retransmitted < overrun.retransmitted / 4, "{congestion}: {}", in_time.retransmitted);
        assert!(in_time.end_s.unwrap() < 1.15 * overrun.end_s.unwrap(), "{congestion}");
    }
}

#[test]
fn careful_resume_fills_a_known_path_in_few_round_trips_and_retreats_where_it_has_shrunk() {
    // 5 MB over 100 Mbit/s and 200 ms: the path holds 1700 segments, so slow start takes eight round trips.
    let keys = |resume: &'static str, rate: &'static str| {
        [
            ("link.path.rate", rate),
            ("link.path.delay", "\"100 ms\""),
            ("flow.0.app.bytes", "\"5 MB\""),
            ("tcp.receive_window", "\"64 MB\""),
            ("tcp.send_buffer", "\"64 MB\""),
            ("tcp.pacing", "true"),
            ("tcp.careful_resume", resume),
        ]
    };
    let saved = "{ kind = \"saved\", rtt = \"200 ms\", cwnd = \"2.5 MB\" }";
    let other = "{ kind = \"saved\", rtt = \"10 ms\", cwnd = \"2.5 MB\" }";
    let [usual, resumed, elsewhere] = ["{ kind = \"off\" }", saved, other]
        .map(|resume| transfer("linux", &keys(resume, "\"100 Mbit/s\"")).end_s.unwrap());
    println!("{usual} {resumed} {elsewhere}");
    assert!(resumed < usual - 0.6, "three round trips less: {resumed} {usual}");
    assert!((elsewhere - usual).abs() < 1e-9, "another path: {elsewhere} {usual}");
    // A tenth of the capacity: the jump overruns the queue, and the connection goes back to what was delivered.
    let [usual, retreated] =
        ["{ kind = \"off\" }", saved].map(|resume| transfer("linux", &keys(resume, "\"10 Mbit/s\"")));
    println!("{} {} {}", retreated.retransmitted, usual.end_s.unwrap(), retreated.end_s.unwrap());
    assert!(retreated.retransmitted > 100 && retreated.timeouts <= 1, "{}", retreated.retransmitted);
    assert!(retreated.end_s.unwrap() < 1.5 * usual.end_s.unwrap());
}
