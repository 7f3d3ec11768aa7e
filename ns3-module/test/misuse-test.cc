/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/abort.h"

#include <array>
#include <csignal>
#include <functional>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace ns3
{
namespace tests
{

namespace
{

/**
 * \brief Do something that must end the program, in a process of its own.
 * \param folder where it is done: files that it may leave by names of its own are left there
 * \param misuse what to do
 * \return what the process said on standard error; without its end by abort(), how it ended
 */
std::string
AbortOf(const std::string& folder, const std::function<void()>& misuse)
{
    std::array<int, 2> ends{};
    NS_ABORT_MSG_IF(pipe(ends.data()) != 0, "no pipe");
    const pid_t child = fork();
    NS_ABORT_MSG_IF(child < 0, "no process");
    if (child == 0)
    {
        const rlimit noCore{0, 0};
        setrlimit(RLIMIT_CORE, &noCore);
        dup2(ends[1], STDERR_FILENO);
        if (chdir(folder.c_str()) != 0)
        {
            _exit(1);
        }
        misuse();
        _exit(0);
    }
    close(ends[1]);
    std::string said;
    std::array<char, 512> buffer{};
    for (ssize_t count = 0; (count = read(ends[0], buffer.data(), buffer.size())) > 0;)
    {
        said.append(buffer.data(), count);
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT
               ? said
               : "it ended with status " + std::to_string(status);
}

} // namespace

/**
 * \ingroup hpcc
 * \brief What a program must not do ends it with a message that says why.
 */
class MisuseTest : public HpccTestCase
{
  public:
    /**
     * \param what what is done wrong
     * \param misuse does it
     * \param reason what the message must hold
     */
    MisuseTest(const std::string& what, std::function<void()> misuse, std::string reason)
        : HpccTestCase("Refused: " + what),
          m_misuse(std::move(misuse)),
          m_reason(std::move(reason))
    {
    }

  private:
    void DoRun() override
    {
        const std::string said = AbortOf(CreateTempDirFilename(""), m_misuse);
        NS_TEST_EXPECT_MSG_NE(said.find(m_reason),
                              std::string::npos,
                              "expected \"" << m_reason << "\" in: " << said);
    }

    std::function<void()> m_misuse; //!< does it
    std::string m_reason;           //!< what the message must hold
};

TestCase*
MakeMisuseTest(const std::string& what, std::function<void()> misuse, const std::string& reason)
{
    return new MisuseTest(what, std::move(misuse), reason);
}

std::function<void()>
WithNetwork(bool start, const std::function<void(TestNetwork&)>& misuse)
{
    return [start, misuse]() {
        TestNetwork network;
        network.MakeStar(2);
        if (start)
        {
            network.helper.Start();
        }
        misuse(network);
    };
}

} // namespace tests
} // namespace ns3
