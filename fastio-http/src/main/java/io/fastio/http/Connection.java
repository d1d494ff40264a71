package io.fastio.http;

import io.fastio.Asyncio;
import io.fastio.Handle;
import io.fastio.LoopError;
import io.fastio.Priority;
import io.fastio.Task;
import io.fastio.TaskOptions;
import io.fastio.stream.Stream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * One connection, in the task that serves it: reads a head, has it answered, and again. Answers are gathered in a buffer,
 * which is sent before the connection waits for more: so a batch of pipelined requests is answered by one write. A
 * callback that runs when the task gives way sends what is there if a handler takes its time.
 *
 * <p>Times are kept in ticks of the server, which looks at all its connections once a tick: a request costs no timer.
 */
final class Connection {
    private static final int FIRST_SIZE = 2 * 1024;
    private static final int LEAST_ROOM = 256;

    /** Longest line with the size of a chunk, extensions included. */
    private static final int LONGEST_CHUNK_LINE = 256;

    /** Most that is read of a body that the handler did not want, to keep the connection. */
    private static final int MOST_DISCARDED = 256 * 1024;

    private static final byte[] CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final Duration LINGER = Duration.ofSeconds(1);

    /** What an upgraded connection does behind its handler. */
    @FunctionalInterface
    interface LastWords {
        void say() throws IOException;
    }

    /** What the connection waits for, as far as the peer can keep it waiting. */
    enum Phase {
        /** For nothing: a handler runs. */
        WORK,
        /** For the next request. */
        IDLE,
        /** For the rest of a head. */
        HEAD,
        /** For more of a body. */
        BODY,
        /** For the peer to take an answer. */
        WRITE
    }

    final HttpServer server;
    final Stream stream;
    final Task<?> task;
    private final Shared shared;
    private final RequestHead head;

    // The server's list.
    @Nullable
    Connection older;

    @Nullable
    Connection newer;

    // ---- what the peer sent
    private byte[] in = new byte[FIRST_SIZE];
    private int position;
    private int limit;

    // ---- the request in service
    private boolean bodyEnded = true;
    private long bodyLeft;
    private boolean chunkEndDue;
    private boolean continueDue;
    private boolean finalSent;
    private long bodyRead;
    private long bodyReceived;
    private int bodyTicks;
    private String target = "";
    private boolean keepAlive;
    private boolean upgraded;

    // After an upgrade: tasks that wait for the peer to take something, since when, how much was handed to the stream,
    // and
    // how much of it the peer had taken then.
    private int rawWriters;
    private int rawSince;
    private long rawGiven;
    private long rawTaken;
    private boolean rawCutOff;
    private boolean endsUnasked;
    private @Nullable LastWords lastWords;
    private @Nullable HttpRequest request;

    // ---- what it gets
    private byte @Nullable [] out;
    private int outLength;
    private final Handle flusher;
    private boolean gone;

    // ---- time
    Phase phase = Phase.IDLE;
    private int since;
    private long pendingBefore;

    Connection(HttpServer server, Stream stream) {
        this.server = server;
        this.stream = stream;
        this.task = Asyncio.currentTask();
        this.shared = Shared.LOCAL.get();
        this.head = new RequestHead(server.maxHeadBytes, server.maxHeaderFields, server.maxTargetBytes);
        this.flusher = server.loop.handle(Priority.NORMAL, this::flushInPassing);
    }

    // =========================================================== the life of a connection

    void serve() throws IOException {
        try {
            serveUntilRefused();
        } catch (IOException e) {
            if (!gone) {
                throw e;
            }
        } finally {
            phase = Phase.WORK;
            flusher.cancel();
        }
    }

    private void serveUntilRefused() throws IOException {
        try {
            serveRequests();
            flushOut();
            if (upgraded || endsUnasked || !bodyEnded || position < limit) {
                linger();
            }
        } catch (HttpException e) {
            if (!gone) {
                refuse(e);
            }
        }
    }

    private void serveRequests() throws IOException {
        do {
            if (!readHead()) {
                return;
            }
            position = head.end;
            beginBody();
            answer();
        } while (keepAlive && skipBody());
        // A client that was not the one to end it may have sent its next request already.
        endsUnasked = head.keepAlive;
    }

