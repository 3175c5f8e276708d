package fatoura;

import java.net.http.HttpClient;
import java.time.Duration;
import java.util.function.Consumer;

/** Options of a client, each with a default. */
public final class ClientOptions {
  String baseUrl = System.getenv("FATOURA_URL");
  Duration attemptTimeout = Duration.ofSeconds(30);
  Duration timeout = Duration.ofSeconds(120);
  int maxRetries = 4;
  HttpClient httpClient;
  /** The service sends something every 15 s. A stream that is silent for longer is dead. Shorter in tests. */
  Duration longestSilence = Duration.ofSeconds(40);
  Consumer<Attempt> onAttempt = attempt -> {};

  /**
   * One attempt of a call, for logs.
   *
   * @param path without the query
   * @param attempt from 1
   * @param status the HTTP status; 0 if nothing answered
   * @param requestId may be null
   */
  public record Attempt(
      String method, String path, int attempt, int status, String requestId, Duration duration) {}

  /** Address of the service, such as {@code https://invoices.example.ma}. Default: the variable FATOURA_URL. */
  public ClientOptions baseUrl(String baseUrl) {
    this.baseUrl = baseUrl;
    return this;
  }

  /** For one attempt until its answer is complete. Default 30 s. */
  public ClientOptions attemptTimeout(Duration attemptTimeout) {
    this.attemptTimeout = attemptTimeout;
    return this;
  }

  /** For a call with all its attempts and pauses. Default 120 s. */
  public ClientOptions timeout(Duration timeout) {
    this.timeout = timeout;
    return this;
  }

  /** How often a call is repeated at most. Default 4. */
  public ClientOptions maxRetries(int maxRetries) {
    this.maxRetries = maxRetries;
    return this;
  }

  /** Sends the requests; must not follow redirections, because it would send the key along. Default: one of its own. */
  public ClientOptions httpClient(HttpClient httpClient) {
    this.httpClient = httpClient;
    return this;
  }

  /** Is told of each attempt. Never gets keys, secrets or bodies. */
  public ClientOptions onAttempt(Consumer<Attempt> onAttempt) {
    this.onAttempt = onAttempt;
    return this;
  }
}
