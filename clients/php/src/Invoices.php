<?php

declare(strict_types=1);

namespace Fatoura;

/**
 * Invoices: creation, reading, following, correction. Time-outs are of whole calls, seconds.
 *
 * @phpstan-import-type CreateInvoice from Models
 * @phpstan-import-type Creation from Models
 * @phpstan-import-type Invoice from Models
 * @phpstan-import-type InvoiceList from Models
 * @phpstan-import-type InvoiceStatus from Models
 * @phpstan-import-type StatusMessage from Models
 * @phpstan-type Include 'number'|'totals'|'terms'|'warnings'|'credits'|'customer'|'lines'
 * @phpstan-type CreditReason 'error'|'return'|'cancellation'|'discount'|'other'
 * @phpstan-type CreditInput array{
 *     reason: CreditReason,
 *     note?: string,
 *     lines?: list<array{line: int, quantity: int|float}>,
 *     amounts?: list<array{taxRate: int, net: int, description?: string}>,
 *     metadata?: array<string, string>,
 * }
 * @phpstan-type Document array{id: string, status: InvoiceStatus, amount: int}
 */
final class Invoices
{
    private const PATH = '/v1/invoices';
    private readonly Graphql $graphql;

    public function __construct(private readonly Http $http)
    {
        $this->graphql = new Graphql($http);
    }

    /**
     * Creates an invoice. It is `pending` in the answer; `follow` waits for the authority. Repeated attempts of a call
     * have one key, so a lost answer never makes a second invoice.
     *
     * @param CreateInvoice $invoice
     * @param string|null $orderNumber your number of the order: the same order never becomes a second invoice, also
     *     from another process
     * @param string|null $idempotencyKey printable characters, of which more than 255 are sent as their SHA-256;
     *     default: made of `orderNumber`, or new for each call
     * @param list<Include>|null $include members that answers have only if they are asked for
     * @throws \InvalidArgumentException for a blank order number or key
     * @return Creation `replayed`: an earlier request with the same key had created it
     */
    public function create(
        array $invoice,
        ?string $orderNumber = null,
        ?string $idempotencyKey = null,
        ?array $include = null,
        ?float $timeout = null,
    ): array {
        $query = self::including($include);
        $answer = IdempotencyKey::with(
            $orderNumber,
            $idempotencyKey,
            fn (string $key): Answer => $this->http->send('POST', self::PATH, $query, $invoice, $key, true, $timeout),
        );

        /** @var Creation */
        return $answer->value + ['replayed' => ($answer->headers['idempotent-replayed'] ?? '') === 'true'];
    }

    /**
     * @param list<Include>|null $include
     * @return Invoice
     */
    public function get(string $id, ?array $include = null, ?float $timeout = null): array
    {
        $path = self::PATH . '/' . rawurlencode($id);

        /** @var Invoice */
        return $this->http->send('GET', $path, self::including($include), timeout: $timeout)->value;
    }

    /**
     * Lists invoices, newest first; with `ending_before` back to the newest. `limit`: invoices of a page, 1 to 100.
     *
     * @param array{
     *     status?: InvoiceStatus|null,
     *     customer_ice?: string|null,
     *     created_after?: string|null,
     *     created_before?: string|null,
     *     starting_after?: string|null,
     *     ending_before?: string|null,
     *     limit?: int,
     * } $filter
     * @param list<Include>|null $include
     */
    public function list(array $filter = [], ?array $include = null, ?float $timeout = null): InvoicePages
    {
        $span = [
            'starting_after' => $filter['starting_after'] ?? null,
            'ending_before' => $filter['ending_before'] ?? null,
        ];
        $query = array_diff_key($filter, $span) + ['limit' => 100] + self::including($include);

        return new InvoicePages($span, function (array $span) use ($query, $timeout): array {
            /** @var InvoiceList */
            return $this->http->send('GET', self::PATH, $span + $query, timeout: $timeout)->value;
        });
    }

    /**
     * Finds the invoice with a legal number; null if there is none.
     *
     * @param list<Include>|null $include
     * @return Invoice|null
     */
    public function findByNumber(string $number, ?array $include = null, ?float $timeout = null): ?array
    {
        $query = ['number' => $number] + self::including($include);
        /** @var InvoiceList $list */
        $list = $this->http->send('GET', self::PATH, $query, timeout: $timeout)->value;

        return $list['data'][0] ?? null;
    }

    /**
     * Yields the status of an invoice, and each change once and in order, until it is accepted or rejected. Connections
     * that break are resumed; where none carries a stream, the invoice is read every two seconds. `Retry-After` is
     * obeyed, up to a minute.
     *
     * @param float|null $timeout ends it with a ConnectionError if the status is not final by then; default: none
     * @return \Generator<int, StatusMessage>
     */
    public function follow(string $id, ?float $timeout = null): \Generator
    {
        $read = fn (?float $left): array => $this->get($id, timeout: $left);

        return (new Following($this->http, $id, $read, $timeout))->messages();
    }

    /**
     * Waits until an invoice is accepted or rejected, and reads it: for as long as that takes, where the authority does
     * not answer for hours, unless `$timeout` ends it.
     *
     * @param list<Include>|null $include
     * @throws ConnectionError after `$timeout`
     * @return Invoice
     */
    public function settled(string $id, ?array $include = null, ?float $timeout = null): array
    {
        foreach ($this->follow($id, $timeout) as $_) {
            // Each change brings the last one nearer.
        }

        return $this->get($id, $include);
    }

    /**
     * Credits an accepted invoice; the credit note passes through the same states as an invoice.
     *
     * @param CreditInput $input all that is left, or lines, or amounts by rate of VAT in centimes
     * @return array{creditNote: Document, replayed: bool}
     */
    public function credit(
        string $id,
        array $input,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
    ): array {
        $credit = ['id' => $id, 'input' => $input];

        /** @var array{creditNote: Document, replayed: bool} */
        return $this->correct('creditInvoice', Graphql::CREDIT, $credit, $idempotencyKey, $timeout);
    }

    /**
     * Replaces an invoice by a corrected one. What is left of an accepted one is credited first.
     *
     * @param array<string, mixed> $input as of GraphQL's `createInvoice`, with its names: `unitPrice`, `taxRate`
     * @param CreditReason $reason
     * @return array{invoice: Document, creditNote: Document|null, replayed: bool} no credit note: there was nothing to
     *     credit
     */
    public function replace(
        string $id,
        array $input,
        string $reason,
        ?string $note = null,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
    ): array {
        $replacement = ['id' => $id, 'input' => $input, 'reason' => $reason, 'note' => $note];

        /** @var array{invoice: Document, creditNote: Document|null, replayed: bool} */
        return $this->correct('replaceInvoice', Graphql::REPLACE, $replacement, $idempotencyKey, $timeout);
    }

    /**
     * @param array<string, mixed> $variables without the key
     * @return array<array-key, mixed>
     */
    private function correct(
        string $field,
        string $query,
        array $variables,
        ?string $idempotencyKey,
        ?float $timeout,
    ): array {
        $run = fn (string $key): array => $this->graphql->run($field, $query, $variables + ['key' => $key], true, $timeout);

        return IdempotencyKey::with(null, $idempotencyKey, $run);
    }

    /**
     * @param list<string>|null $include
     * @return array{include?: string}
     */
    private static function including(?array $include): array
    {
        return $include === null ? [] : ['include' => implode(',', $include)];
    }
}
