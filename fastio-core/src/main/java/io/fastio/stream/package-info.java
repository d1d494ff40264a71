/** Byte streams, servers and devices, read and written in blocking style by tasks. */
@NullMarked
package io.fastio.stream;

import org.jspecify.annotations.NullMarked;