    /** Reads the next head; false at the end of the connection. */
    private boolean readHead() throws IOException {
        enter(position < limit ? Phase.HEAD : Phase.IDLE);
        head.begin(in, position);
        while (!head.parse(limit)) {
            if (position == limit && server.isClosing()) {
                return false;
            }
            flushOut();
            if (position == limit) {
                enter(Phase.IDLE);
            }
            makeRoomForHead();
            int n = receive(in, limit, in.length - limit);
            if (n < 0) {
                return false;
            }
            if (phase == Phase.IDLE) {
                enter(Phase.HEAD);
            }
            limit += n;
        }
        enter(Phase.WORK);
        return true;
    }

    /** Room behind what there is of a head; between requests nothing but the head has to stay where it is. */
    private void makeRoomForHead() {
        if (position == limit) {
            int by = -position;
            position = 0;
            limit = 0;
            head.moved(in, by);
        }
        if (in.length - limit < LEAST_ROOM) {
            if (position > 0) {
                shift(in, position, limit);
            } else {
                shift(new byte[2 * in.length], 0, limit);
            }
        }
    }

    private void shift(byte[] to, int from, int to0) {
        System.arraycopy(in, from, to, 0, to0 - from);
        head.moved(to, -from);
        in = to;
        position -= from;
        limit -= from;
    }

    private int receive(byte[] dst, int offset, int n) throws IOException {
        try {
            return stream.readInto(dst, offset, n);
        } catch (IOException e) {
            gone = true; // reset by the peer, or closed by our time limit: nothing to tell, and nobody to tell it to
            throw e;
        }
    }

    /** Has the request answered. */
    @SuppressWarnings("CatchingUnchecked") // whatever a handler throws, the client gets an answer
    private void answer() throws IOException {
        keepAlive = head.keepAlive && !server.isClosing();
        target = head.target(target);
        HttpRequest req = new HttpRequest(this, head, target);
        HttpResponse res = new HttpResponse(this, req);
        request = req;
        server.counted();
        try {
            server.handler.handle(req, res);
            res.end();
            LastWords words = lastWords;
            if (words != null && !gone) {
                words.say();
            }
        } catch (HttpException e) {
            if (gone || res.isCommitted()) { // the client must not take it for complete
                gone = true;
                stream.abort();
                throw e;
            }
            res.sendError(e.status(), String.valueOf(e.getMessage()));
        } catch (Exception e) {
            if (gone) {
                throw e instanceof IOException io ? io : new IOException(e);
            }
            server.loop.report(new LoopError(
                    "the handler of " + req.method() + ' ' + req.target() + " from " + stream.name() + " failed: " + e,
                    e,
                    task));
            if (res.isCommitted()) {
                gone = true;
                stream.abort();
                throw new IOException(e);
            }
            res.sendError(500, "the server failed to answer");
        } finally {
            request = null;
        }
        if (position < limit && keepAlive) {
            flusher.callSoon();
        }
    }

    /** Answers what is no request, and ends the connection. */
    private void refuse(HttpException e) throws IOException {
        keepAlive = false;
        HttpResponse.refuse(this, e.status(), String.valueOf(e.getMessage()));
        linger();
    }

