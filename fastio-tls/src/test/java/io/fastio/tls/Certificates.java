package io.fastio.tls;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.List;

/** Real certificates, made by the JDK's keytool: two authorities, and what they vouch for. */
final class Certificates {
    static final char[] PASSWORD = "changeit".toCharArray();

    private static final KeyStore ALL = make();

    private Certificates() {}

    private static KeyStore make() {
        // These passwords protect nothing; no need to spend a second on each.
        for (String what : List.of("keyPbe", "certPbe", "mac")) {
            System.setProperty("keystore.pkcs12." + what + "IterationCount", "1");
        }
        try {
            Path file = Files.createTempDirectory("fastio-tls").resolve("all.p12");
            keytool(file, "ca", "CN=Good Authority", "-ext", "bc:c");
            keytool(file, "otherca", "CN=Other Authority", "-ext", "bc:c");
            keytool(file, "localhost", "CN=localhost", "-signer", "ca", "-ext", "san=dns:localhost,ip:127.0.0.1");
            keytool(file, "example", "CN=example.org", "-signer", "ca", "-ext", "san=dns:example.org");
            keytool(
                    file,
                    "expired",
                    "CN=localhost",
                    "-signer",
                    "ca",
                    "-ext",
                    "san=dns:localhost",
                    "-startdate",
                    "-10d",
                    "-validity",
                    "5");
            keytool(file, "untrusted", "CN=localhost", "-signer", "otherca", "-ext", "san=dns:localhost");
            keytool(file, "client", "CN=a client", "-signer", "ca");
            KeyStore all = KeyStore.getInstance(file.toFile(), PASSWORD);
            Files.delete(file);
            Files.delete(file.getParent());
            return all;
        } catch (Exception e) {
            throw new AssertionError("keytool failed", e);
        }
    }

    private static void keytool(Path file, String alias, String name, String... more)
            throws ReflectiveOperationException {
        List<String> command = new ArrayList<>(List.of(
                "-genkeypair",
                "-keystore",
                file.toString(),
                "-storepass",
                new String(PASSWORD),
                "-keyalg",
                "EC",
                "-groupname",
                "secp256r1",
                "-alias",
                alias,
                "-dname",
                name));
        command.addAll(List.of(more));
        if (!command.contains("-validity")) {
            command.addAll(List.of("-validity", "3650"));
        }
        // The program itself, in this JVM: starting one of its own for each certificate takes seconds.
        Class.forName("sun.security.tools.keytool.Main")
                .getMethod("main", String[].class)
                .invoke(null, (Object) command.toArray(String[]::new));
    }

    /** A store with those keys and their certificates. */
    static KeyStore keys(String... aliases) {
        try {
            KeyStore s = KeyStore.getInstance("PKCS12");
            s.load(null, null);
            for (String a : aliases) {
                s.setKeyEntry(a, ALL.getKey(a, PASSWORD), PASSWORD, ALL.getCertificateChain(a));
            }
            return s;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** A store that trusts those certificates. */
    static KeyStore trust(String... aliases) {
        try {
            KeyStore s = KeyStore.getInstance("PKCS12");
            s.load(null, null);
            for (String a : aliases) {
                s.setCertificateEntry(a, certificate(a));
            }
            return s;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    static Certificate certificate(String alias) {
        try {
            return ALL.getCertificate(alias);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
