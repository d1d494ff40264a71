/** The inner costs: single operations of a loop, measured by JMH. */
@NullMarked
package io.fastio.benchmarks.micro;

import org.jspecify.annotations.NullMarked;