    /**
     * Sends what there is, says that this is the end, and waits for the peer to have noticed: closing a socket with unread
     * bytes would be a reset, which may reach the peer before the answer does.
     */
    private void linger() throws IOException {
        flushOut();
        enter(Phase.WORK); // it has a limit of its own
        try {
            stream.writeEof();
            Asyncio.waitFor(this::readToEnd, LINGER);
        } catch (TimeoutException | IOException e) {
            gone = true; // the answer was sent; whether it was read is up to the peer
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e);
        }
    }

    private void readToEnd() throws IOException {
        int most = MOST_DISCARDED;
        for (int n; most > 0 && (n = stream.readInto(in, 0, in.length)) >= 0; ) {
            most -= n;
        }
    }

    // =========================================================== the body of a request

    private void beginBody() throws HttpException {
        bodyRead = 0;
        bodyReceived = (long) limit - position;
        bodyTicks = 0;
        finalSent = false;
        chunkEndDue = false;
        bodyLeft = Math.max(0, head.contentLength);
        bodyEnded = !head.chunked && bodyLeft == 0;
        continueDue = head.expectsContinue && !bodyEnded;
        if (bodyLeft > server.maxBodyBytes) {
            throw bodyTooLarge();
        }
    }

    private HttpException bodyTooLarge() {
        return new HttpException(413, "the body is larger than " + server.maxBodyBytes + " bytes");
    }

    boolean isBodyEnded() {
        return bodyEnded;
    }

    /** Reads 1 to n bytes of the body; -1 at its end. Waits. */
    int readBody(byte[] dst, int offset, int n) throws IOException {
        if (bodyEnded) {
            return -1;
        }
        if (n == 0) {
            return 0;
        }
        askForBody();
        if (bodyLeft == 0 && !nextChunk()) {
            return -1;
        }
        int k = (int) Math.min(n, bodyLeft);
        int got;
        if (position < limit) {
            got = Math.min(k, limit - position);
            System.arraycopy(in, position, dst, offset, got);
            position += got;
        } else {
            flushOut();
            enter(Phase.BODY);
            got = receive(dst, offset, k);
            if (got < 0) {
                throw endedEarly();
            }
            bodyReceived += got;
            enter(Phase.WORK);
        }
        bodyLeft -= got;
        bodyRead += got;
        if (bodyLeft == 0) {
            chunkEndDue = head.chunked;
            bodyEnded = !head.chunked;
        }
        return got;
    }

    private HttpException endedEarly() {
        gone = true;
        return new HttpException(400, "the connection ended within the body");
    }

    private void askForBody() throws IOException {
        if (continueDue && !finalSent) {
            continueDue = false;
            if (position == limit) { // else it is on its way already
                send(CONTINUE, 0, CONTINUE.length);
                flushOut();
            }
        }
    }

    /** Reads up to the data of the next chunk; false behind the last one. */
    private boolean nextChunk() throws IOException {
        try {
            if (chunkEndDue) {
                chunkEndDue = false;
                if (next() != '\r' || next() != '\n') {
                    throw RequestHead.bad("a chunk is longer than it said");
                }
            }
            bodyLeft = chunkSize();
            if (bodyLeft == 0) {
                readTrailers();
                bodyEnded = true;
                return false;
            }
            if (bodyRead + bodyLeft > server.maxBodyBytes) {
                throw bodyTooLarge();
            }
            return true;
        } catch (HttpException e) {
            bodyLeft = 0;
            keepAlive = false;
            throw e;
        }
    }

    private long chunkSize() throws IOException {
        long size = 0;
        int digits = 0;
        int c = next();
        for (int d; (d = Octets.hex(c)) >= 0; c = next()) {
            if (++digits > 15) {
                throw RequestHead.bad("not the size of a chunk");
            }
            size = size << 4 | d;
        }
        if (digits == 0 || c != '\r' && c != ';') {
            throw RequestHead.bad("not the size of a chunk");
        }
        for (int length = digits; c != '\r'; c = next()) {
            if (!Octets.isValue(c) || ++length > LONGEST_CHUNK_LINE) {
                throw RequestHead.bad("not the extension of a chunk");
            }
        }
        if (next() != '\n') {
            throw RequestHead.bad("a line must end by CR LF");
        }
        return size;
    }

    private void readTrailers() throws IOException {
        byte[] line = new byte[LONGEST_CHUNK_LINE];
        int total = 0;
        while (true) {
            int n = 0;
            for (int c; (c = next()) != '\r'; n++) {
                if (++total > server.maxHeadBytes) {
                    throw new HttpException(431, "the trailer is larger than " + server.maxHeadBytes + " bytes");
                }
                if (n == line.length) {
                    line = Arrays.copyOf(line, 2 * n);
                }
                line[n] = (byte) c;
            }
            if (next() != '\n') {
                throw RequestHead.bad("a line must end by CR LF");
            }
            if (n == 0) {
                return;
            }
            head.trailer(line, 0, n);
        }
    }

    /** The next byte between the parts of a chunked body. */
    private int next() throws IOException {
        if (position == limit) {
            flushOut();
            if (position > head.end) { // all of the body so far is read; the head must stay
                position = head.end;
                limit = head.end;
            }
            if (in.length - limit < LEAST_ROOM) {
                byte[] larger = Arrays.copyOf(in, 2 * in.length);
                head.moved(larger, 0);
                in = larger;
            }
            enter(Phase.BODY);
            int n = receive(in, limit, in.length - limit);
            if (n < 0) {
                throw endedEarly();
            }
            bodyReceived += n;
            enter(Phase.WORK);
            limit += n;
        }
        return in[position++];
    }

    /** Behind an answer: reads what is left of the body, if it is little; false if the connection has to end. */
    private boolean skipBody() throws IOException {
        if (bodyEnded) {
            return true;
        }
        if (continueDue || bodyLeft > MOST_DISCARDED) {
            return false;
        }
        byte[] sink = new byte[4096];
        int total = 0;
        try {
            for (int n; (n = readBody(sink, 0, sink.length)) >= 0; ) {
                total += n;
                if (total > MOST_DISCARDED) {
                    return false;
                }
            }
            return true;
        } catch (HttpException e) {
            return false; // the request has its answer; what comes behind such a body is no request
        }
    }

    /**
     * Before the head of an answer is written: whether the connection can go on behind it. A client that waits for the
     * word to send a body, and does not get it, may send it or not.
     */
    boolean staysOpen() {
        finalSent = true;
        if (continueDue || bodyLeft > MOST_DISCARDED || server.isClosing()) {
            keepAlive = false;
        }
        return keepAlive;
    }

    void closeBehind() {
        keepAlive = false;
    }

    boolean isServing(HttpRequest r) {
        return request == r;
    }

    // =========================================================== sending

    /** Appends to what will be sent. Waits only if there is much of it already. */
    void send(byte[] src, int offset, int n) throws IOException {
        byte[] to = out;
        if (to == null) {
            to = shared.takeOut();
            out = to;
        }
        if (n > to.length - outLength) {
            flushOut();
            if (n > Shared.OUT_SIZE) {
                enter(Phase.WRITE);
                try {
                    stream.write(src, offset, n);
                    stream.drain();
                } catch (IOException e) {
                    gone = true;
                    throw e;
                }
                enter(Phase.WORK);
                return;
            }
            to = shared.takeOut();
            out = to;
        }
        System.arraycopy(src, offset, to, outLength, n);
        outLength += n;
    }

    /** Sends what was gathered; waits if the peer is slow to take it. */
    void flushOut() throws IOException {
        byte[] from = out;
        if (from == null) {
            return;
        }
        int n = outLength;
        out = null;
        outLength = 0;
        flusher.cancel();
        Phase before = phase;
        enter(Phase.WRITE);
        try {
            stream.write(from, 0, n);
            shared.giveBackOut(from);
            stream.drain();
        } catch (IOException e) {
            gone = true;
            throw e;
        }
        enter(before);
    }

    /** The task has given way with answers unsent. A callback cannot write; a task can. */
    private void flushInPassing() {
        if (out != null && !stream.isClosing()) {
            server.loop.createTask(TaskOptions.named("answering " + stream.name()), () -> {
                byte[] from = out;
                int n = outLength;
                out = null;
                outLength = 0;
                if (from != null && !stream.isClosing()) {
                    try {
                        stream.write(from, 0, n);
                    } catch (IOException e) {
                        gone = true; // the connection's own task finds out when it writes or reads next
                    }
                    shared.giveBackOut(from);
                }
            });
        }
    }

    /** The body of a large answer, without a copy of ours. */
    void sendDirectly(ByteBuffer src) throws IOException {
        flushOut();
        enter(Phase.WRITE);
        try {
            stream.write(src);
            stream.drain();
        } catch (IOException e) {
            gone = true;
            throw e;
        }
        enter(Phase.WORK);
    }

    byte[] date() {
        return shared.date();
    }

    // =========================================================== upgrades

    /** The connection speaks another protocol from now on; what was read too far comes first. */
    void upgrade() {
        upgraded = true;
        keepAlive = false;
    }

    /** What to say when the handler has returned. */
    void beforeTheEnd(LastWords words) {
        lastWords = words;
    }

    /** After an upgrade: reads 1 to n bytes; -1 at the end. */
    int readRaw(byte[] dst, int offset, int n) throws IOException {
        if (position < limit) {
            int k = Math.min(n, limit - position);
            System.arraycopy(in, position, dst, offset, k);
            position += k;
            return k;
        }
        return receive(dst, offset, n);
    }

    /**
     * After an upgrade: sends all of it, from any task. Waits as long as the peer takes what it must, else the connection is
     * cut off.
     */
    void writeRaw(byte[] src) throws IOException {
        if (rawWriters++ == 0) {
            rawSince = server.tick();
            rawTaken = rawGiven - stream.pendingBytes();
        }
        rawGiven += src.length;
        try {
            stream.write(src);
            stream.drain();
        } catch (IOException e) {
            gone = true;
            if (rawCutOff) {
                throw new IOException("the other side takes too little of what is sent to it", e);
            }
            throw e;
        } finally {
            rawWriters--;
        }
    }

    /** Looks whether the peer of an upgraded connection takes what is sent, while somebody waits for that. */
    private void lookAtRaw(int tick) {
        int age = tick - rawSince;
        if (rawWriters == 0 || age <= server.transferTicks) {
            return;
        }
        long taken = rawGiven - stream.pendingBytes();
        if (server.isTooSlow(taken - rawTaken, age)) {
            rawCutOff = true;
            gone = true;
            stream.abort();
        } else { // what it did well earlier does not count for ever
            rawSince = tick;
            rawTaken = taken;
        }
    }

    // =========================================================== time

    private void enter(Phase next) {
        if (phase != next) {
            phase = next;
            since = server.tick();
            pendingBefore = -1;
        }
    }

    /** Looks at the clock for the connection. In a callback of the server, once a tick. */
    void look(int tick) {
        if (upgraded) {
            lookAtRaw(tick);
        }
        int age = tick - since;
        switch (phase) {
            case WORK -> {
                // As long as the handler takes.
            }
            case IDLE -> {
                if (age > server.idleTicks) {
                    gone = true;
                    stream.close();
                }
            }
            case HEAD -> {
                if (age > server.headTicks) {
                    timeOut("the head took too long");
                }
            }
            case BODY -> {
                bodyTicks++;
                if (age > server.transferTicks || server.isTooSlow(bodyReceived, bodyTicks)) {
                    timeOut("the body took too long");
                }
            }
            case WRITE -> {
                long pending = stream.pendingBytes();
                if (pendingBefore == -1) {
                    pendingBefore = pending;
                }
                if (server.isTooSlow(pendingBefore - pending, age)) {
                    gone = true;
                    stream.abort();
                }
            }
        }
    }

    /** A callback cannot write; a task can, if by then the peer still keeps us waiting. */
    private void timeOut(String why) {
        Phase late = phase;
        int lateSince = since;
        server.loop.createTask(TaskOptions.named("ending " + stream.name()), () -> {
            if (phase != late || since != lateSince || gone || stream.isClosing()) {
                return;
            }
            gone = true;
            HttpRequest r = request;
            if (r != null && r.isAnswered()) {
                stream.abort();
                return;
            }
            try {
                stream.write(HttpResponse.refusal(date(), 408, why));
            } catch (IOException e) {
                // It has gone away in the meantime, which is as good.
                System.getLogger("io.fastio.http").log(System.Logger.Level.TRACE, "408 not delivered", e);
            } finally {
                stream.close();
            }
        });
    }

    /** The server closes. */
    void endIfIdle() {
        if (phase == Phase.IDLE) {
            gone = true;
            stream.close();
        }
    }

    void abort() {
        gone = true;
        stream.abort();
        task.cancel();
    }
}
