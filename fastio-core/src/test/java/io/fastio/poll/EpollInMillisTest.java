package io.fastio.poll;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The epoll poller as on a kernel without epoll_pwait2. */
@EnabledOnOs(OS.LINUX)
final class EpollInMillisTest extends PollerContract {
    @Override
    Poller open() throws IOException {
        return new EpollPoller(false);
    }

    @Test
    void saysWhyItCountsMilliseconds() {
        assertThat(poller).hasToString("epoll (epoll_wait in milliseconds, as epoll_pwait2: not wanted; eventfd)");
    }
}
