package example;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.Reader;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import org.apache.avro.AvroRuntimeException;
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
import org.apache.kafka.common.KafkaException;
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
 * milliseconds; a payload may be written as {@code {"json": …}}; what has another type than its field is refused. The same event_id
 * with the same content counts once.
 *
 * <p>Where wires are strict, which is the default, a record counts only with a signature: {@code --signing-key FILE --key-id ID}.
 * Without one it is dropped (SIGNATURE_MISSING), and nothing answers. A file of {@code --kafka-config} holds properties of kafka-clients.
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
  private static final ObjectMapper JSON = JsonMapper.builder().enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS).enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final List<String> OPTIONS = List.of("--brokers", "--registry", "--signing-key", "--key-id", "--kafka-config");

  public static void main(String[] args) throws Exception {
    Map<String, String> options = new TreeMap<>();
    int at = 0;
    for (; at + 1 < args.length && OPTIONS.contains(args[at]); at += 2) options.put(args[at], args[at + 1]);
    boolean isSound = args.length == at + 2 && TARGETS.containsKey(args[at]) && options.containsKey("--brokers") && options.containsKey("--registry");
    if (!isSound || options.containsKey("--signing-key") != options.containsKey("--key-id")) {
      System.err.println("usage: --brokers host:port[,…] --registry URL [--signing-key FILE --key-id ID] [--kafka-config FILE] " + String.join("|", TARGETS.keySet()) + " JSON");
      System.exit(2);
    }
    try {
      System.out.println(publish(options, TARGETS.get(args[at]), JSON.readTree(args[at + 1])));
    } catch (IOException | IllegalArgumentException | AvroRuntimeException | KafkaException | ExecutionException | GeneralSecurityException problem) {
      System.err.println(args[at] + ": " + problem.getMessage());
      System.exit(1);
    }
  }

  private static String publish(Map<String, String> options, Target target, JsonNode body) throws Exception {
    Registered writer = latestSchema(options.get("--registry"), target.topic() + "-" + target.fullName());
    byte[] value = framed(writer, (GenericRecord) fromJson(body, writer.schema(), "the record"));
    String key = body.get(target.keyField()).textValue();
    ProducerRecord<String, byte[]> sent = new ProducerRecord<>(target.topic(), key, value);
    if (options.containsKey("--signing-key")) sent.headers().add("recourse-signature", signature(options.get("--signing-key"), options.get("--key-id"), sent));
    try (KafkaProducer<String, byte[]> producer = new KafkaProducer<>(settings(options), new StringSerializer(), new ByteArraySerializer())) {
      RecordMetadata at = producer.send(sent).get();
      return JSON.writeValueAsString(Map.of("topic", at.topic(), "partition", at.partition(), "offset", at.offset(), "key", key, "schema_id", writer.id()));
    }
  }

  private static Properties settings(Map<String, String> options) throws IOException {
    Properties settings = new Properties();
    if (options.containsKey("--kafka-config")) {
      try (Reader file = Files.newBufferedReader(Path.of(options.get("--kafka-config")))) {
        settings.load(file);
      }
    }
    settings.putAll(Map.of("bootstrap.servers", options.get("--brokers"), "acks", "all", "enable.idempotence", true, "delivery.timeout.ms", (int) PATIENCE.toMillis(), "request.timeout.ms", 10_000));
    return settings;
  }

  /** The header that says who sends a record: docs/guides/keys.md. */
  private static byte[] signature(String keyFile, String keyId, ProducerRecord<String, byte[]> sent) throws IOException, GeneralSecurityException {
    String pem = Files.readString(Path.of(keyFile)).replaceAll("-----[A-Z ]+-----|\\s", "");
    PrivateKey privateKey = KeyFactory.getInstance("Ed25519").generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(pem)));
    byte[] key = sent.key().getBytes(StandardCharsets.UTF_8);
    ByteBuffer bytes = ByteBuffer.allocate(8 + key.length + sent.value().length).putInt(key.length).put(key).putInt(sent.value().length).put(sent.value());
    String digest = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes.array()));
    long now = System.currentTimeMillis();
    Signature signature = Signature.getInstance("Ed25519");
    signature.initSign(privateKey);
    signature.update(String.join("\n", "recourse-wire-v1", sent.topic(), Long.toString(now), digest).getBytes(StandardCharsets.UTF_8));
    return String.join(" ", "v1", keyId, Long.toString(now), "1", Base64.getEncoder().encodeToString(signature.sign())).getBytes(StandardCharsets.UTF_8);
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

  /** What Avro writes of a JSON value. Throws IllegalArgumentException for another type than the field's: nothing is made of it. */
  private static Object fromJson(JsonNode value, Schema schema, String path) {
    return switch (schema.getType()) {
      case UNION -> value.isNull() ? null : fromJson(value, schema.getTypes().stream().filter(branch -> branch.getType() != Schema.Type.NULL).findFirst().orElseThrow(), path);
      case NULL -> ofType(value.isNull(), "null", value, path);
      case BOOLEAN -> ofType(value.isBoolean(), "true or false", value, path).booleanValue();
      case INT -> ofType(value.isIntegralNumber() && value.canConvertToInt(), "a whole number (int)", value, path).intValue();
      case LONG -> ofType(value.isIntegralNumber() && value.canConvertToLong(), "a whole number (long)", value, path).longValue();
      case FLOAT -> ofType(isFinite(value), "a number", value, path).floatValue();
      case DOUBLE -> ofType(isFinite(value), "a number", value, path).doubleValue();
      case STRING -> text(value, path);
      case ENUM -> new GenericData.EnumSymbol(schema, ofType(value.isTextual() && schema.hasEnumSymbol(value.textValue()), "one of " + String.join(", ", schema.getEnumSymbols()), value, path).textValue());
      case BYTES -> ByteBuffer.wrap(text(value, path).getBytes(StandardCharsets.UTF_8));
      case FIXED -> new GenericData.Fixed(schema, HexFormat.of().parseHex(ofType(isHex(value, schema.getFixedSize()), schema.getFixedSize() + " octets in hex", value, path).textValue()));
      case ARRAY -> listFrom(ofType(value.isArray(), "a list", value, path), schema, path);
      case MAP -> mapFrom(ofType(value.isObject(), "an object", value, path), schema, path);
      case RECORD -> recordFrom(ofType(value.isObject(), "an object", value, path), schema, path);
    };
  }

  private static JsonNode ofType(boolean isSo, String wanted, JsonNode value, String path) {
    if (!isSo) throw new IllegalArgumentException(path + " must be " + wanted);
    return value;
  }

  private static String text(JsonNode value, String path) {
    return wellFormed(ofType(value.isTextual(), "a string", value, path).textValue(), path);
  }

  /** Half a letter (a lone surrogate) has no octets in UTF-8: Java would write a question mark for it. */
  private static String wellFormed(String text, String path) {
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) throw new IllegalArgumentException(path + " must be well-formed Unicode");
    return text;
  }

  private static boolean isFinite(JsonNode value) {
    return value.isNumber() && Double.isFinite(value.doubleValue());
  }

  private static boolean isHex(JsonNode value, int size) {
    return value.isTextual() && value.textValue().matches("[0-9A-Fa-f]{" + 2 * size + "}");
  }

  private static List<Object> listFrom(JsonNode value, Schema schema, String path) {
    List<Object> items = new ArrayList<>();
    for (JsonNode item : value) items.add(fromJson(item, schema.getElementType(), path + "[" + items.size() + "]"));
    return items;
  }

  private static Map<String, Object> mapFrom(JsonNode value, Schema schema, String path) {
    Map<String, Object> members = new TreeMap<>();
    value.properties().forEach(member -> members.put(wellFormed(member.getKey(), path), fromJson(member.getValue(), schema.getValueType(), path + "." + member.getKey())));
    return members;
  }

  /** Fields that are left out take the schema's defaults; one it does not have, or that has no default, is an error. */
  private static GenericRecord recordFrom(JsonNode value, Schema schema, String path) {
    if (schema.getName().equals("Payload") && value.size() == 1 && value.has("json")) return payload(value.get("json"), schema, path);
    Set<String> unknown = new TreeSet<>();
    value.fieldNames().forEachRemaining(name -> { if (schema.getField(name) == null) unknown.add(name); });
    if (!unknown.isEmpty()) throw new IllegalArgumentException(path + " has no field " + String.join(", ", unknown));
    List<String> missing = schema.getFields().stream().filter(field -> !value.has(field.name()) && !field.hasDefaultValue()).map(Schema.Field::name).toList();
    if (!missing.isEmpty()) throw new IllegalArgumentException(path + " lacks " + String.join(", ", missing));
    GenericRecordBuilder record = new GenericRecordBuilder(schema);
    for (Schema.Field field : schema.getFields()) if (value.has(field.name())) record.set(field, fromJson(value.get(field.name()), field.schema(), path + "." + field.name()));
    return record.build();
  }

  /** A number that is beyond a double would be written as text. */
  private static void refuseUnwritable(JsonNode value, String path) {
    ofType(!value.isNumber() || isFinite(value), "JSON, of numbers that a double has", value, path);
    if (value.isTextual()) wellFormed(value.textValue(), path);
    value.fieldNames().forEachRemaining(name -> wellFormed(name, path));
    value.forEach(member -> refuseUnwritable(member, path));
  }

  private static GenericRecord payload(JsonNode content, Schema schema, String path) {
    refuseUnwritable(content, path);
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
