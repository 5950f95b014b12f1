//! Plays scripts of packets and socket calls from standard input on a virtual clock: see [`netspurt_packetdrill::replay`].

use std::io;

fn main() -> io::Result<()> {
    netspurt_packetdrill::replay(io::stdin().lock(), io::BufWriter::new(io::stdout().lock()))
}
