package io.fastio.tools.demo;

import java.util.Optional;

/**
 * What the client measured.
 *
 * @param figures of the times from request to reply
 * @param longestGap nanoseconds for which the client itself was kept from running at most, see {@link Gaps}
 */
record Echoes(Optional<Figures> figures, long longestGap) {}
