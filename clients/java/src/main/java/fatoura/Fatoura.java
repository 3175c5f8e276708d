package fatoura;

/**
 * A client of Fatoura. The key ({@code sk_test_…}, {@code sk_live_…}) decides tenant and environment. Several threads
 * may use it at once; an interruption of a thread ends its call.
 */
public final class Fatoura {
  private final Invoices invoices;
  private final Drafts drafts;
  private final WebhookEndpoints webhookEndpoints;

  public Fatoura(String key) {
    this(key, new ClientOptions());
  }

  /** @throws IllegalArgumentException without a key or an address */
  public Fatoura(String key, ClientOptions options) {
    // A key that was read from a file ends with a line break.
    String trimmed = key == null ? "" : key.strip();
    if (trimmed.isEmpty()) throw new IllegalArgumentException("The secret key is missing.");
    // Otherwise the transport's error would print it.
    if (!trimmed.chars().allMatch(character -> character >= '!' && character <= '~'))
      throw new IllegalArgumentException("The secret key has characters that no key has.");
    if (options.baseUrl == null || options.baseUrl.isEmpty())
      throw new IllegalArgumentException(
          "baseUrl is missing: the address of the service, or the variable FATOURA_URL.");
    Http http = new Http(trimmed, options);
    invoices = new Invoices(http);
    drafts = new Drafts(http);
    webhookEndpoints = new WebhookEndpoints(http);
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
