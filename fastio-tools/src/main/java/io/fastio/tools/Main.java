package io.fastio.tools;

import io.fastio.tools.demo.DemoCommand;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Entry point of the commands that run inside the JVM; a command is added by adding its class to {@link #COMMANDS}. */
@Command(name = "fastio", description = "asyncio for Java, with priorities")
public final class Main implements Runnable {
    private static final List<Class<?>> COMMANDS =
            List.of(DemoCommand.class, DoctorCommand.class, VersionCommand.class);

    private Main() {}

    /**
     * Runs one command and ends the JVM with its exit code: 0 for success, 1 for failure, 2 for a wrong command line.
     *
     * @param args the command's name and its arguments
     */
    public static void main(String[] args) {
        System.exit(commandLine().execute(args));
    }

    static CommandLine commandLine() {
        CommandLine line = new CommandLine(new Main());
        COMMANDS.forEach(line::addSubcommand);
        line.getSubcommands()
                .values()
                .forEach(command -> command.getCommandSpec()
                        .addOption(OptionSpec.builder("-h", "--help")
                                .usageHelp(true)
                                .description("Print this text.")
                                .build()));
        line.setParameterExceptionHandler(Main::complain);
        return line;
    }

    /** One line, as the launcher's own complaints are. */
    private static int complain(ParameterException e, String[] args) {
        String what = e instanceof UnmatchedArgumentException u
                ? "unexpected argument: " + String.join(" ", u.getUnmatched())
                : e.getMessage();
        CommandLine line = e.getCommandLine();
        line.getErr().println("fastio: " + line.getCommandName() + ": " + what + "; see './fastio help'");
        return line.getCommandSpec().exitCodeOnInvalidInput();
    }

    @Override
    public void run() {
        commandLine().usage(System.out);
    }
}
