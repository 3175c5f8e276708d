<?php

declare(strict_types=1);

namespace Fatoura;

/**
 * Invoices that are read page by page, when they are iterated: from the newest to the oldest, or with `ending_before`
 * back to the newest. Each iteration reads anew.
 *
 * @phpstan-import-type Invoice from Models
 * @phpstan-import-type InvoiceList from Models
 * @phpstan-type Span array{starting_after?: string|null, ending_before?: string|null}
 * @implements \IteratorAggregate<int, Invoice>
 */
final class InvoicePages implements \IteratorAggregate
{
    /**
     * @param Span $span where the first page begins
     * @param \Closure(Span): InvoiceList $read reads a page
     */
    public function __construct(private readonly array $span, private readonly \Closure $read)
    {
    }

    /**
     * Reads the first page only.
     *
     * @return InvoiceList
     */
    public function page(): array
    {
        return ($this->read)($this->span);
    }

    /** @return \Generator<int, Invoice> */
    public function getIterator(): \Generator
    {
        $span = $this->span;
        $isBack = isset($span['ending_before']);
        $at = 0;
        do {
            ['data' => $data, 'has_more' => $hasMore] = ($this->read)($span);
            // A page is newest first in either direction. On the way back the oldest comes first.
            $ordered = $isBack ? array_reverse($data) : $data;
            foreach ($ordered as $invoice) {
                yield $at++ => $invoice;
                $span = $isBack ? ['ending_before' => $invoice['id']] : ['starting_after' => $invoice['id']];
            }
        } while ($hasMore && $ordered !== []);
    }
}
