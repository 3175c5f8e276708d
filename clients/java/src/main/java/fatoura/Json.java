package fatoura;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.Strictness;
import com.google.gson.ToNumberPolicy;
import com.google.gson.TypeAdapter;
import com.google.gson.reflect.TypeToken;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.time.Instant;
import java.util.Optional;

/** Reads and writes JSON. Members that are null are left out; an empty Optional is written as null. */
final class Json {
  static final Gson GSON =
      new GsonBuilder()
          .disableHtmlEscaping()
          .setStrictness(Strictness.STRICT)
          .setObjectToNumberStrategy(ToNumberPolicy.LONG_OR_DOUBLE)
          .registerTypeAdapter(Instant.class, new Instants().nullSafe())
          .registerTypeAdapter(Secret.class, new Secrets().nullSafe())
          .registerTypeAdapter(new TypeToken<Optional<String>>() {}.getType(), new Removable().nullSafe())
          .create();

  private Json() {}

  private static final class Instants extends TypeAdapter<Instant> {
    @Override
    public void write(JsonWriter out, Instant value) throws IOException {
      out.value(value.toString());
    }

    @Override
    public Instant read(JsonReader in) throws IOException {
      return Instant.parse(in.nextString());
    }
  }

  private static final class Secrets extends TypeAdapter<Secret> {
    @Override
    public void write(JsonWriter out, Secret value) throws IOException {
      out.value(value.value());
    }

    @Override
    public Secret read(JsonReader in) throws IOException {
      return new Secret(in.nextString());
    }
  }

  private static final class Removable extends TypeAdapter<Optional<String>> {
    @Override
    public void write(JsonWriter out, Optional<String> value) throws IOException {
      boolean isNullWritten = out.getSerializeNulls();
      out.setSerializeNulls(true);
      out.value(value.orElse(null));
      out.setSerializeNulls(isNullWritten);
    }

    @Override
    public Optional<String> read(JsonReader in) throws IOException {
      return Optional.of(in.nextString());
    }
  }
}
