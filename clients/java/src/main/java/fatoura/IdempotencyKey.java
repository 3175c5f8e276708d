package fatoura;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.function.Function;
import java.util.regex.Pattern;

/** By what a repeated call is known: its documents are made once for each. */
final class IdempotencyKey {
  private static final Pattern SEEN = Pattern.compile("[^\\p{Z}\\p{Cc}\\p{Cf}]");
  private static final Pattern LOST_IN_HEADERS = Pattern.compile("^ +| +\\z|[^ -~]+");

  /** The most characters of a key that the service takes. */
  private static final int MOST = 255;

  private IdempotencyKey() {}

  /** Makes a call that is known by a key, which its errors then have. */
  static <Result> Result with(String key, Function<String, Result> call) {
    try {
      return call.apply(key);
    } catch (FatouraException error) {
      error.idempotencyKey = key;
      throw error;
    }
  }

  /**
   * The key of a text, as the service takes it. A key that it has made is made of itself.
   *
   * @param name of the option, for the message of an IllegalArgumentException
   */
  static String of(String name, String prefix, String text) {
    String key = prefix + inHeader(name, text);
    return key.length() <= MOST ? key : "sha256 " + digestOf(key);
  }

  /** Writes as addresses do what a header does not keep: other characters than ASCII's, and spaces at the ends. */
  private static String inHeader(String name, String text) {
    if (text == null || !SEEN.matcher(text).find())
      throw new IllegalArgumentException(
          name + " is null or blank: state it, or leave it out for a key of the call's own");
    // Otherwise all of them would be written as question marks.
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(text))
      throw new IllegalArgumentException(name + " has half of a character (a lone surrogate)");
    return LOST_IN_HEADERS.matcher(text).replaceAll(found -> Http.encoded(found.group()));
  }

  private static String digestOf(String key) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest);
    } catch (NoSuchAlgorithmException error) {
      // Each JDK has it.
      throw new IllegalStateException(error);
    }
  }
}
