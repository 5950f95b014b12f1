# The work *bulk* of netspurt-bench for ns-2: long-lived NewReno flows with SACK behind a bottleneck of 1 Gbit/s.
#
#     ns bulk.tcl FLOWS SECONDS
#
# Prints the number of data packets that the receivers got. Nothing is traced.

set flows [lindex $argv 0]
set seconds [lindex $argv 1]

set ns [new Simulator]
# Routes are given below: those that ns-2 computes take n³ steps.
$ns rtproto Manual
remove-all-packet-headers
add-packet-header IP TCP Flags

set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right 1Gb 10ms DropTail
$ns queue-limit $left $right 2000
$ns queue-limit $right $left 2000

proc route {node to args} {
    eval [$node get-module "Manual"] add-route-to-adj-node $args $to
}
route $left $right -default
route $right $left -default

Agent/TCP set packetSize_ 1460
Agent/TCP set window_ 11500
Agent/TCP set windowInit_ 2
Agent/TCP set ecn_ 0
Agent/TCP set useHeaders_ true
Agent/TCP set tcpip_base_hdr_size_ 40

# The first slow start ends well inside the pipe and the queue, as in netspurt-bench.
set share [expr max(2, 2400 / $flows)]

for {set i 0} {$i < $flows} {incr i} {
    set from [$ns node]
    set to [$ns node]
    $ns duplex-link $from $left 10Gb 1ms DropTail
    $ns duplex-link $right $to 10Gb 1ms DropTail
    $ns queue-limit $from $left 100000
    route $from $left -default
    route $to $right -default
    route $left $from
    route $right $to
    set tcp [new Agent/TCP/Sack1]
    $tcp set ssthresh_ $share
    set sink [new Agent/TCPSink/Sack1]
    set ftp [new Application/FTP]
    $ns attach-agent $from $tcp
    $ns attach-agent $to $sink
    $ns connect $tcp $sink
    $ftp attach-agent $tcp
    $ns at [expr 0.1 * $i / $flows] "$ftp start"
    lappend senders $tcp
}

proc finish {} {
    global senders
    set packets 0
    foreach tcp $senders {
        set packets [expr $packets + [$tcp set ndatapack_]]
    }
    puts "data packets $packets"
    exit 0
}

$ns at $seconds "finish"
$ns run
