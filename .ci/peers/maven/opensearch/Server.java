import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.node.Node;
import org.opensearch.transport.Netty4Plugin;

/** One OpenSearch node: the jars bring no start script. Arguments: data folder, HTTP port, transport port. */
public final class Server extends Node {
    private Server(Environment environment) {
        super(environment, List.of(Netty4Plugin.class), false);
    }

    public static void main(String[] arguments) throws Exception {
        Path home = Path.of(arguments[0]);
        Settings settings = Settings.builder()
            .put("path.home", home).put("node.name", "temblor").put("cluster.name", "temblor")
            .put("discovery.type", "single-node").put("network.host", "127.0.0.1")
            .put("http.type", "netty4").put("http.port", arguments[1])
            .put("transport.type", "netty4").put("transport.port", arguments[2])
            .put("cluster.routing.allocation.disk.threshold_enabled", false)
            .build();
        Server server = new Server(new Environment(settings, home.resolve("config")));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try { server.close(); } catch (Exception error) { error.printStackTrace(); }
        }));
        server.start();
        new CountDownLatch(1).await();
    }
}
