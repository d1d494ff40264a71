package io.fastio.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.fastio.Asyncio;
import io.fastio.ChildJvm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** A server that runs out of descriptors, in a process that may have few. */
final class FewFilesTest extends OnBothPollers {
    @Test
    void I6_F62_F77_aServerWithoutDescriptorsPausesWarnsOnceAndRecovers() throws Exception {
        run(() -> {
            List<String> command = new ArrayList<>(List.of("bash", "-c", "ulimit -n 80; exec \"$0\" \"$@\""));
            command.addAll(ChildJvm.command(ChildJvm.FLAGS, EchoMain.class, poller.name()));
            Subprocess child = Subprocess.start(command.toArray(new String[0]));
            try {
                String first = child.stdout().readLine();
                assertThat(first).as(() -> text(read(child.stderr()))).startsWith("port ");
                int port = Integer.parseInt(first.substring(5));
                List<Stream> clients = new ArrayList<>();
                clients.add(Streams.openConnection("127.0.0.1", port));
                assertServed(clients.getFirst()); // a process that has served nobody yet could not load its classes
                for (int i = 1; i < 100; i++) {
                    clients.add(Streams.openConnection("127.0.0.1", port));
                }
                assertThat(child.stdout().readLine()).contains("accepting").contains("Too many open files");
                assertServed(clients.getFirst());
                double before = cpuSeconds(child);
                Asyncio.sleepMs(1_000);
                assertThat(cpuSeconds(child) - before).as("the process rests").isLessThan(0.3);
                assertThat(child.process().isAlive()).isTrue();
                for (Stream c : clients.subList(0, 60)) {
                    c.close();
                }
                assertServed(clients.getLast());
                assertServed(Streams.openConnection("127.0.0.1", port));
                try {
                    String more = Asyncio.waitForMs(() -> child.stdout().readLine(), 300);
                    assertThat(more).as("one warning").isNull();
                } catch (TimeoutException nothingMoreToSay) {
                    assertThat(child.process().isAlive()).isTrue();
                }
            } finally {
                child.close();
            }
        });
    }

    private static byte[] read(StreamReader r) {
        try {
            return r.read(-1);
        } catch (java.io.IOException e) {
            return bytes(e.toString());
        }
    }

    private static void assertServed(Stream s) throws Exception {
        s.write("ping");
        assertThat(text(s.readExactly(4))).isEqualTo("ping");
    }

    private static double cpuSeconds(Subprocess p) throws Exception {
        String[] fields = Files.readString(Path.of("/proc/" + p.process().pid() + "/stat"))
                .replaceFirst(".*\\) ", "")
                .split(" ");
        return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / 100.0;
    }
}
