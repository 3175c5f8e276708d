package fatoura;

import fatoura.Invoices.Document;
import java.util.List;
import java.util.Map;

/** Drafts of invoices: checked by the same rules as a creation, without a number until they are issued. */
public final class Drafts {
  private static final String FIELDS = "id version content validation { problems { code message param } }";
  private static final String ERROR = "... on Error { code message param status }";
  private static final String CREATE =
      """
      mutation ($content: DraftContent!) {
        createDraft(content: $content) { ... on CreateDraftPayload { draft { %s } } %s }
      }"""
          .formatted(FIELDS, ERROR);
  private static final String READ = "query ($id: ID!) { draft(id: $id) { %s } }".formatted(FIELDS);
  private static final String UPDATE =
      """
      mutation ($id: ID!, $version: Int!, $content: DraftContent!) {
        updateDraft(id: $id, version: $version, content: $content) {
          ... on UpdateDraftPayload { draft { %s } }
          %s
        }
      }"""
          .formatted(FIELDS, ERROR);
  private static final String ISSUE =
      """
      mutation ($id: ID!, $version: Int!) {
        issueDraft(id: $id, version: $version) {
          ... on IssueDraftPayload { replayed invoice { id status amount } }
          %s
        }
      }"""
          .formatted(ERROR);
  private static final String DELETE =
      """
      mutation ($id: ID!, $version: Int!) {
        deleteDraft(id: $id, version: $version) { ... on DeleteDraftPayload { id } %s }
      }"""
          .formatted(ERROR);

  private final Http http;

  Drafts(Http http) {
    this.http = http;
  }

  /**
   * A draft. Whoever changes it names the version that was read.
   *
   * @param id prefix {@code drf_}
   * @param content what is typed of an invoice: members of GraphQL's {@code InvoiceDraft}, any of them
   * @param validation what keeps it from being issued now
   */
  public record Draft(String id, int version, Map<String, Object> content, Validation validation) {}

  public record Validation(List<Problem> problems) {}

  /** @param param may be null */
  public record Problem(String code, String message, String param) {}

  /** The invoice that a draft has become, and whether it had been issued before. */
  public record Issued(Document invoice, boolean replayed) {}

  private record Payload(Draft draft) {}

  private record Deleted(String id) {}

  /** Creates a draft. The call is repeated only after a 429, because otherwise it could make a second one. */
  public Draft create(Map<String, ?> content) {
    return run("createDraft", CREATE, Map.of("content", content), false, Payload.class).draft;
  }

  public Draft get(String id) {
    return run("draft", READ, Map.of("id", id), true, Draft.class);
  }

  /** @throws FatouraException.Conflict ({@code draft_changed}) if it has another version meanwhile */
  public Draft update(Draft draft, Map<String, ?> content) {
    Map<String, Object> variables = Map.of("id", draft.id, "version", draft.version, "content", content);
    return run("updateDraft", UPDATE, variables, false, Payload.class).draft;
  }

  /** Issues a draft as an invoice, once however often it is asked for. */
  public Issued issue(Draft draft) {
    return run("issueDraft", ISSUE, Map.of("id", draft.id, "version", draft.version), true, Issued.class);
  }

  public void delete(Draft draft) {
    run("deleteDraft", DELETE, Map.of("id", draft.id, "version", draft.version), false, Deleted.class);
  }

  private <Value> Value run(
      String field, String query, Map<String, Object> variables, boolean isRepeatable, Class<Value> type) {
    return Graphql.run(http, field, query, variables, new CallOptions(), isRepeatable, type);
  }
}
