package fatoura;

import com.google.gson.JsonParseException;
import fatoura.FatouraException.Connection;
import fatoura.Models.InvoiceStatus;
import fatoura.Models.StatusMessage;
import java.time.Duration;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;

/**
 * The statuses of an invoice, each once and in order, until it is accepted or rejected. It is read once. Whoever stops
 * before the end closes it.
 */
public final class Following implements Iterable<StatusMessage>, Iterator<StatusMessage>, AutoCloseable {
  /** Pauses between two connections, and between two readings where streams do not pass. */
  private static final Duration RECONNECT = Duration.ofMillis(500);

  private static final Duration POLL = Duration.ofSeconds(2);

  /**
   * After so many connections without any message the invoice is read instead: something on the way holds streams back.
   */
  private static final int FUTILE_STREAMS = 3;

  /** Then a stream is tried in every so many readings: the network may only have been down. */
  private static final int READINGS_PER_STREAM = 15;

  /** Statuses before the final ones. */
  private static final List<String> IN_ORDER =
      List.of(InvoiceStatus.PENDING, InvoiceStatus.SIGNING, InvoiceStatus.TRANSMITTED);

  private static final Duration FOREVER = Duration.ofDays(36_500);

  private final Http http;
  private final String path;
  private final Duration timeout;
  private final long begun = System.nanoTime();
  private EventStream stream;
  private StatusMessage next;
  private String status;
  private final Set<String> told = new HashSet<>();
  private String lastEventId;
  private int futile;
  private boolean isNew;
  private Duration pause = Duration.ZERO;
  private boolean isEnded;

  /** @param timeout may be null: none */
  Following(Http http, String path, Duration timeout) {
    this.http = http;
    this.path = path;
    this.timeout = timeout == null ? FOREVER : timeout;
  }

  @Override
  public Iterator<StatusMessage> iterator() {
    return this;
  }

  /** @throws Connection if the status is not final by the time-out */
  @Override
  public boolean hasNext() {
    while (next == null && !isEnded) advance();
    return next != null;
  }

  @Override
  public StatusMessage next() {
    if (!hasNext()) throw new NoSuchElementException();
    StatusMessage message = next;
    next = null;
    return message;
  }

  @Override
  public void close() {
    isEnded = true;
    closeStream();
  }

  /** Reads one event of the stream or, where there is none, the invoice, which ends an attempt. */
  private void advance() {
    try {
      if (stream == null) beginAttempt();
      EventStream.Event event = stream == null ? null : stream.next(Http.shorter(http.longestSilence(), left()));
      if (event == null) {
        // The stream ends after the final status, of which a message may be lost on the way.
        closeStream();
        var options = new CallOptions().timeout(Http.shorter(http.longestSilence(), left()));
        tell(http.read(Http.Call.get(path, options), StatusMessage.class));
        endAttempt();
      } else if (event.data() != null) {
        StatusMessage message = statusIn(event.data());
        lastEventId = event.id() == null ? lastEventId : event.id();
        tell(message);
      }
    } catch (FatouraException error) {
      if (error.isPassing() && !left().isZero()) {
        closeStream();
        endAttempt();
        pause = Retries.longer(pause, Retries.restOf(error));
        return;
      }
      close();
      if (!error.isPassing()) throw error;
      throw new Connection(path + ": no final status within " + timeout.toMillis() + " ms", error);
    }
  }

  private static StatusMessage statusIn(String text) {
    try {
      StatusMessage message = Json.GSON.fromJson(text, StatusMessage.class);
      if (message != null && message.status() != null) return message;
    } catch (JsonParseException error) {
      // A page of a proxy.
    }
    throw new Connection("a message of the stream has no status", null);
  }

  private void beginAttempt() {
    Http.sleep(Http.shorter(pause, left()));
    isNew = false;
    if (futile >= FUTILE_STREAMS && futile % READINGS_PER_STREAM != 0) return;
    Map<String, String> headers = lastEventId == null ? Map.of() : Map.of("Last-Event-ID", lastEventId);
    stream = http.open(path + "/stream", headers, left());
  }

  private void endAttempt() {
    futile = isNew ? 0 : futile + 1;
    pause = futile < FUTILE_STREAMS ? RECONNECT : POLL;
  }

  /**
   * Keeps a message of a later status than the last one. A stream repeats what came after its last message, of which a
   * reading may have told the end.
   */
  private void tell(StatusMessage message) {
    int place = IN_ORDER.indexOf(message.status());
    if (told.contains(message.status()) || (place >= 0 && status != null && place < IN_ORDER.indexOf(status))) return;
    next = message;
    status = message.status();
    told.add(status);
    isNew = true;
    if (status.equals(InvoiceStatus.ACCEPTED) || status.equals(InvoiceStatus.REJECTED)) close();
  }

  private void closeStream() {
    if (stream != null) stream.close();
    stream = null;
  }

  private Duration left() {
    Duration left = timeout.minusNanos(System.nanoTime() - begun);
    return left.isNegative() ? Duration.ZERO : left;
  }
}
