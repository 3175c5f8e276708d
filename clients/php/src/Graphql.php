<?php

declare(strict_types=1);

namespace Fatoura;

/**
 * Corrections and drafts, which REST does not have.
 *
 * @internal
 */
final class Graphql
{
    private const ERROR = '... on Error { code message param status }';
    private const DRAFT = 'id version content validation { problems { code message param } }';

    public const CREDIT = 'mutation ($id: ID!, $input: CreditInvoiceInput!, $key: String) {
      creditInvoice(invoiceId: $id, input: $input, idempotencyKey: $key) {
        ... on CreditInvoicePayload { replayed creditNote { id status amount } }
        ' . self::ERROR . '
      }
    }';
    public const REPLACE = 'mutation (
      $id: ID!, $input: CreateInvoiceInput!, $reason: CreditReason!, $note: String, $key: String
    ) {
      replaceInvoice(invoiceId: $id, input: $input, reason: $reason, note: $note, idempotencyKey: $key) {
        ... on ReplaceInvoicePayload { replayed invoice { id status amount } creditNote { id status amount } }
        ' . self::ERROR . '
      }
    }';
    public const CREATE_DRAFT = 'mutation ($content: DraftContent!) {
      createDraft(content: $content) { ... on CreateDraftPayload { draft { ' . self::DRAFT . ' } } ' . self::ERROR . ' }
    }';
    public const READ_DRAFT = 'query ($id: ID!) { draft(id: $id) { ' . self::DRAFT . ' } }';
    public const UPDATE_DRAFT = 'mutation ($id: ID!, $version: Int!, $content: DraftContent!) {
      updateDraft(id: $id, version: $version, content: $content) {
        ... on UpdateDraftPayload { draft { ' . self::DRAFT . ' } }
        ' . self::ERROR . '
      }
    }';
    public const ISSUE_DRAFT = 'mutation ($id: ID!, $version: Int!) {
      issueDraft(id: $id, version: $version) {
        ... on IssueDraftPayload { replayed invoice { id status amount } }
        ' . self::ERROR . '
      }
    }';
    public const DELETE_DRAFT = 'mutation ($id: ID!, $version: Int!) {
      deleteDraft(id: $id, version: $version) { ... on DeleteDraftPayload { id } ' . self::ERROR . ' }
    }';

    public function __construct(private readonly Http $http)
    {
    }

    /**
     * Runs an operation with one field, and returns what that field has.
     *
     * @param array<string, mixed> $variables
     * @return array<array-key, mixed>
     * @throws ApiError
     * @throws ConnectionError
     * @throws CancelledError
     */
    public function run(string $field, string $query, array $variables, bool $isRepeatable, ?float $timeout): array
    {
        $body = ['query' => $query, 'variables' => $variables];
        $check = static fn (Answer $answer) => self::throwIfRefused($field, $answer);
        $answer = $this->http->send('POST', '/graphql', [], $body, null, $isRepeatable, $timeout, $check);

        return self::resultIn($field, $answer) ?? throw new FatouraError("The answer has no {$field}.");
    }

    /**
     * GraphQL answers refusals with status 200, also where the service is not available.
     *
     * @throws ApiError
     */
    private static function throwIfRefused(string $field, Answer $answer): void
    {
        $errors = $answer->value['errors'] ?? null;
        $first = is_array($errors) ? ($errors[0] ?? null) : null;
        if (is_array($first)) {
            $stated = is_array($first['extensions'] ?? null) ? $first['extensions'] : [];
            throw self::refused(['message' => $first['message'] ?? null] + $stated, $answer);
        }
        $result = self::resultIn($field, $answer);
        if (isset($result['code'], $result['message'])) {
            throw self::refused($result, $answer);
        }
    }

    /** @return array<array-key, mixed>|null */
    private static function resultIn(string $field, Answer $answer): ?array
    {
        $data = $answer->value['data'] ?? null;
        $result = is_array($data) ? ($data[$field] ?? null) : null;

        return is_array($result) ? $result : null;
    }

    /** @param array<array-key, mixed> $stated */
    private static function refused(array $stated, Answer $answer): ApiError
    {
        $status = $stated['status'] ?? null;
        $requestId = $answer->headers['request-id'] ?? null;

        return ApiError::of(is_int($status) ? $status : 400, $stated, $requestId, Retries::retryAfter($answer->headers));
    }
}
