//! What a connection costs (a budget of `architecture`): held by a test, so that no field slips in unnoticed.

#[cfg(test)]
mod tests {
    use core::mem::size_of;

    #[test]
    fn an_idle_connection_stays_within_its_budget() {
        println!("connection {}", size_of::<crate::Connection>());
        println!("snd {}", size_of::<crate::send::SendSpace>());
        println!("rcv {}", size_of::<crate::receive::ReceiveSpace>());
        println!("loss {}", size_of::<crate::recovery::LossState>());
        println!("cc {}", size_of::<crate::congestion::Congestion>());
        println!("rto {}", size_of::<crate::rto::Rto>());
        println!("timers {}", size_of::<crate::timers::Timers>());
        println!("stats {}", size_of::<crate::stats::Stats>());
        println!("segment {}", size_of::<crate::segment::Segment>());
        println!("options {}", size_of::<crate::options::Options>());
        println!("config {}", size_of::<crate::config::Config>());
        assert!(size_of::<crate::Connection>() <= 1024);
    }
}
