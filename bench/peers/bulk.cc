// The work *bulk* of netspurt-bench for ns-3: long-lived NewReno flows with SACK behind a bottleneck of 1 Gbit/s.
//
//     bulk FLOWS SECONDS
//
// Prints the number of data packets that the receivers got. Nothing is traced.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>

using namespace ns3;

static uint64_t packets = 0;

static void
Received(Ptr<const Packet>, const Address&)
{
    ++packets;
}

// A link without a queue discipline: its device drops at the tail of so many packets.
static NetDeviceContainer
Join(Ptr<Node> left, Ptr<Node> right, const char* rate, const char* delay, const char* queue)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", StringValue(delay));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(queue));
    return link.Install(left, right);
}

int
main(int argc, char* argv[])
{
    const uint32_t flows = argc > 1 ? std::atoi(argv[1]) : 16;
    const double seconds = argc > 2 ? std::atof(argv[2]) : 5;
    const uint32_t mss = 1460;
    // The first slow start ends well inside the pipe and the queue, as in netspurt-bench.
    const uint32_t share = std::max(2400 / flows, 2u);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(mss));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold", UintegerValue(share * mss));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(16 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(16 << 20));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));

    NodeContainer routers;
    routers.Create(2);
    NodeContainer senders;
    senders.Create(flows);
    NodeContainer receivers;
    receivers.Create(flows);
    InternetStackHelper stack;
    stack.InstallAll();

    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    auto address = [&](const NetDeviceContainer& devices) {
        auto interfaces = addresses.Assign(devices);
        addresses.NewNetwork();
        return interfaces;
    };
    TrafficControlHelper none;
    auto join = [&](Ptr<Node> left, Ptr<Node> right, const char* rate, const char* delay, const char* queue) {
        auto devices = Join(left, right, rate, delay, queue);
        auto interfaces = address(devices);
        none.Uninstall(devices);
        return interfaces;
    };
    join(routers.Get(0), routers.Get(1), "1Gbps", "10ms", "2000p");
    for (uint32_t i = 0; i < flows; ++i)
    {
        join(senders.Get(i), routers.Get(0), "10Gbps", "1ms", "100000p");
        auto ends = join(routers.Get(1), receivers.Get(i), "10Gbps", "1ms", "100000p");

        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
        auto server = sink.Install(receivers.Get(i));
        server.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&Received));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(ends.GetAddress(1), 9));
        source.SetAttribute("MaxBytes", UintegerValue(0));
        source.SetAttribute("SendSize", UintegerValue(mss));
        source.Install(senders.Get(i)).Start(Seconds(0.1 * i / flows));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    Simulator::Destroy();
    std::cout << "data packets " << packets << std::endl;
    return 0;
}
