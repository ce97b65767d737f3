// Answers the cases of the conformance suite with LevelDB in Java, org.iq80.leveldb.
//
// A line with a case comes in, {"case": NAME, "kind": KIND, "given": {…}}, and a line goes out: {"case": NAME, "answer":
// {…}}, without "answer" where iq80's LevelDB has no interface for the case. It has no filters, and its names of tables
// end in .sst, as those of LevelDB before 1.14, so that tables are renamed. Since Java 9 it has to be let in where it
// unmaps files:
//
//     java --add-opens java.base/sun.nio.ch=ALL-UNNAMED Iq80

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.Map;
import java.util.stream.Stream;
import org.iq80.leveldb.CompressionType;
import org.iq80.leveldb.DB;
import org.iq80.leveldb.Options;
import org.iq80.leveldb.ReadOptions;
import org.iq80.leveldb.impl.Iq80DBFactory;
import org.iq80.leveldb.table.BytewiseComparator;
import org.iq80.leveldb.table.MMapTable;
import org.iq80.leveldb.table.Table;
import org.iq80.leveldb.table.TableBuilder;
import org.iq80.leveldb.util.Slice;

public class Iq80 {
    private static final BytewiseComparator ORDER = new BytewiseComparator();

    public static void main(String[] arguments) throws IOException {
        // The library reports damaged logs on standard output.
        PrintStream answers = System.out;
        System.setOut(System.err);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonObject asked = JsonParser.parseString(line).getAsJsonObject();
            JsonObject reply = new JsonObject();
            reply.add("case", asked.get("case"));
            Path folder = Files.createTempDirectory("conformance");
            JsonObject answer;
            try {
                answer = answer(asked.get("kind").getAsString(), asked.getAsJsonObject("given"), folder);
            } catch (RuntimeException | IOException exception) {
                answer = with("error", true);
            }
            remove(folder);
            if (answer != null) {
                reply.add("answer", answer);
            }
            answers.println(reply);
        }
        // A database that could not be opened leaves threads behind.
        System.exit(0);
    }

    private static JsonObject answer(String kind, JsonObject given, Path folder) throws IOException {
        if (given.has("internal_keys") && given.get("internal_keys").getAsBoolean()) {
            return null;
        }
        switch (kind) {
            case "compare":
                return with("order", Integer.signum(ORDER.compare(slice(given.get("a")), slice(given.get("b")))));
            case "separator":
                return with("key", hex(ORDER.findShortestSeparator(slice(given.get("a")), slice(given.get("b")))));
            case "successor":
                return with("key", hex(ORDER.findShortSuccessor(slice(given.get("key")))));
            case "table_build":
                return given.get("bits_per_key").isJsonNull() ? build(given, folder) : null;
            case "table_get":
            case "table_scan":
            case "table_offset":
                Path file = folder.resolve("000005.sst");
                Files.write(file, bytes(given.get("table")));
                try (FileChannel channel = FileChannel.open(file)) {
                    return inTable(kind, new MMapTable("000005.sst", channel, ORDER, true), given);
                }
            case "database_get":
            case "database_scan":
                for (Map.Entry<String, JsonElement> part : given.getAsJsonObject("files").entrySet()) {
                    Files.write(folder.resolve(part.getKey().replace(".ldb", ".sst")), bytes(part.getValue()));
                }
                Options options = new Options().createIfMissing(false).paranoidChecks(true).verifyChecksums(true);
                try (DB database = Iq80DBFactory.factory.open(folder.toFile(), options)) {
                    return inDatabase(kind, database, given);
                }
            default:
                return null;
        }
    }

    private static JsonObject build(JsonObject given, Path folder) throws IOException {
        Path file = folder.resolve("table");
        Options options = new Options()
            .blockSize(given.get("block_size").getAsInt())
            .blockRestartInterval(given.get("restart_interval").getAsInt())
            .compressionType(CompressionType.NONE);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            TableBuilder table = new TableBuilder(options, channel, ORDER);
            for (JsonElement entry : given.getAsJsonArray("entries")) {
                table.add(slice(entry.getAsJsonArray().get(0)), slice(entry.getAsJsonArray().get(1)));
            }
            table.finish();
        }
        return with("table", HexFormat.of().formatHex(Files.readAllBytes(file)));
    }

    private static JsonObject inTable(String kind, Table table, JsonObject given) {
        if (kind.equals("table_offset")) {
            return with("offset", table.getApproximateOffsetOf(slice(given.get("key"))));
        }
        var cursor = table.iterator();
        if (kind.equals("table_get")) {
            Slice key = slice(given.get("key"));
            cursor.seek(key);
            boolean found = cursor.hasNext() && cursor.peek().getKey().equals(key);
            return found ? with("value", hex(cursor.peek().getValue())) : with("absent", true);
        }
        JsonArray entries = new JsonArray();
        while (cursor.hasNext()) {
            Map.Entry<Slice, Slice> entry = cursor.next();
            entries.add(pair(hex(entry.getKey()), hex(entry.getValue())));
        }
        return with("entries", entries);
    }

    private static JsonObject inDatabase(String kind, DB database, JsonObject given) {
        ReadOptions options = new ReadOptions().verifyChecksums(true);
        if (kind.equals("database_get")) {
            byte[] value = database.get(bytes(given.get("key")), options);
            return value == null ? with("absent", true) : with("value", HexFormat.of().formatHex(value));
        }
        JsonArray entries = new JsonArray();
        Iterator<Map.Entry<byte[], byte[]>> cursor = database.iterator(options);
        while (cursor.hasNext()) {
            Map.Entry<byte[], byte[]> entry = cursor.next();
            entries.add(pair(HexFormat.of().formatHex(entry.getKey()), HexFormat.of().formatHex(entry.getValue())));
        }
        return with("entries", entries);
    }

    private static JsonArray pair(String key, String value) {
        JsonArray pair = new JsonArray();
        pair.add(key);
        pair.add(value);
        return pair;
    }

    private static JsonObject with(String name, Object value) {
        JsonObject answer = new JsonObject();
        if (value instanceof JsonElement) {
            answer.add(name, (JsonElement) value);
        } else if (value instanceof Boolean) {
            answer.addProperty(name, (Boolean) value);
        } else if (value instanceof Number) {
            answer.addProperty(name, (Number) value);
        } else {
            answer.addProperty(name, (String) value);
        }
        return answer;
    }

    private static byte[] bytes(JsonElement text) {
        return HexFormat.of().parseHex(text.getAsString());
    }

    private static Slice slice(JsonElement text) {
        return new Slice(bytes(text));
    }

    private static String hex(Slice slice) {
        return HexFormat.of().formatHex(slice.getBytes());
    }

    private static void remove(Path folder) throws IOException {
        try (Stream<Path> paths = Files.walk(folder)) {
            paths.sorted(Comparator.reverseOrder()).forEach(path -> path.toFile().delete());
        }
    }
}
