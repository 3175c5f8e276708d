import type { Client, CombinedError } from '@urql/core';
import type { VariablesOf } from 'gql.tada';
import { kindOfId } from '../../domain/invoice/kinds.ts';
import { BYTE_ORDER_MARK, type Cell, csvLine } from '../../text/csv.ts';
import { DEPOSIT_LABELS } from '../../text/deposit-labels.ts';
import { WITHHOLDING_LABELS } from '../../text/withholding-labels.ts';
import { isRefusal } from '../graphql/client.ts';
import { waitToRetry } from '../graphql/retry.ts';
import { pause } from '../interface/pause.ts';
import { DOCUMENT_TEXTS } from '../text/credit-notes.ts';
import { CUSTOMER_TEXTS } from '../text/customers.ts';
import type { Texts } from '../text/fr.ts';
import type { Language } from '../text/languages.ts';
import { signedAmount } from '../text/money.ts';
import { moroccanDate, plainMoment } from '../text/moroccan-time.ts';
import { EXPORTED, type ExportedDocument } from './documents.ts';
import { conditionsOf, type Filter } from './invoice-filter.ts';

/** Maximum number of attempts to read a page before the export fails. */
const ATTEMPTS = 6;
/** Pause between two pages, milliseconds. It leaves part of the rate limit to the pages that the person looks at. */
const PACE_MS = 250;

interface Export {
  readonly filter: Filter;
  readonly language: Language;
  readonly texts: Texts;
  /** Called after each page with the number of documents read so far. */
  readonly onProgress: (count: number) => void;
  readonly signal: AbortSignal;
}

/**
 * Reads all documents of a filter, newest first, page by page, into a CSV file. Documents created meanwhile are not
 * included. A page that fails is read again with growing pauses. The rate limit only slows the export down.
 * @returns null when `signal` has aborted
 * @throws when the service refuses it, or cannot be reached for long
 */
export async function exportInvoices(client: Client, options: Export): Promise<Blob | null> {
  const { filter, language, texts, onProgress, signal } = options;
  const columns = columnsOf(texts, language);
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
        page.nodes.map((document) =>
          csvLine(
            columns.map(([, cellOf]) => cellOf(document)),
            language,
          ),
        ),
      ),
    );
    count += page.nodes.length;
    onProgress(count);
    if (!page.pageInfo.hasNextPage) return new Blob(parts, { type: 'text/csv;charset=utf-8' });
    after = page.pageInfo.endCursor ?? null;
    await pause(PACE_MS, signal);
  }
}

type Column = readonly [name: string, cellOf: (document: ExportedDocument) => Cell];

/**
 * Returns the columns of the file. Its amounts add up: the total is the sum without tax plus the tax, and the payable
 * amount is the total plus the rounding. The VAT that the buyer withholds is a part of the payable amount. The amounts
 * of credit notes are negative, so that the columns can be summed.
 */
function columnsOf({ invoices, search, ...texts }: Texts, language: Language): readonly Column[] {
  const { number, date, status, customer } = invoices.columns;
  const { country, taxNumber } = CUSTOMER_TEXTS[language];
  const kindOf = ({ id }: ExportedDocument) => kindOfId(id) ?? 'invoice';
  const nameOf = (document: ExportedDocument) =>
    'isDeposit' in document && document.isDeposit
      ? DEPOSIT_LABELS[language].title
      : DOCUMENT_TEXTS[kindOf(document)][language].invoice;
  const signed = (amountOf: (document: ExportedDocument) => number) => (document: ExportedDocument) =>
    signedAmount(amountOf(document), kindOf(document));
  return [
    [number, (document) => document.number],
    [invoices.kind, (document) => nameOf(document)],
    [date, (document) => ({ day: moroccanDate(new Date(document.createdAt)) })],
    [status, (document) => DOCUMENT_TEXTS[kindOf(document)][language].stepNames[document.status]],
    [customer, (document) => document.customer.name],
    [texts.ice, (document) => document.customer.ice],
    [country, (document) => document.customer.country],
    [taxNumber, (document) => document.customer.taxNumber],
    [texts.subtotal, signed(({ totals }) => totals.subtotal)],
    [search.taxTotal, signed(({ totals }) => totals.taxTotal)],
    [texts.total, signed(({ totals }) => totals.total)],
    [texts.rounding, signed(({ amount, totals }) => amount - totals.total)],
    [texts.payable, signed(({ amount }) => amount)],
    [WITHHOLDING_LABELS[language].withheld, withheldOf],
    [search.currency, (document) => document.currency],
    [texts.dgiId, (document) => document.dgiId],
    [search.createdAt, (document) => plainMoment(new Date(document.createdAt))],
    ['id', (document) => document.id],
  ];
}

function withheldOf(document: ExportedDocument): number | null {
  return 'netToPay' in document ? document.amount - document.netToPay : null;
}

async function readPage(client: Client, variables: VariablesOf<typeof EXPORTED>, signal: AbortSignal) {
  for (let attempt = 1; !signal.aborted; ) {
    const { data, error } = await client.query(EXPORTED, variables).toPromise();
    if (signal.aborted) return null;
    if (data && !error) return data.fiscalDocuments;
    const waitMs = error ? limitedFor(error) : null;
    if (waitMs !== null) {
      await pause(waitMs, signal);
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
