/**
 * Readiness of channels and file descriptors: the only room of the house that talks to the kernel's waiting calls.
 *
 * <p>{@link io.fastio.poll.Poller} is the interface; {@link io.fastio.poll.EpollPoller} serves Linux and {@link
 * io.fastio.poll.SelectorPoller} every other place. {@link io.fastio.poll.FdIo} reads and writes file descriptors
 * that are no NIO channels. Nothing here knows of tasks. The package is not exported.
 */
@NullMarked
package io.fastio.poll;

import org.jspecify.annotations.NullMarked;
