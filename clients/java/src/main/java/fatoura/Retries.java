package fatoura;

import fatoura.FatouraException.Api;
import java.net.http.HttpHeaders;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.concurrent.ThreadLocalRandom;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLPeerUnverifiedException;

/** Which calls are repeated, and when. */
final class Retries {
  /** The pause before the first repetition, and the longest one. Each is up to twice the one before. */
  private static final Duration FIRST_PAUSE = Duration.ofMillis(250);

  private static final long LONGEST_PAUSE_MS = 8000;

  /** The most seconds that are read of {@code Retry-After}. */
  private static final long MOST = 1_000_000_000;

  /** A call does not wait for a longer {@code Retry-After}. Whoever follows an invoice asks again after so long. */
  private static final Duration LONGEST_RETRY_AFTER = Duration.ofMinutes(1);

  private Retries() {}

  /** Whether the service has surely done nothing, so that a repetition does no harm whatever the request is. */
  static boolean isUndone(FatouraException error) {
    return error instanceof Api api && api.status() == 429;
  }

  /** How long a call pauses before its next attempt; null if a repetition would not help. */
  static Duration pauseBefore(FatouraException error, int attempt) {
    if (!error.isPassing()) return null;
    Duration stated = error.retryAfter();
    if (stated == null) {
      long most = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE.toMillis() << Math.min(attempt, 10));
      return Duration.ofMillis(most / 2 + ThreadLocalRandom.current().nextLong(most / 2));
    }
    return stated.compareTo(LONGEST_RETRY_AFTER) > 0 ? null : longer(stated, FIRST_PAUSE);
  }

  /** How long an error asks whoever follows an invoice to wait. */
  static Duration restOf(FatouraException error) {
    Duration stated = error.retryAfter();
    return stated == null ? Duration.ZERO : Http.shorter(stated, LONGEST_RETRY_AFTER);
  }

  /** Reads {@code Retry-After}; null if there is none. */
  static Duration retryAfterOf(HttpHeaders headers) {
    return headers.firstValue("retry-after").map(String::strip).map(Retries::retryAfterOf).orElse(null);
  }

  /** Reads {@code Retry-After}: a number of seconds or a date (RFC 9110, section 10.2.3); null if it is neither. */
  static Duration retryAfterOf(String text) {
    // More digits are too long a time, whatever they are.
    if (text.matches("\\d+")) return Duration.ofSeconds(text.length() > 9 ? MOST : Long.parseLong(text));
    try {
      Instant date = Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(text));
      Duration left = Duration.between(Instant.now(), date);
      return left.isNegative() ? Duration.ZERO : left;
    } catch (DateTimeParseException error) {
      return null;
    }
  }

  /** Whether a certificate was refused, or the other side does not speak TLS. */
  static boolean isOfTls(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof CertificateException || cause instanceof SSLPeerUnverifiedException) return true;
      if (cause instanceof SSLException && String.valueOf(cause.getMessage()).matches(".*nrecognized SSL message.*"))
        return true;
    }
    return false;
  }

  static Duration longer(Duration a, Duration b) {
    return a.compareTo(b) > 0 ? a : b;
  }
}
