import { addressOf } from './address.ts';
import { Drafts } from './drafts.ts';
import type { ClientOptions } from './http.ts';
import { Invoices } from './invoices.ts';
import { RepeatingHttp } from './repeating-http.ts';
import { WebhookEndpoints } from './webhook-endpoints.ts';

/** A client of Fatoura. The key (`sk_test_…`, `sk_live_…`) decides tenant and environment. */
export class Fatoura {
  readonly invoices: Invoices;
  readonly drafts: Drafts;
  readonly webhookEndpoints: WebhookEndpoints;

  /** @throws TypeError if the key or the address is missing or cannot be valid */
  constructor(key: string | undefined, { baseUrl, ...options }: ClientOptions = {}) {
    // A key that was read from a file may end with a line break.
    const trimmed = key?.trim();
    if (!trimmed) throw new TypeError('The secret key is missing.');
    if (!/^[\x21-\x7e]+$/.test(trimmed)) throw new TypeError('The secret key has characters that no key has.');
    const http = new RepeatingHttp(trimmed, addressOf(baseUrl), options);
    this.invoices = new Invoices(http, options.silenceMs);
    this.drafts = new Drafts(http);
    this.webhookEndpoints = new WebhookEndpoints(http);
  }
}

export * from './amounts.ts';
export type { DraftContent } from './drafts.ts';
export * from './errors.ts';
export type { FollowOptions } from './follow.ts';
export type { Attempt, CallOptions, ClientOptions } from './http.ts';
export type * from './invoices.ts';
export type * from './models.ts';
export type { List, ListPage, Span } from './pages.ts';
export type * from './results.ts';
export * as webhooks from './webhooks.ts';
