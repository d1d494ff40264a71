package io.fastio.http;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Status lines, made once. */
final class Status {
    private static final int FIRST = 100;
    private static final byte[] @Nullable [] LINES = new byte[500] @Nullable [];

    /** RFC 9110, 15.3.6: has no body, and says so. */
    static final int RESET_CONTENT = 205;

    private Status() {}

    /** {@code HTTP/1.1 200 OK} with its line end. */
    static byte[] line(int status) {
        byte[] line = LINES[status - FIRST];
        if (line == null) {
            line = ("HTTP/1.1 " + status + ' ' + reason(status) + "\r\n").getBytes(StandardCharsets.US_ASCII);
            LINES[status - FIRST] = line; // loops race for the same bytes
        }
        return line;
    }

    /** Whether an answer with that status never has a body. */
    static boolean isBodiless(int status) {
        return status < 200 || status == 204 || status == 304;
    }

    static String reason(int status) {
        return switch (status) {
            case 100 -> "Continue";
            case 101 -> "Switching Protocols";
            case 200 -> "OK";
            case 201 -> "Created";
            case 202 -> "Accepted";
            case 204 -> "No Content";
            case RESET_CONTENT -> "Reset Content";
            case 206 -> "Partial Content";
            case 301 -> "Moved Permanently";
            case 302 -> "Found";
            case 303 -> "See Other";
            case 304 -> "Not Modified";
            case 307 -> "Temporary Redirect";
            case 308 -> "Permanent Redirect";
            case 400 -> "Bad Request";
            case 401 -> "Unauthorized";
            case 403 -> "Forbidden";
            case 404 -> "Not Found";
            case 405 -> "Method Not Allowed";
            case 406 -> "Not Acceptable";
            case 408 -> "Request Timeout";
            case 409 -> "Conflict";
            case 410 -> "Gone";
            case 411 -> "Length Required";
            case 412 -> "Precondition Failed";
            case 413 -> "Content Too Large";
            case 414 -> "URI Too Long";
            case 415 -> "Unsupported Media Type";
            case 416 -> "Range Not Satisfiable";
            case 417 -> "Expectation Failed";
            case 422 -> "Unprocessable Content";
            case 426 -> "Upgrade Required";
            case 428 -> "Precondition Required";
            case 429 -> "Too Many Requests";
            case 431 -> "Request Header Fields Too Large";
            case 500 -> "Internal Server Error";
            case 501 -> "Not Implemented";
            case 502 -> "Bad Gateway";
            case 503 -> "Service Unavailable";
            case 504 -> "Gateway Timeout";
            case 505 -> "HTTP Version Not Supported";
            default -> "";
        };
    }
}
