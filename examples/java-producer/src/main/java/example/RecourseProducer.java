package example;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Publishes one record to Recourse with kafka-clients and Avro alone.
 *
 * <pre>java -jar target/java-producer.jar --brokers 127.0.0.1:9092 --registry http://127.0.0.1:8080/apis/ccompat/v7 \
 *   ToolExecuted '{"event_id": "e-1", "tenant": "acme", "run_id": "run-1", …, "args": {"json": {"order": "4711"}}}'</pre>
 *
 * <p>The default partitioner of kafka-clients is the right one: murmur2 of the key. The id of the schema is looked up under
 * {@code <topic>-<full record name>}; nothing is registered. In the JSON, {@code fixed} fields are hex and instants epoch
 * milliseconds; a payload may be written as {@code {"json": …}}. The same event_id with the same content counts once.
 */
public final class RecourseProducer {
  private record Target(String topic, String fullName, String keyField) {}

  private record Registered(int id, Schema schema) {}

  private static final Map<String, Target> TARGETS = new TreeMap<>(Map.of(
      "ToolPlanned", new Target("recourse.tool-executions", "recourse.executions.ToolPlanned", "run_id"),
      "ToolExecuted", new Target("recourse.tool-executions", "recourse.executions.ToolExecuted", "run_id"),
      "AssumptionDeclared", new Target("recourse.assumption-events", "recourse.assumptions.AssumptionDeclared", "ref"),
      "AssumptionInvalidated", new Target("recourse.assumption-events", "recourse.assumptions.AssumptionInvalidated", "ref"),
      "AssumptionReaffirmed", new Target("recourse.assumption-events", "recourse.assumptions.AssumptionReaffirmed", "ref")));
  private static final ObjectMapper JSON = JsonMapper.builder().enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS).build();
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  public static void main(String[] args) throws Exception {
    if (args.length != 6 || !args[0].equals("--brokers") || !args[2].equals("--registry") || !TARGETS.containsKey(args[4])) {
      System.err.println("usage: --brokers host:port[,…] --registry URL " + String.join("|", TARGETS.keySet()) + " JSON");
      System.exit(2);
    }
    try {
      System.out.println(publish(args[1], args[3], TARGETS.get(args[4]), JSON.readTree(args[5])));
    } catch (IOException | IllegalArgumentException problem) {
      System.err.println(args[4] + ": " + problem.getMessage());
      System.exit(1);
    }
  }

  private static String publish(String brokers, String registry, Target target, JsonNode body) throws Exception {
    Registered writer = latestSchema(registry, target.topic() + "-" + target.fullName());
    JsonNode key = body.path(target.keyField());
    if (!key.isTextual()) throw new IllegalArgumentException("the field " + target.keyField() + " is the key and must be a string");
    byte[] value = framed(writer, (GenericRecord) fromJson(body, writer.schema(), target.fullName()));
    Map<String, Object> settings = Map.of("bootstrap.servers", brokers, "acks", "all", "enable.idempotence", true, "delivery.timeout.ms", (int) PATIENCE.toMillis(), "request.timeout.ms", 10_000);
    try (KafkaProducer<String, byte[]> producer = new KafkaProducer<>(settings, new StringSerializer(), new ByteArraySerializer())) {
      RecordMetadata at = producer.send(new ProducerRecord<>(target.topic(), key.textValue(), value)).get();
      return JSON.writeValueAsString(Map.of("topic", at.topic(), "partition", at.partition(), "offset", at.offset(), "key", key.textValue(), "schema_id", writer.id()));
    }
  }

  private static Registered latestSchema(String registry, String subject) throws IOException, InterruptedException {
    URI uri = URI.create(registry.replaceAll("/+$", "") + "/subjects/" + URLEncoder.encode(subject, StandardCharsets.UTF_8) + "/versions/latest");
    HttpResponse<String> answer = HttpClient.newHttpClient().send(HttpRequest.newBuilder(uri).timeout(PATIENCE).build(), HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() != 200) throw new IOException("schema registry: " + answer.statusCode() + " for " + subject);
    JsonNode found = JSON.readTree(answer.body());
    return new Registered(found.get("id").intValue(), new Schema.Parser().parse(found.get("schema").textValue()));
  }

  /** 0x00, the schema id as big-endian int32, then the Avro body. */
  private static byte[] framed(Registered writer, GenericRecord body) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(ByteBuffer.allocate(5).put((byte) 0).putInt(writer.id()).array());
    BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(out, null);
    new GenericDatumWriter<GenericRecord>(writer.schema()).write(body, encoder);
    encoder.flush();
    return out.toByteArray();
  }

  private static Object fromJson(JsonNode value, Schema schema, String path) {
    return switch (schema.getType()) {
      case UNION -> value.isNull() ? null : fromJson(value, schema.getTypes().stream().filter(branch -> branch.getType() != Schema.Type.NULL).findFirst().orElseThrow(), path);
      case NULL -> null;
      case BOOLEAN -> value.booleanValue();
      case INT -> value.intValue();
      case LONG -> value.longValue();
      case FLOAT -> value.floatValue();
      case DOUBLE -> value.doubleValue();
      case STRING -> text(value, path);
      case ENUM -> new GenericData.EnumSymbol(schema, text(value, path));
      case BYTES -> ByteBuffer.wrap(text(value, path).getBytes(StandardCharsets.UTF_8));
      case FIXED -> new GenericData.Fixed(schema, HexFormat.of().parseHex(text(value, path)));
      case ARRAY -> listFrom(value, schema, path);
      case MAP -> mapFrom(value, schema, path);
      case RECORD -> schema.getName().equals("Payload") && value.size() == 1 && value.has("json") ? payload(value.get("json"), schema) : recordFrom(value, schema, path);
    };
  }

  private static String text(JsonNode value, String path) {
    if (!value.isTextual()) throw new IllegalArgumentException(path + " must be a string");
    return value.textValue();
  }

  private static List<Object> listFrom(JsonNode value, Schema schema, String path) {
    List<Object> items = new ArrayList<>();
    for (JsonNode item : value) items.add(fromJson(item, schema.getElementType(), path + "[" + items.size() + "]"));
    return items;
  }

  private static Map<String, Object> mapFrom(JsonNode value, Schema schema, String path) {
    Map<String, Object> members = new TreeMap<>();
    value.properties().forEach(member -> members.put(member.getKey(), fromJson(member.getValue(), schema.getValueType(), path + "." + member.getKey())));
    return members;
  }

  /** Fields that are left out take the schema's defaults; fields it does not have are an error. */
  private static GenericRecord recordFrom(JsonNode value, Schema schema, String path) {
    Set<String> unknown = new TreeSet<>();
    value.fieldNames().forEachRemaining(name -> { if (schema.getField(name) == null) unknown.add(name); });
    if (!unknown.isEmpty()) throw new IllegalArgumentException(path + " has no field " + String.join(", ", unknown));
    GenericRecordBuilder record = new GenericRecordBuilder(schema);
    for (Schema.Field field : schema.getFields()) if (value.has(field.name())) record.set(field, fromJson(value.get(field.name()), field.schema(), path + "." + field.name()));
    return record.build();
  }

  private static GenericRecord payload(JsonNode content, Schema schema) {
    try {
      byte[] body = JSON.writeValueAsBytes(JSON.treeToValue(content, Object.class));
      Schema hash = schema.getField("sha256").schema();
      return new GenericRecordBuilder(schema).set("content_type", "application/json").set("encoding", new GenericData.EnumSymbol(schema.getField("encoding").schema(), "plain"))
          .set("key_id", null).set("body", ByteBuffer.wrap(body)).set("sha256", new GenericData.Fixed(hash, MessageDigest.getInstance("SHA-256").digest(body))).build();
    } catch (IOException | java.security.NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private RecourseProducer() {}
}
