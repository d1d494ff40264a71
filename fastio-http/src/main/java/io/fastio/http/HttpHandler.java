package io.fastio.http;

/** Answers requests. */
@FunctionalInterface
public interface HttpHandler {
    /**
     * Answers one request. Called in the task of the connection, which reads its next request when this returns: so it may
     * wait, and be cancelled, as in every task, while other connections are served. If it returns without having sent
     * anything, the answer is an empty one with the status set.
     *
     * @param request valid until this returns
     * @param response valid until this returns
     * @throws HttpException to answer with its status
     * @throws Exception any other: is reported to the loop's exception handler, and answered with status 500
     */
    void handle(HttpRequest request, HttpResponse response) throws Exception;
}
