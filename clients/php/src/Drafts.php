<?php

declare(strict_types=1);

namespace Fatoura;

/**
 * Drafts of invoices: checked by the same rules as a creation, without a number until they are issued. Whoever changes
 * one names the version that was read.
 *
 * @phpstan-import-type InvoiceStatus from Models
 * @phpstan-type DraftContent array<string, mixed>
 * @phpstan-type DraftVersion array{id: string, version: int}
 * @phpstan-type Draft array{
 *     id: string,
 *     version: int,
 *     content: DraftContent,
 *     validation: array{problems: list<array{code: string, message: string, param: string|null}>},
 * }
 */
final class Drafts
{
    private readonly Graphql $graphql;

    public function __construct(Http $http)
    {
        $this->graphql = new Graphql($http);
    }

    /**
     * Creates a draft. The call is repeated only after a 429, because otherwise it could make a second one.
     *
     * @param DraftContent $content members of GraphQL's `InvoiceDraft`, any of them
     * @return Draft
     */
    public function create(array $content, ?float $timeout = null): array
    {
        $result = $this->graphql->run('createDraft', Graphql::CREATE_DRAFT, ['content' => $content], false, $timeout);

        /** @var Draft */
        return $result['draft'];
    }

    /** @return Draft */
    public function get(string $id, ?float $timeout = null): array
    {
        /** @var Draft */
        return $this->graphql->run('draft', Graphql::READ_DRAFT, ['id' => $id], true, $timeout);
    }

    /**
     * @param DraftVersion $draft
     * @param DraftContent $content
     * @return Draft
     * @throws ConflictError (`draft_changed`) if it has another version meanwhile
     */
    public function update(array $draft, array $content, ?float $timeout = null): array
    {
        $variables = self::version($draft) + ['content' => $content];
        $result = $this->graphql->run('updateDraft', Graphql::UPDATE_DRAFT, $variables, false, $timeout);

        /** @var Draft */
        return $result['draft'];
    }

    /**
     * Issues a draft as an invoice, once however often it is asked for.
     *
     * @param DraftVersion $draft
     * @return array{invoice: array{id: string, status: InvoiceStatus, amount: int}, replayed: bool}
     */
    public function issue(array $draft, ?float $timeout = null): array
    {
        /** @var array{invoice: array{id: string, status: InvoiceStatus, amount: int}, replayed: bool} */
        return $this->graphql->run('issueDraft', Graphql::ISSUE_DRAFT, self::version($draft), true, $timeout);
    }

    /** @param DraftVersion $draft */
    public function delete(array $draft, ?float $timeout = null): void
    {
        $this->graphql->run('deleteDraft', Graphql::DELETE_DRAFT, self::version($draft), false, $timeout);
    }

    /**
     * @param DraftVersion $draft
     * @return DraftVersion
     */
    private static function version(array $draft): array
    {
        return ['id' => $draft['id'], 'version' => $draft['version']];
    }
}
