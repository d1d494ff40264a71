/**
 * A small HTTP/1.1 and WebSocket server: a handler per request, in blocking style, on the tasks of one loop.
 *
 * <p>Why the parser is our own. Looked at were Netty's {@code HttpObjectDecoder}, Jetty's {@code HttpParser} and Apache's
 * {@code httpcore5}, all of them well kept. The first parses out of Netty's buffers, inside its pipeline; the last reads from
 * streams or sessions of its own reactor; Jetty's, the only one that can be fed bytes, comes with two modules of Jetty, makes
 * an object of each field, and is lenient by default where this server must not be. Here a head is parsed where it lies, each
 * byte once as it comes, and allocates nothing; a field becomes a string when a handler asks for it. {@code ParserCostTest}
 * measures that and holds it to 0 bytes: 1.4 million heads of a browser (385 bytes, 7 fields) and 13 million of the smallest
 * kind a second on the machine of docs/performance.md. What makes a parser trustworthy is done in its tests instead:
 * {@code BadRequestTest} has the smuggling shapes.
 */
@NullMarked
package io.fastio.http;

import org.jspecify.annotations.NullMarked;
