/** TLS over any stream: clients, servers, and the upgrade of a live connection. */
@NullMarked
package io.fastio.tls;

import org.jspecify.annotations.NullMarked;
