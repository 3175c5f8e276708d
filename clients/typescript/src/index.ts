import { Drafts } from './drafts.ts';
import { type ClientOptions, Http } from './http.ts';
import { Invoices } from './invoices.ts';
import { WebhookEndpoints } from './webhook-endpoints.ts';

/** A client of Fatoura. The key (`sk_test_…`, `sk_live_…`) decides tenant and environment. */
export class Fatoura {
  readonly invoices: Invoices;
  readonly drafts: Drafts;
  readonly webhookEndpoints: WebhookEndpoints;

  /** @throws TypeError without a key or an address */
  constructor(key: string | undefined, options: ClientOptions = {}) {
    if (!key) throw new TypeError('The secret key is missing.');
    const http = new Http(key, options);
    this.invoices = new Invoices(http);
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
