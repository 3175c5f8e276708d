import { type FollowOptions, follow } from './follow.ts';
import { run } from './graphql.ts';
import type { CallOptions, Http } from './http.ts';
import { type Keyed, keyed, keyedCorrection, type Ordered } from './keys.ts';
import type { CreatedInvoice, CreateInvoice, Invoice, InvoiceList, InvoiceStatus, StatusMessage } from './models.ts';
import { List, type Span } from './pages.ts';
import type { Credit, Replacement } from './results.ts';
import { SELECTIONS } from './selections.ts';

/** Members that an answer contains only if they are requested. */
export type Include = 'number' | 'totals' | 'terms' | 'warnings' | 'credits' | 'customer' | 'lines';

interface Including extends CallOptions {
  readonly include?: readonly Include[] | undefined;
}

export interface CreateOptions extends Including, Ordered {}

/** A created invoice, and whether an earlier request with the same key had created it. */
export type Creation = CreatedInvoice & { readonly replayed: boolean };

export interface ListOptions extends Span {
  readonly status?: InvoiceStatus | undefined;
  /** Maximum number of invoices of a page, 1 to 100. Default 100. */
  readonly limit?: number | undefined;
  readonly created_after?: string | undefined;
  readonly created_before?: string | undefined;
  readonly customer_ice?: string | undefined;
  readonly include?: readonly Include[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Why an accepted invoice is credited. */
export type CreditReason = 'error' | 'return' | 'cancellation' | 'discount' | 'other';

/** What to credit: quantities of lines, or amounts by rate of VAT in centimes; neither: all that is left. */
export interface CreditInput {
  readonly reason: CreditReason;
  readonly note?: string | undefined;
  /** Quantities with up to three decimal places. Lines are counted from 1. */
  readonly lines?: readonly { readonly line: number; readonly quantity: number }[] | undefined;
  readonly amounts?:
    | readonly { readonly taxRate: number; readonly net: number; readonly description?: string | undefined }[]
    | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** A credit note as it was created. */
export type CreditNote = Credit['creditNote'];

const CREDIT = `mutation ($id: ID!, $input: CreditInvoiceInput!, $key: String) {
  creditInvoice(invoiceId: $id, input: $input, idempotencyKey: $key) {
    ... on ${SELECTIONS.Credit}
    ... on Error { code message param status }
  }
}`;
const REPLACE = `mutation ($id: ID!, $input: CreateInvoiceInput!, $reason: CreditReason!, $note: String, $key: String) {
  replaceInvoice(invoiceId: $id, input: $input, reason: $reason, note: $note, idempotencyKey: $key) {
    ... on ${SELECTIONS.Replacement}
    ... on Error { code message param status }
  }
}`;

/** Invoices: creation, reading, following, correction. */
export class Invoices {
  readonly #http: Http;
  readonly #silenceMs: number | undefined;

  /** @param silenceMs time without a byte after which a stream is considered broken, instead of the default */
  constructor(http: Http, silenceMs?: number) {
    this.#http = http;
    this.#silenceMs = silenceMs;
  }

  /**
   * Creates an invoice. It is `pending` in the answer; `follow` waits for the authority. All attempts of a call have
   * the same key, so a lost answer never leads to a second invoice.
   * @throws TypeError for an order number or a key that is null or blank
   */
  async create(invoice: CreateInvoice, options: CreateOptions = {}): Promise<Creation> {
    const { include, signal, timeoutMs } = options;
    const call = {
      method: 'POST',
      path: '/v1/invoices',
      isRepeatable: true,
      body: invoice,
      signal,
      timeoutMs,
    } as const;
    const query = { include: include?.join(',') };
    const { value, headers } = await keyed(options, (key) =>
      this.#http.send({ ...call, query, headers: { 'Idempotency-Key': key } }),
    );
    return { ...(value as CreatedInvoice), replayed: headers.get('idempotent-replayed') === 'true' };
  }

  async get(id: string, { include, ...options }: Including = {}): Promise<Invoice> {
    const path = `/v1/invoices/${encodeURIComponent(id)}`;
    const query = { include: include?.join(',') };
    return (await this.#http.send({ ...options, method: 'GET', path, query, isRepeatable: true })).value as Invoice;
  }

  /** Lists invoices, newest first; with `ending_before` back to the newest. */
  list({ include, signal, limit = 100, starting_after, ending_before, ...filter }: ListOptions = {}): List<Invoice> {
    return new List({ starting_after, ending_before }, async (span) => {
      const query = { ...filter, limit, include: include?.join(','), ...span };
      const call = { method: 'GET', path: '/v1/invoices', query, isRepeatable: true, signal } as const;
      return (await this.#http.send(call)).value as InvoiceList;
    });
  }

  /** Finds the invoice with a legal number; null if there is none. */
  async findByNumber(number: string, { include, ...options }: Including = {}): Promise<Invoice | null> {
    const query = { number, include: include?.join(',') };
    const call = { ...options, method: 'GET', path: '/v1/invoices', query, isRepeatable: true } as const;
    const { data } = (await this.#http.send(call)).value as InvoiceList;
    return data[0] ?? null;
  }

  /** Yields the status of an invoice and each change, until it is accepted or rejected. */
  follow(id: string, options: FollowOptions = {}): AsyncGenerator<StatusMessage, void> {
    const read = async (signal: AbortSignal) => statusOf(await this.get(id, { signal }));
    return follow(this.#http, id, read, options, this.#silenceMs);
  }

  /**
   * Waits until an invoice is accepted or rejected, and reads it. This may take hours if the authority does not answer,
   * unless `timeoutMs` or `signal` ends it.
   * @throws ConnectionError after `timeoutMs`
   */
  async settled(
    id: string,
    { include, ...options }: FollowOptions & Pick<Including, 'include'> = {},
  ): Promise<Invoice> {
    for await (const _ of this.follow(id, options));
    return this.get(id, { include, signal: options.signal });
  }

  /** Credits an accepted invoice; the credit note passes through the same states as an invoice. */
  credit(id: string, input: CreditInput, options: CallOptions & Keyed = {}): Promise<Credit> {
    return keyedCorrection(options, (key) =>
      run(this.#http, 'creditInvoice', { query: CREDIT, variables: { id, input, key } }, repeatable(options)),
    );
  }

  /**
   * Replaces an invoice by a corrected one. If it is accepted, what is left of it is credited first.
   * @param input as for GraphQL's `createInvoice`, with its names: `unitPrice`, `taxRate`
   */
  replace(
    id: string,
    input: Readonly<Record<string, unknown>>,
    { reason, note, ...options }: CallOptions & Keyed & Pick<CreditInput, 'reason' | 'note'>,
  ): Promise<Replacement> {
    return keyedCorrection(options, (key) => {
      const variables = { id, input, reason, note, key };
      return run(this.#http, 'replaceInvoice', { query: REPLACE, variables }, repeatable(options));
    });
  }
}

function statusOf({ id, object, status, dgi_id, rejection_reason, updated_at }: Invoice): StatusMessage {
  return { id, object, status, dgi_id, rejection_reason, updated_at };
}

function repeatable({ signal, timeoutMs }: CallOptions) {
  return { signal, timeoutMs, isRepeatable: true };
}
