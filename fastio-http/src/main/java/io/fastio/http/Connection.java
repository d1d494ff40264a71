package io.fastio.http;

import io.fastio.Asyncio;
import io.fastio.CancelledError;
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

    private static final int MOST_CHUNK_DIGITS = 15;

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
    private boolean inTrailer;

    /** Bytes of the extensions and the trailer of a chunked body. */
    private int extras;

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

    /** Whether the stream was given something since the connection waited for the peer last. */
    private boolean unsettled;

    /** Delivered in the middle of what belongs together: thrown behind it. */
    private @Nullable CancelledError cancelled;

    private final Handle flusher;
    private boolean gone;

    // ---- time
    Phase phase = Phase.IDLE;
    private int since;
    private long pendingBefore;

    Connection(HttpServer server, Stream stream) {
        this.server = server;
        this.since = server.tick(); // idle from now on
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
            sendAll();
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
        } catch (WebSocketException e) {
            // The other side was told, or told us; that the handler leaves it at that is no failure of its.
        } catch (HttpException e) {
            if (gone || res.isCommitted()) { // the client must not take it for complete
                gone = true;
                stream.abort();
                throw e;
            }
            res.sendError(e.status(), String.valueOf(e.getMessage()));
        } catch (CancelledError e) {
            throw e;
        } catch (Exception | Error e) {
            if (e instanceof VirtualMachineError v && !(e instanceof StackOverflowError)) {
                throw v; // G4; a recursion without end is over when it comes here
            }
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
        sendAll();
        try { // with a limit of its own
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
        extras = 0;
        inTrailer = false;
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

    /** Reads 1 to n bytes of the body; -1 at its end. Waits; a cancel loses nothing (C6). */
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
            got = receiveOfBody(dst, offset, k);
        }
        bodyLeft -= got;
        bodyRead += got;
        if (bodyLeft == 0) {
            chunkEndDue = head.chunked;
            bodyEnded = !head.chunked;
        }
        return got;
    }

    private int receiveOfBody(byte[] dst, int offset, int n) throws IOException {
        flushOut();
        enter(Phase.BODY);
        int got;
        try {
            got = receive(dst, offset, n);
        } finally {
            enter(Phase.WORK); // also if the handler gives up: from now on it is the one that takes its time
        }
        if (got < 0) {
            gone = true;
            throw new HttpException(400, "the connection ended within the body");
        }
        bodyReceived += got;
        return got;
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

    /** Reads up to the data of the next chunk, line by line; false behind the last one. */
    private boolean nextChunk() throws IOException {
        try {
            if (chunkEndDue) {
                int eol = lineEnd(0);
                if (eol < 0) {
                    throw RequestHead.bad("a chunk is longer than it said");
                }
                position = eol + 2;
                chunkEndDue = false;
            }
            if (!inTrailer) {
                int eol = lineEnd(LONGEST_CHUNK_LINE);
                if (eol < 0) {
                    throw RequestHead.bad("not the size of a chunk");
                }
                long size = chunkSize(eol);
                position = eol + 2;
                bodyLeft = size;
                inTrailer = size == 0;
            }
            if (inTrailer) {
                readTrailer();
                bodyEnded = true;
                return false;
            }
            return true;
        } catch (HttpException e) {
            keepAlive = false;
            throw e;
        }
    }

    private long chunkSize(int eol) throws HttpException {
        long size = 0;
        int i = position;
        for (int d; (d = Octets.hex(in[i])) >= 0; i++) { // ends at the CR at last
            if (i - position == MOST_CHUNK_DIGITS) {
                throw RequestHead.bad("not the size of a chunk");
            }
            size = size << 4 | d;
        }
        if (i == position || i < eol && in[i] != ';') {
            throw RequestHead.bad("not the size of a chunk");
        }
        extras += eol - i;
        if (extras > server.maxHeadBytes) { // they would cost a server that skips a body more than its limit says
            throw RequestHead.bad("the extensions of the chunks are larger than " + server.maxHeadBytes + " bytes");
        }
        for (; i < eol; i++) {
            if (!Octets.isValue(in[i])) {
                throw RequestHead.bad("not the extension of a chunk");
            }
        }
        if (bodyRead + size > server.maxBodyBytes) {
            throw bodyTooLarge();
        }
        return size;
    }

    private void readTrailer() throws IOException {
        while (true) {
            int eol = lineEnd(server.maxHeadBytes - extras);
            if (eol < 0) {
                throw new HttpException(431, "the trailer is larger than " + server.maxHeadBytes + " bytes");
            }
            boolean last = eol == position;
            if (!last) {
                head.trailer(in, position, eol);
                extras += eol - position;
            }
            position = eol + 2;
            if (last) {
                return;
            }
        }
    }

    /**
     * Where the line of a chunked body ends that begins at {@link #position}, once all of it is there; -1 if it is longer
     * than {@code most}. Waits; a cancel finds the line where it was, so that the next call reads it from its beginning (C6).
     */
    private int lineEnd(int most) throws IOException {
        int length = 0;
        while (true) {
            while (position + length < limit && in[position + length] != '\n') {
                length++;
            }
            if (length > most + 1) { // the CR is not of the line
                return -1;
            }
            int at = position + length;
            if (at < limit) {
                if (length == 0 || in[at - 1] != '\r') {
                    throw RequestHead.bad("a line must end by CR LF");
                }
                return at - 1;
            }
            makeRoomForLine();
            limit += receiveOfBody(in, limit, in.length - limit);
        }
    }

    /** Room behind what there is of a line; of what came before it, the head must stay where it is. */
    private void makeRoomForLine() {
        if (position > head.end) {
            System.arraycopy(in, position, in, head.end, limit - position);
            limit -= position - head.end;
            position = head.end;
        }
        if (in.length - limit < LEAST_ROOM) {
            in = Arrays.copyOf(in, 2 * in.length);
            head.moved(in, 0);
        }
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

    /**
     * Appends to what will be sent. Waits for nobody, so that no cancel can come between two parts of what belongs together:
     * the size of a chunk and the chunk, say. Behind the last of them, {@link #settle} waits.
     */
    void send(byte[] src, int offset, int n) throws IOException {
        byte[] to = out;
        if (to != null && n > to.length - outLength) {
            handOver();
            to = null;
        }
        if (n > Shared.OUT_SIZE) {
            handOver();
            give(() -> stream.write(src, offset, n));
            return;
        }
        if (to == null) {
            to = shared.takeOut();
            out = to;
        }
        System.arraycopy(src, offset, to, outLength, n);
        outLength += n;
    }

    /** The same for a large part, without a copy of ours. */
    void send(ByteBuffer src) throws IOException {
        handOver();
        give(() -> stream.write(src));
    }

    /** Gives the stream what was gathered. */
    private void handOver() throws IOException {
        byte[] from = out;
        if (from != null) {
            int n = outLength;
            out = null;
            outLength = 0;
            flusher.cancel();
            give(() -> stream.write(from, 0, n));
            shared.giveBackOut(from);
        }
    }

    /** A write to the stream, which takes all or, if a cancel is delivered by it, nothing. */
    @FunctionalInterface
    private interface Part {
        void write() throws IOException;
    }

    private void give(Part part) throws IOException {
        try {
            unsettled = true;
            writeWhole(part);
        } catch (IOException e) {
            gone = true;
            throw e;
        }
    }

    /** C6: a cancel waits until what belongs together is written, unless it comes again; then the answer ends torn, by a reset. */
    private void writeWhole(Part part) throws IOException {
        try {
            part.write();
        } catch (CancelledError first) {
            try {
                part.write();
            } catch (CancelledError second) {
                gone = true;
                stream.abort();
                throw second;
            }
            cancelled = first;
        }
    }

    /** Waits if the peer is slow to take what it was sent. A cancel loses nothing. */
    void settle() throws IOException {
        if (unsettled) {
            await(stream::drain);
            unsettled = false;
        }
    }

    private void await(Part sent) throws IOException {
        CancelledError pending = cancelled;
        if (pending != null) {
            cancelled = null;
            throw pending;
        }
        Phase before = phase;
        enter(Phase.WRITE);
        try {
            sent.write();
        } catch (IOException e) {
            gone = true;
            throw e;
        } finally {
            enter(before);
        }
    }

    /** Sends what there is; waits if the peer is slow to take it. */
    void flushOut() throws IOException {
        if (out != null || unsettled) {
            handOver();
            settle();
        }
    }

    /** Sends what there is and waits until the peer has taken it, as far as one can see: the connection is about to end. */
    private void sendAll() throws IOException {
        enter(Phase.WORK);
        flushOut();
        await(stream::flush);
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

    /** After an upgrade: the connection ended where it must not, and so without a word. */
    IOException endedWithin(String what) {
        gone = true;
        return new IOException("the connection ended within " + what);
    }

    /**
     * After an upgrade: sends all of it, from any task. Waits as long as the peer takes what it must, else the connection is
     * cut off.
     */
    void writeRaw(byte[] src) throws IOException {
        if (rawWriters++ == 0) {
            rawSince = server.tick();
            rawTaken = -1;
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
        if (rawWriters == 0) {
            return;
        }
        int age = tick - rawSince;
        long taken = rawGiven - underWay();
        if (rawTaken == -1) {
            rawTaken = taken;
        } else if (age <= server.transferTicks) {
            return;
        } else if (server.isTooSlow(taken - rawTaken, age)) {
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

    /** What was sent and not taken, as far as one can see: the kernel takes and gives room in steps of hundreds of kilobytes. */
    private long underWay() {
        return stream.pendingBytes() + (stream.getExtraInfo("unsent") instanceof Number n ? n.longValue() : 0);
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
                } else if (bodyTicks > server.transferTicks) { // what it did well earlier does not count for ever
                    bodyTicks = 0;
                    bodyReceived = 0;
                }
            }
            case WRITE -> {
                long pending = underWay();
                if (pendingBefore == -1) {
                    pendingBefore = pending;
                }
                if (server.isTooSlow(pendingBefore - pending, age)) {
                    gone = true;
                    stream.abort();
                } else if (age > server.transferTicks) { // what it did well earlier does not count for ever
                    since = tick;
                    pendingBefore = pending;
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
            if (late == Phase.BODY && finalSent) {
                stream.close(); // within what is left of an answered request's body: there is no second answer
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
