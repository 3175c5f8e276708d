package fatoura;

import fatoura.FatouraException.Connection;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Reads Server-Sent Events (HTML Living Standard, section 9.2.6) of a body as it arrives. Whoever reads them waits for a
 * limited time, and can be interrupted.
 */
final class EventStream implements Flow.Subscriber<List<ByteBuffer>>, AutoCloseable {
  /** A message. A comment, which keeps the connection alive, has no data: null. */
  record Event(String id, String data) {}

  /** What has arrived: bytes; without them the end, or what broke the stream. */
  private record Part(byte[] bytes, Throwable failure) {}

  private final CompletableFuture<Flow.Subscription> subscribed = new CompletableFuture<>();
  private final BlockingQueue<Part> parts = new LinkedBlockingQueue<>();
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();
  private final List<String> data = new ArrayList<>();
  private byte[] bytes = {};
  private int position;
  private boolean isAfterCr;
  private String id;

  EventStream(Flow.Publisher<List<ByteBuffer>> body) {
    body.subscribe(this);
  }

  /**
   * Waits for the next event; null at the end of the stream.
   *
   * @throws Connection if the stream breaks, or nothing arrives for so long
   */
  Event next(Duration limit) {
    for (;;) {
      while (position < bytes.length) {
        Event event = eventAt(bytes[position++]);
        if (event != null) return event;
      }
      if (!arrives(limit)) return null;
    }
  }

  /** Reads all as a text. */
  String text(Duration limit) {
    var all = new ByteArrayOutputStream();
    while (arrives(limit)) all.writeBytes(bytes);
    return all.toString(StandardCharsets.UTF_8);
  }

  /** Waits for the next bytes, and returns whether there are more. */
  private boolean arrives(Duration limit) {
    Part part = arrived(limit);
    if (part == null) throw new Connection("the stream is silent", null);
    if (part.failure != null) throw new Connection("the stream broke", part.failure);
    if (part.bytes == null) return false;
    bytes = part.bytes;
    position = 0;
    subscribed.join().request(1);
    return true;
  }

  private Part arrived(Duration limit) {
    try {
      return parts.poll(Math.max(0, limit.toMillis()), TimeUnit.MILLISECONDS);
    } catch (InterruptedException error) {
      throw Http.interrupted(error);
    }
  }

  /** Reads a byte. Lines end with CRLF, LF or CR. */
  private Event eventAt(byte next) {
    boolean isSecondOfTwo = isAfterCr && next == '\n';
    isAfterCr = next == '\r';
    if (isSecondOfTwo) return null;
    if (next != '\n' && next != '\r') {
      line.write(next);
      return null;
    }
    String text = line.toString(StandardCharsets.UTF_8);
    line.reset();
    return eventOf(text);
  }

  /** The event that a line ends; null if it ends none. */
  private Event eventOf(String line) {
    if (line.startsWith(":")) return new Event(id, null);
    if (line.isEmpty() && !data.isEmpty()) {
      Event event = new Event(id, String.join("\n", data));
      data.clear();
      return event;
    }
    String[] parts = line.split(": ?", 2);
    String text = parts.length > 1 ? parts[1] : "";
    if (parts[0].equals("data")) data.add(text);
    // What no header carries could not be sent back.
    if (parts[0].equals("id") && text.chars().allMatch(character -> character >= ' ' && character <= '~')) id = text;
    return null;
  }

  @Override
  public void close() {
    subscribed.thenAccept(Flow.Subscription::cancel);
  }

  @Override
  public void onSubscribe(Flow.Subscription subscription) {
    subscribed.complete(subscription);
    subscription.request(1);
  }

  @Override
  public void onNext(List<ByteBuffer> buffers) {
    var all = new ByteArrayOutputStream();
    for (ByteBuffer buffer : buffers) {
      byte[] part = new byte[buffer.remaining()];
      buffer.get(part);
      all.writeBytes(part);
    }
    parts.add(new Part(all.toByteArray(), null));
  }

  @Override
  public void onError(Throwable failure) {
    parts.add(new Part(null, failure));
  }

  @Override
  public void onComplete() {
    parts.add(new Part(null, null));
  }
}
