import type { ConditionsNotifier } from '../domain/conditions/tell-owners.ts';
import { createTellOwners } from '../domain/conditions/tell-owners.ts';
import { findTenantConditions } from '../domain/conditions/tenant-conditions.ts';
import { MINUTE_MS } from '../domain/durations.ts';
import { every } from '../domain/kit/every.ts';
import { createConditionReading } from '../storage/condition-reading.ts';
import { createConditionTellings } from '../storage/condition-tellings.ts';
import { createWebhookEndpointRepository } from '../storage/webhook-endpoints.ts';
import type { Data } from './data.ts';
import { ownersOf } from './webhooks.ts';

/** Tells owners by mail what is wrong. @returns a function that stops it */
export function tellOwners(data: Data, notifier: ConditionsNotifier): () => Promise<void> {
  const { store, invoices, authorityState, requestLog, tenants, people, logFailure } = data;
  const now = () => new Date();
  const needs = {
    conditionReading: createConditionReading(store.db),
    endpoints: createWebhookEndpointRepository(store.db),
    certificates: data.signersCertificates,
    requestLog,
    invoices,
    authorityState,
    now,
  };
  const sweep = createTellOwners({
    tellings: createConditionTellings(store.db),
    conditions: (owner) => findTenantConditions(needs, owner, true),
    ownersOf: ownersOf(people),
    tenants,
    notifier,
    now,
    report: (message, err) => logFailure('error', message, err),
  });
  return every(
    MINUTE_MS,
    sweep,
    (err) => logFailure('warn', 'what is wrong with tenants could not be found out', err),
    { firstMs: MINUTE_MS },
  );
}
