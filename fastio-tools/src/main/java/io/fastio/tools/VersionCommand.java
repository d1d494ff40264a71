package io.fastio.tools;

import io.fastio.Fastio;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code ./fastio version}. */
@Command(name = "version", description = "Print the version of fastio and of the JDK that runs it.")
final class VersionCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        out.println(Fastio.version());
        out.println("JDK " + Runtime.version() + " (" + System.getProperty("java.vendor") + ")");
        out.flush();
    }
}
