/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/mac48-address.h"
#include "ns3/nstime.h"
#include "ns3/pcap-file.h"
#include "ns3/qbb-net-device.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace ns3
{
namespace tests
{

/**
 * \ingroup hpcc
 * \brief EnablePcap() writes what a device sends and receives, to the nanosecond.
 */
class CaptureTest : public HpccTestCase
{
  public:
    CaptureTest()
        : HpccTestCase("A capture has the bytes and the nanoseconds of a device's frames")
    {
    }

  private:
    static constexpr uint32_t ETHERNET = 1;                  //!< link type of the file
    static constexpr uint32_t NANOSECOND_MAGIC = 0xa1b23c4d; //!< first word of the file

    /// A frame of a capture.
    struct Captured
    {
        uint64_t nanos;                   //!< when it was seen
        uint32_t length;                  //!< bytes
        std::array<uint8_t, 128> content; //!< the first of them
    };

    /**
     * \brief Send 2500 bytes from host 0 to host 1: three packets, three acknowledgements.
     * \param name the capture of host 0's device, closed in the end
     * \return the device's address
     */
    static std::array<uint8_t, 6> Capture(const std::string& name)
    {
        TestNetwork network;
        network.helper.SetWireProfile("rocev2_ipv4");
        network.helper.SetTelemetry("none");
        network.SetControl("none");
        network.MakeStar(2);
        network.helper.Start();
        network.helper.EnablePcap(name, network.GetHostDevice(0), true, true);
        network.AddFlow(0, 1, 2'500, MicroSeconds(3));
        std::array<uint8_t, 6> address;
        Mac48Address::ConvertFrom(network.GetHostDevice(0)->GetAddress()).CopyTo(address.data());
        Simulator::Run();
        Simulator::Destroy();
        return address;
    }

    void DoRun() override
    {
        const std::string name = CreateTempDirFilename("host.pcap");
        const std::array<uint8_t, 6> source = Capture(name);
        const std::vector<Captured> frames = Read(name);
        NS_TEST_ASSERT_MSG_EQ(frames.size(), 6, "three packets and their acknowledgements");
        // Ethernet 14, IPv4 20, UDP 8, BTH 12, RETH 16, payload, ICRC 4: without the check
        // sequence.
        NS_TEST_EXPECT_MSG_EQ(frames[0].length, 74 + 1'000, "the first of a WRITE");
        NS_TEST_EXPECT_MSG_EQ(frames[1].length, 58 + 1'000, "one in the middle");
        NS_TEST_EXPECT_MSG_EQ(frames[2].length, 58 + 500, "the last");
        NS_TEST_EXPECT_MSG_EQ(frames[3].length, 62, "an acknowledgement");
        NS_TEST_EXPECT_MSG_EQ(frames[0].nanos, 3'000, "when it begins to leave");
        // 1078 bytes at 100 Gb/s, check sequence included, and 20 bytes of preamble and gap.
        NS_TEST_EXPECT_MSG_EQ(frames[1].nanos, 3'088, "behind the first");
        std::array<uint8_t, 4> opcodes{};
        std::transform(frames.begin(),
                       frames.begin() + 4,
                       opcodes.begin(),
                       [](const Captured& frame) { return frame.content[42]; });
        const std::array<uint8_t, 4> expected{0x06, 0x07, 0x08, 0x11};
        NS_TEST_EXPECT_MSG_EQ((opcodes == expected),
                              true,
                              "first, middle, last of a WRITE; acknowledgement");
        NS_TEST_EXPECT_MSG_EQ(
            std::equal(source.begin(), source.end(), frames[0].content.begin() + 6),
            true,
            "sent by the device");
        NS_TEST_EXPECT_MSG_EQ(std::equal(source.begin(), source.end(), frames[3].content.begin()),
                              true,
                              "sent to the device");
    }

    /**
     * \param name a file
     * \return its frames
     */
    std::vector<Captured> Read(const std::string& name)
    {
        PcapFile file;
        file.Open(name, std::ios::in);
        NS_TEST_EXPECT_MSG_EQ(file.Fail(), false, name);
        NS_TEST_EXPECT_MSG_EQ(file.GetMagic(), NANOSECOND_MAGIC, "nanoseconds");
        NS_TEST_EXPECT_MSG_EQ(file.GetDataLinkType(), ETHERNET, "Ethernet");
        std::vector<Captured> frames;
        while (true)
        {
            Captured frame{};
            uint32_t seconds = 0;
            uint32_t fraction = 0;
            uint32_t included = 0;
            uint32_t read = 0;
            file.Read(frame.content.data(),
                      frame.content.size(),
                      seconds,
                      fraction,
                      included,
                      frame.length,
                      read);
            if (file.Eof() || file.Fail())
            {
                return frames;
            }
            frame.nanos = uint64_t{seconds} * 1'000'000'000 + fraction;
            frames.push_back(frame);
        }
    }
};

TestCases
MakeCaptureTests()
{
    return {new CaptureTest};
}

} // namespace tests
} // namespace ns3
