/** A small HTTP/1.1 and WebSocket server: a handler per request, in blocking style, on the tasks of one loop. */
@NullMarked
package io.fastio.http;

import org.jspecify.annotations.NullMarked;
