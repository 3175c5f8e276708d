import type { Client, CombinedError } from '@urql/core';
import type { VariablesOf } from 'gql.tada';
import { isRefusal } from '../graphql/client.ts';
import { waitToRetry } from '../graphql/retry.ts';
import type { Texts } from '../text/fr.ts';
import type { Language } from '../text/languages.ts';
import { plainMoment } from '../text/moroccan-time.ts';
import { type Cell, csvLine } from './csv.ts';
import { EXPORTED, type ExportedInvoice } from './documents.ts';
import { conditionsOf, type Filter } from './invoice-filter.ts';

/** Maximum number of attempts to read a page before the export fails. */
const ATTEMPTS = 6;
/** Pause between two pages, milliseconds. It leaves part of the rate limit to the pages that the person looks at. */
const PACE_MS = 250;
/** Marks the file as UTF-8 for spreadsheets. */
const BYTE_ORDER_MARK = '\ufeff';

interface Export {
  readonly filter: Filter;
  readonly language: Language;
  readonly texts: Texts;
  /** Called after each page with the number of invoices read so far. */
  readonly onProgress: (count: number) => void;
  readonly signal: AbortSignal;
}

/**
 * Reads all invoices of a filter, newest first, page by page, into a CSV file. Invoices created meanwhile are not
 * included. A page that fails is read again with growing pauses. The rate limit only slows the export down.
 * @returns null when `signal` has aborted
 * @throws when the service refuses it, or cannot be reached for long
 */
export async function exportInvoices(client: Client, options: Export): Promise<Blob | null> {
  const { filter, language, texts, onProgress, signal } = options;
  const columns = columnsOf(texts);
  const head = columns.map(([name]) => name);
  const parts: Blob[] = [new Blob([BYTE_ORDER_MARK, csvLine(head, language)])];
  let after: string | null = null;
  for (let count = 0; ; ) {
    const page: Awaited<ReturnType<typeof readPage>> = await readPage(
      client,
      { ...conditionsOf(filter), after },
      signal,
    );
    if (page === null) return null;
    parts.push(
      new Blob(
        page.nodes.map((invoice) =>
          csvLine(
            columns.map(([, cellOf]) => cellOf(invoice)),
            language,
          ),
        ),
      ),
    );
    count += page.nodes.length;
    onProgress(count);
    if (!page.pageInfo.hasNextPage) return new Blob(parts, { type: 'text/csv;charset=utf-8' });
    after = page.pageInfo.endCursor ?? null;
    await pause(PACE_MS);
  }
}

type Column = readonly [name: string, cellOf: (invoice: ExportedInvoice) => Cell];

/**
 * Returns the columns of the file. Its amounts add up: the total is the sum without tax plus the tax, and the payable
 * amount is the total plus the rounding.
 */
function columnsOf({ invoices, search, statuses, ...texts }: Texts): readonly Column[] {
  const { number, date, status, customer } = invoices.columns;
  return [
    [number, (invoice) => invoice.number],
    [date, (invoice) => new Date(invoice.createdAt)],
    [status, (invoice) => statuses[invoice.status].step],
    [customer, (invoice) => invoice.customer.name],
    [texts.ice, (invoice) => invoice.customer.ice],
    [texts.subtotal, ({ totals }) => totals.subtotal],
    [search.taxTotal, ({ totals }) => totals.taxTotal],
    [texts.total, ({ totals }) => totals.total],
    [texts.rounding, (invoice) => invoice.roundingAmount],
    [texts.payable, (invoice) => invoice.amount],
    [search.currency, (invoice) => invoice.currency],
    [texts.dgiId, (invoice) => invoice.dgiId],
    [search.createdAt, (invoice) => plainMoment(new Date(invoice.createdAt))],
    ['id', (invoice) => invoice.id],
  ];
}

async function readPage(client: Client, variables: VariablesOf<typeof EXPORTED>, signal: AbortSignal) {
  for (let attempt = 1; !signal.aborted; ) {
    const { data, error } = await client.query(EXPORTED, variables).toPromise();
    if (signal.aborted) return null;
    if (data && !error) return data.invoices;
    const waitMs = error ? limitedFor(error) : null;
    if (waitMs !== null) {
      await pause(waitMs);
      continue;
    }
    if (error && (isRefusal(error) || attempt === ATTEMPTS)) throw error;
    await waitToRetry(attempt++);
  }
  return null;
}

/** Returns how long the rate limit requires to wait, milliseconds; null if it is not the reason. */
function limitedFor({ response }: CombinedError): number | null {
  if (response?.status !== 429) return null;
  return 1000 * Math.min(Math.max(Number(response.headers.get('Retry-After')) || 1, 1), 120);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
