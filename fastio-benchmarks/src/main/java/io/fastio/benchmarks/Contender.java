package io.fastio.benchmarks;

import java.util.List;

/** Who takes part: the subject's name in its child process, and what that process needs. */
enum Contender {
    FASTIO("fastio", "fastio"),
    CONTINUATION("limit", "continuation"),
    BARE_VIRTUAL_THREAD("bare-vthread", "bare-vthread"),
    CALLBACK_RING("limit", "callback-ring"),
    EVENTFD("limit", "eventfd"),
    PARK("park/unpark", "park"),
    PLAIN_SLEEP("limit", "sleep"),
    JDK("jdk", "jdk"),
    NETTY_NIO("netty-nio", "netty-nio"),
    NETTY_EPOLL("netty-epoll", "netty-epoll"),
    NETTY_IO_URING("netty-io_uring", "netty-io_uring"),
    VERTX_LOOP("vertx-loop", "vertx-loop"),
    VERTX_VIRTUAL_THREAD("vertx-vt", "vertx-vt"),
    KOTLIN_BLOCKING("kotlin-blocking", "kotlin-blocking"),
    KOTLIN_THREAD("kotlin-thread", "kotlin-thread"),
    ASYNCIO("asyncio", "python_asyncio.py"),
    NODE("node", "node.mjs"),
    C_EPOLL("limit", "server.c");

    /** The peers, in the order of the tables. */
    static final List<Contender> PEERS = List.of(
            JDK,
            NETTY_NIO,
            NETTY_EPOLL,
            NETTY_IO_URING,
            VERTX_LOOP,
            VERTX_VIRTUAL_THREAD,
            KOTLIN_BLOCKING,
            KOTLIN_THREAD,
            ASYNCIO,
            NODE);

    private final String who;
    private final String subject;

    Contender(String who, String subject) {
        this.who = who;
        this.subject = subject;
    }

    /** The name in the results. */
    String who() {
        return who;
    }

    /** The name in the child process; for a script its resource. */
    String subject() {
        return subject;
    }

    /** JVM flags beyond the common ones. */
    List<String> flags() {
        return switch (this) {
            case JDK ->
                List.of("-Djdk.virtualThreadScheduler.parallelism=1", "-Djdk.virtualThreadScheduler.maxPoolSize=1");
            default -> List.of();
        };
    }

    /** Where the subject comes from. */
    Source source() {
        return switch (this) {
            case ASYNCIO, NODE -> Source.SCRIPT;
            case C_EPOLL -> Source.C;
            default -> Source.JVM;
        };
    }

    /** What kind of program the child process is. */
    enum Source {
        JVM,
        SCRIPT,
        C
    }
}
