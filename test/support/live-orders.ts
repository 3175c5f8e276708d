import { setTimeout as sleep } from 'node:timers/promises';
import { ORDINARY_ICE, REJECTING_ICE } from './chaos.ts';
import type { DoomedServer } from './chaos-server.ts';
import { invoiceFor } from './client.ts';
import { sale } from './every-sale.ts';

/** The requests that clients sent to a service. Every request has its own idempotency key. */
export interface Orders {
  /** The keys of all requests. */
  readonly asked: readonly string[];
  /** The ids in the answers, by key. */
  readonly created: ReadonlyMap<string, string>;
  /** The keys of credit notes that were refused because not enough was left. */
  readonly refused: readonly string[];
  /** The ids of invoices whose requested credit notes together exceed the invoice. */
  readonly credited: ReadonlySet<string>;
}

const ICES = [...Array(9).fill(ORDINARY_ICE), REJECTING_ICE] as string[];
const REQUEST_LIMIT_MS = 20_000;
/** One of this number of invoices is credited. */
const CREDITED_IN = 4;
/** For one of this number of invoices, an invoice of another system is credited, too. */
const EARLIER_IN = 10;
/** One of this number of invoices can be stated in GraphQL only. */
const EXACT_IN = 4;
/** The requests by which an invoice of 100.00 at 20 % is credited, sent at the same time. */
const CREDITS = [
  { reason: 'discount', amounts: [{ taxRate: 20, net: 5_001 }] },
  { reason: 'return', amounts: [{ taxRate: 20, net: 6_000 }] },
  { reason: 'cancellation' },
];
const CREATE = `mutation ($input: CreateInvoiceInput!, $key: String) {
  made: createInvoice(input: $input, idempotencyKey: $key) {
    ... on CreateInvoicePayload { invoice { id } } ... on Error { code status message } } }`;
const CREDIT = `mutation ($id: ID!, $input: CreditInvoiceInput!, $key: String) {
  made: creditInvoice(invoiceId: $id, input: $input, idempotencyKey: $key) {
    ... on CreditInvoicePayload { creditNote { id } } ... on Error { code status message } } }`;
const CREDIT_EARLIER = `mutation ($input: CreditEarlierInvoiceInput!, $key: String) {
  made: creditEarlierInvoice(input: $input, idempotencyKey: $key) {
    ... on CreditEarlierInvoicePayload { creditNote { id } } ... on Error { code status message } } }`;

class Refused extends Error {}

/**
 * Creates invoices, some for a customer whom the authority rejects and some that REST cannot state. Then creates credit
 * notes: of some of these invoices once they are accepted, and of invoices of another system. Failed requests are
 * repeated until they are answered.
 */
export async function orderAll(
  server: Pick<DoomedServer, 'url'>,
  key: string,
  { invoices, clients }: { readonly invoices: number; readonly clients: number },
  random: () => number,
): Promise<Orders> {
  const asked: string[] = [];
  const created = new Map<string, string>();
  const refused: string[] = [];
  const credited = new Set<string>();
  /** Each task returns whether it must be continued later. */
  const queue: (() => Promise<boolean>)[] = [];

  async function send(path: string, name: string, body: object): Promise<Response> {
    return fetch(`${await server.url()}${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', 'Idempotency-Key': name },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    });
  }

  async function invoice(name: string, ice: string, isCredited: boolean): Promise<boolean> {
    const response = await send('/v1/invoices', name, invoiceFor(ice));
    const { id } = (await response.json()) as { id: string };
    if (response.status !== 201) throw new Refused(`${name}: ${response.status}`);
    created.set(name, id);
    if (isCredited) queue.push(() => creditAtOnce(name, id));
    return false;
  }

  async function creditAtOnce(name: string, id: string): Promise<boolean> {
    const response = await fetch(`${await server.url()}/v1/invoices/${id}`, {
      headers: { Authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    });
    const { status } = (await response.json()) as { status: string };
    if (status === 'rejected') return false;
    if (status !== 'accepted') return true;
    credited.add(id);
    for (const [nth, input] of CREDITS.entries()) credit(`${name}-credit-${nth}`, CREDIT, { id, input });
    return false;
  }

  /** Requests a credit note. */
  function credit(name: string, query: string, variables: object): void {
    asked.push(name);
    queue.unshift(() => make(name, query, variables));
  }

  async function make(name: string, query: string, variables: object): Promise<boolean> {
    const response = await send('/graphql', name, { query, variables: { ...variables, key: name } });
    const { made } = ((await response.json()) as { data: { made: Made } }).data;
    if (made.status === 503) return true;
    const document = made.invoice ?? made.creditNote;
    if (document) created.set(name, document.id);
    else if (made.code === 'credit_exceeds_invoice') refused.push(name);
    else throw new Refused(`${name}: ${made.code} ${made.message}`);
    return false;
  }

  for (let nth = 0; nth < invoices; nth++) {
    const ice = ICES[Math.floor(random() * ICES.length)] ?? ORDINARY_ICE;
    const name = `order-${nth}`;
    asked.push(name);
    if (nth % EXACT_IN === 1) queue.push(() => make(name, CREATE, { input: sale((nth - 1) / EXACT_IN) }));
    else queue.push(() => invoice(name, ice, nth % CREDITED_IN === 0));
    if (nth % EARLIER_IN === 0) {
      const customer = { ice, name: 'Client' };
      const lines = [{ description: 'Livre', quantity: 1, unitPrice: 10_000, taxRate: 7 }];
      const input = { number: `FA/2025/${nth}`, issueDate: '2025-12-01', reason: 'return', customer, lines };
      credit(`earlier-${nth}`, CREDIT_EARLIER, { input });
    }
  }
  let busy = 0;
  async function work(): Promise<void> {
    // A running task may still add orders.
    while (queue.length > 0 || busy > 0) {
      const order = queue.shift();
      if (order === undefined) {
        await sleep(20);
        continue;
      }
      busy++;
      const again = await order()
        .catch((error: unknown) => {
          if (error instanceof Refused) throw error;
          return true;
        })
        .finally(() => {
          busy--;
        });
      if (!again) continue;
      queue.push(order);
      await sleep(20);
    }
  }
  await Promise.all(Array.from({ length: clients }, work));
  return { asked, created, refused, credited };
}

interface Made {
  readonly invoice?: { readonly id: string };
  readonly creditNote?: { readonly id: string };
  readonly code?: string;
  readonly status?: number;
  readonly message?: string;
}
