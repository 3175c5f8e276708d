package fatoura;

import java.io.Serializable;
import java.time.Duration;

/** What every error of this client is. Its nested classes are the families. */
@SuppressWarnings("serial")
public class FatouraException extends RuntimeException {
  String idempotencyKey;

  FatouraException(String message, Throwable cause) {
    super(message, cause);
  }

  /**
   * Of a creation or correction: the key to ask again with; null for other calls. What an attempt has made is then
   * answered, not made again.
   */
  public String idempotencyKey() {
    return idempotencyKey;
  }

  /**
   * The service did not answer: no connection, a reset, a time-out, an answer that ended early. The request may have
   * been done.
   */
  public static final class Connection extends FatouraException {
    private final boolean isLasting;

    Connection(String message, Throwable cause) {
      this(message, cause, false);
    }

    /** @param isLasting whether the same call fails again: a wrong certificate, an answer not from the service */
    Connection(String message, Throwable cause, boolean isLasting) {
      super(message, cause);
      this.isLasting = isLasting;
    }
  }

  /** The thread was interrupted. What was sent may still be done. */
  public static final class Cancelled extends FatouraException {
    Cancelled(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /** A delivery of a webhook is not from the service, or cannot be checked. */
  public static final class Signature extends FatouraException {
    Signature(String message) {
      super(message, null);
    }
  }

  /**
   * What the service said of a refused request.
   *
   * @param code a code of the service ({@link Models.ErrorCode}); one that this version does not know is kept; null if
   * it stated none
   * @param param dotted path of the field at fault, such as {@code customer.ice}; may be null
   * @param status the HTTP status
   * @param requestId the header {@code Request-Id}, to be quoted to support; may be null
   * @param retryAfter when the service takes it again; null if it does not say
   */
  public record Refusal(
      String code, String message, String param, int status, String requestId, Duration retryAfter)
      implements Serializable {}

  /** The service refused a request. */
  public static class Api extends FatouraException {
    private final Refusal refusal;

    Api(Refusal refusal) {
      super(refusal.message(), null);
      this.refusal = refusal;
    }

    public Refusal refusal() {
      return refusal;
    }

    /** See {@link Refusal}. */
    public String code() {
      return refusal.code();
    }

    /** See {@link Refusal}. */
    public String param() {
      return refusal.param();
    }

    /** See {@link Refusal}. */
    public int status() {
      return refusal.status();
    }

    /** See {@link Refusal}. */
    public String requestId() {
      return refusal.requestId();
    }
  }

  /** 400, 422 and the like: the request is wrong. {@code param} says where. */
  public static final class InvalidRequest extends Api {
    InvalidRequest(Refusal refusal) {
      super(refusal);
    }
  }

  /** 401: the key is missing, unknown or revoked. */
  public static final class Authentication extends Api {
    Authentication(Refusal refusal) {
      super(refusal);
    }
  }

  /** 403: the key may not do this. */
  public static final class Permission extends Api {
    Permission(Refusal refusal) {
      super(refusal);
    }
  }

  /** 404: there is no such object in the key's tenant and environment. */
  public static final class NotFound extends Api {
    NotFound(Refusal refusal) {
      super(refusal);
    }
  }

  /** 409: the idempotency key was used for another request, or an object has changed. */
  public static final class Conflict extends Api {
    Conflict(Refusal refusal) {
      super(refusal);
    }
  }

  /** 429: too many requests, also after the retries. */
  public static final class RateLimit extends Api {
    RateLimit(Refusal refusal) {
      super(refusal);
    }
  }

  /** 5xx: the service could not do it, also after the retries. */
  public static final class Service extends Api {
    Service(Refusal refusal) {
      super(refusal);
    }
  }

  /** Makes the error of a family. */
  static Api of(Refusal refusal) {
    return switch (refusal.status()) {
      case 401 -> new Authentication(refusal);
      case 403 -> new Permission(refusal);
      case 404 -> new NotFound(refusal);
      case 409 -> new Conflict(refusal);
      case 429 -> new RateLimit(refusal);
      default -> refusal.status() >= 500 ? new Service(refusal) : new InvalidRequest(refusal);
    };
  }

  /** Whether a later attempt may succeed. */
  boolean isPassing() {
    if (this instanceof Connection connection) return !connection.isLasting;
    return this instanceof Api api && (api.status() == 408 || api.status() == 429 || api.status() >= 500);
  }

  /** When the service takes the request again; null if it does not say. */
  Duration retryAfter() {
    return this instanceof Api api ? api.refusal.retryAfter() : null;
  }
}
