package fatoura;

import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.util.regex.Pattern;

/**
 * A client of Fatoura. The key ({@code sk_test_…}, {@code sk_live_…}) decides tenant and environment. Several threads
 * may use it at once; an interruption of a thread ends its call.
 */
public final class Fatoura {
  private static final Pattern ADDRESS =
      Pattern.compile("https?://[^\\s/?#@\\\\][^\\s?#@\\\\]*", Pattern.CASE_INSENSITIVE);

  private final Invoices invoices;
  private final Drafts drafts;
  private final WebhookEndpoints webhookEndpoints;

  public Fatoura(String key) {
    this(key, new ClientOptions());
  }

  /** @throws IllegalArgumentException without a key or an address, or if one of them cannot be right */
  public Fatoura(String key, ClientOptions options) {
    // A key that was read from a file ends with a line break.
    String trimmed = key == null ? "" : key.strip();
    if (trimmed.isEmpty()) throw new IllegalArgumentException("The secret key is missing.");
    // Otherwise the transport's error would print it.
    if (!trimmed.chars().allMatch(character -> character >= '!' && character <= '~'))
      throw new IllegalArgumentException("The secret key has characters that no key has.");
    if (options.httpClient != null && options.httpClient.followRedirects() != HttpClient.Redirect.NEVER)
      throw new IllegalArgumentException("The httpClient follows redirections, and would send the key along.");
    Http http = new Http(trimmed, addressOf(options.baseUrl), options);
    invoices = new Invoices(http);
    drafts = new Drafts(http);
    webhookEndpoints = new WebhookEndpoints(http);
  }

  /** Reads the address of the service. Its message does not have it: it may be the key. */
  private static String addressOf(String baseUrl) {
    String text = baseUrl == null ? "" : baseUrl.strip();
    if (text.isEmpty())
      throw new IllegalArgumentException(
          "baseUrl is missing: the address of the service, or the variable FATOURA_URL.");
    if (!ADDRESS.matcher(text).matches() || !hasHost(text))
      throw new IllegalArgumentException(
          "baseUrl is no address such as https://invoices.example.ma: http or https, without a user and a query.");
    return text.replaceAll("/+$", "");
  }

  private static boolean hasHost(String address) {
    try {
      URI uri = new URI(address);
      // It has no limit for a port; -1 is none.
      return uri.getHost() != null && uri.getPort() != 0 && uri.getPort() < 65536;
    } catch (URISyntaxException error) {
      return false;
    }
  }

  public Invoices invoices() {
    return invoices;
  }

  public Drafts drafts() {
    return drafts;
  }

  public WebhookEndpoints webhookEndpoints() {
    return webhookEndpoints;
  }
}
