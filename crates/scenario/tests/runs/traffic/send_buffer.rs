//! Small send buffers of the profile `linux` beside Linux 6.18, whose transfers were carried out by `netspurt emulate`.

use netspurt_scenario::Scenario;
use netspurt_sim::World;

/// A path, the send buffer in bytes of memory (twice SO_SNDBUF), the bytes sent, and the kernel's seconds.
struct Case {
    profile: &'static str,
    bits_per_second: u64,
    delay_us: u64,
    packets: u32,
    buffer: u64,
    bytes: u64,
    kernel: f64,
}

/// The seconds that the only transfer of a scenario takes, from the SYN to the last ACK.
fn simulated(text: &str) -> f64 {
    let spec = Scenario::parse(text, "buffer.toml", &[]).unwrap().build("buffer").unwrap();
    World::new(spec, 1, None).unwrap().run(&|| false).flows[0].end_s.unwrap()
}

fn seconds(case: &Case, memory: &str) -> f64 {
    let Case { profile, bits_per_second, delay_us, packets, buffer, bytes, .. } = case;
    simulated(&format!(
        "duration = \"300 s\"\n[tcp]\nprofile = \"{profile}\"\nsend_memory = \"{memory}\"\nsend_buffer = \"{buffer} B\"\n\
         [link.path]\nbetween = [\"a\", \"b\"]\nrate = \"{bits_per_second} bit/s\"\ndelay = \"{delay_us} us\"\n\
         queue = {{ kind = \"drop-tail\", limit = \"{packets} packets\" }}\n\
         [[flow]]\nfrom = \"a\"\nto = \"b\"\n[flow.app]\nkind = \"bulk\"\nbytes = \"{bytes} B\"\n"
    ))
}

const fn case(profile: &'static str, path: (u64, u64, u32), buffer: u64, bytes: u64, kernel: f64) -> Case {
    Case { profile, bits_per_second: path.0, delay_us: path.1, packets: path.2, buffer, bytes, kernel }
}

const CASES: [Case; 6] = [
    case("linux", (48_135_607, 29_643, 387), 170_864, 3_849_286, 1.577),
    case("bbr", (10_073_952, 5_511, 8), 8_688, 793_991, 0.951),
    case("linux", (21_864_128, 16_158, 37), 18_824, 755_256, 1.077),
    case("bbr", (8_725_579, 5_246, 13), 8_688, 1_584_272, 1.928),
    case("linux", (23_656_794, 29_252, 140), 53_576, 1_044_050, 0.967),
    case("bbr", (5_409_346, 5_650, 8), 8_688, 1_463_646, 2.572),
];

/// Four are within 15 %. The third and the fifth overrun the queue, and the time to repair that depends on single packets: the
/// third takes 0.70 to 1.41 s with queues of 33 to 41 packets.
#[test]
fn transfers_take_as_long_as_those_of_linux() {
    let errors = |memory| CASES.each_ref().map(|case| seconds(case, memory) / case.kernel - 1.0);
    let within = |errors: &[f64]| errors.iter().filter(|error| error.abs() < 0.15).count();
    let (memory, bytes) = (errors("linux"), errors("bytes"));
    assert!(within(&memory) >= 4, "{memory:.3?}");
    assert!(within(&bytes) < within(&memory), "{bytes:.3?}");
}

/// A transfer over a fast or long path, as far as the growing buffer of 4 MiB permits, and the kernel's seconds.
struct Fast {
    congestion: &'static str,
    mbps: f64,
    rtt_us: u64,
    packets: u32,
    megabytes: f64,
    kernel: f64,
}

impl Fast {
    fn seconds(&self, memory: &str) -> f64 {
        let Self { congestion, mbps, rtt_us, packets, megabytes, .. } = self;
        simulated(&format!(
            "duration = \"60 s\"\n[tcp]\nprofile = \"linux\"\nsegmentation_offload = true\n\
             congestion = \"{congestion}\"\npacing = {}\nsend_memory = \"{memory}\"\n[link.path]\nbetween = [\"a\", \"b\"]\n\
             rate = \"{mbps} Mbit/s\"\ndelay = \"{} us\"\nqueue = {{ kind = \"drop-tail\", limit = \"{packets} packets\" }}\n\
             [[flow]]\nfrom = \"a\"\nto = \"b\"\n[flow.app]\nkind = \"bulk\"\nbytes = \"{megabytes} MB\"\n",
            *congestion == "bbr",
            rtt_us / 2
        ))
    }

    fn error(&self, memory: &str) -> f64 {
        self.seconds(memory) / self.kernel - 1.0
    }
}

const fn fast(congestion: &'static str, path: (f64, u64, u32), megabytes: f64, kernel: f64) -> Fast {
    Fast { congestion, mbps: path.0, rtt_us: path.1, packets: path.2, megabytes, kernel }
}

#[test]
fn a_buffer_that_has_grown_to_its_limit_limits_as_in_linux() {
    let transfers = [
        fast("reno-linux", (649.0, 67_700, 6434), 40.0, 1.5413),
        fast("reno-linux", (555.0, 149_000, 8850), 40.0, 3.3324),
        fast("reno-linux", (620.0, 49_200, 3383), 40.0, 1.1298),
    ];
    for transfer in transfers {
        let [memory, bytes] = ["linux", "bytes"].map(|memory| transfer.error(memory));
        assert!(memory.abs() < 0.03 && bytes < -0.1, "{} Mbit/s: {memory:.3} {bytes:.3}", transfer.mbps);
    }
}

/// The queue overflows at the end of slow start. If the buffer shrank with cwnd then, these would take 0.63, 0.80 and 0.96 of the
/// kernel's time.
#[test]
fn a_buffer_keeps_its_size_when_losses_make_cwnd_smaller() {
    let transfers = [
        fast("reno-linux", (222.0, 75_800, 582), 40.0, 3.693),
        fast("cubic-linux", (222.0, 75_800, 582), 40.0, 2.676),
        fast("cubic-linux", (70.8, 269_000, 1313), 35.4, 6.658),
    ];
    for transfer in transfers {
        let error = transfer.error("linux");
        assert!(error.abs() < 0.03, "{} at {} Mbit/s: {error:.3}", transfer.congestion, transfer.mbps);
    }
}

/// BBR disregards rates of an application that limits. A writer in the middle of a call does not: otherwise startup would last
/// longer, and this would take 1.045 of the kernel's time.
#[test]
fn a_writer_that_waits_for_memory_does_not_count_as_an_application_that_limits() {
    let error = fast("bbr", (417.0, 29_300, 1120), 40.0, 1.075).error("linux");
    assert!(error.abs() < 0.03, "{error:.3}");
}
