package io.fastio.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class RoutesTest {
    @Test
    void goByMethodAndPath() throws Exception {
        Routes routes = new Routes()
                .get("/", (q, r) -> r.send("root"))
                .get("/pins/all", (q, r) -> r.send("all"))
                .get("/pins/{pin}", (q, r) -> r.send("pin " + q.pathParameter("pin")))
                .post(
                        "/pins/{pin}/{value}",
                        (q, r) -> r.send(
                                q.pathParameter("pin") + '=' + q.pathParameter("value") + q.pathParameter("none")))
                .put("/thing", (q, r) -> r.status(204))
                .delete("/thing", (q, r) -> r.status(204))
                .get("/files/*", (q, r) -> r.send("file " + q.pathParameter("*")));
        try (Served s = new Served(routes);
                RawClient c = s.client()) {
            assertThat(c.get("/").answer().text()).isEqualTo("root");
            assertThat(c.get("/?x").answer().text()).isEqualTo("root");
            assertThat(c.get("/pins/all").answer().text()).isEqualTo("all");
            assertThat(c.get("/pins/a%20b").answer().text()).isEqualTo("pin a b");
            assertThat(c.get("/files/a/b/c").answer().text()).isEqualTo("file a/b/c");
            assertThat(c.get("/files/").answer().text()).isEqualTo("file ");
            for (String unknown : new String[] {"/files", "/pins", "/pins/a/b/c", "/pins/a/", "/x", "//"}) {
                assertThat(c.get(unknown).answer().status()).as(unknown).isEqualTo(404);
            }
            assertThat(c.send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
                            .answer(false)
                            .header())
                    .containsEntry("content-length", "4");
            RawClient.Answer a =
                    c.send("POST /thing HTTP/1.1\r\nHost: x\r\n\r\n").answer();
            assertThat(a.status()).isEqualTo(405);
            assertThat(a.header()).containsEntry("allow", "DELETE, PUT");
            assertThat(c.send("POST /pins/1/2 HTTP/1.1\r\nHost: x\r\n\r\n")
                            .answer()
                            .text())
                    .isEqualTo("1=2null");
        }
    }
}
