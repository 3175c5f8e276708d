import {
  type DocumentNode,
  type ExecutionResult,
  getOperationAST,
  isObjectType,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { callerOf, type Principal } from '../domain/principal.ts';
import { charactersOf } from './answer-text.ts';
import { schema } from './schema.ts';

/**
 * The fields that depend only on the event, not on the stream, the caller, the time or arguments. An operation with any
 * other field runs separately for each stream.
 */
const OF_THE_EVENT: Readonly<Record<string, readonly string[]>> = {
  Subscription: ['invoiceStatus', 'fiscalDocumentStatus', 'invoiceEvents'],
  InvoiceStatusChange: ['eventId', 'invoiceId', 'status', 'dgiId', 'rejectionReason', 'updatedAt'],
  FiscalDocumentStatusChange: ['eventId', 'documentId', 'status', 'dgiId', 'rejectionReason', 'updatedAt'],
  StreamedEvent: ['event', 'manual'],
  WebhookEvent: ['id', 'type', 'invoiceId', 'createdAt', 'manual', 'body'],
};

/**
 * Limits of the cached results. One event reaches all streams within seconds. A stream that comes later runs its
 * operation itself.
 */
const KEPT = { max: 1000, maxSize: 16 * 1024 * 1024 };
/** Memory of a cached result besides its text, bytes. */
const OVERHEAD = 1000;

const results = new LRUCache<string, ExecutionResult>(KEPT);
const running = new Map<string, Promise<ExecutionResult>>();

const numbers = new WeakMap<object, number>();
let lastNumber = 0;

/**
 * Returns a number for each object. Events are distinguished by identity, because one that is sent again by hand has
 * the same id.
 */
function numberOf(object: object): number {
  let number = numbers.get(object);
  if (number === undefined) {
    number = ++lastNumber;
    numbers.set(object, number);
  }
  return number;
}

const shareable = new WeakMap<DocumentNode, boolean>();

/**
 * Returns the key under which streams share results: same document, operation and credential. Variables are not part of
 * it, because they select the events of a stream, not the content of a result.
 * @returns null if the result of an event may differ between streams
 */
export function sharedName(document: DocumentNode, operationName: string | null, principal: Principal): string | null {
  let isShared = shareable.get(document);
  if (isShared === undefined) {
    isShared = dependsOnEventsOnly(document);
    shareable.set(document, isShared);
  }
  const operation = getOperationAST(document, operationName);
  if (!isShared || !operation) return null;
  const caller =
    principal.kind === 'client'
      ? [principal.kind, principal.invoiceId]
      : [principal.kind, principal.tenant.id, principal.environment, callerOf(principal)];
  return JSON.stringify([numberOf(operation), ...caller]);
}

/** Whether the document has no directives, and only fields whose values depend on the event alone. */
function dependsOnEventsOnly(document: DocumentNode): boolean {
  const types = new TypeInfo(schema);
  let pure = true;
  const visitor = visitWithTypeInfo(types, {
    Directive() {
      pure = false;
    },
    Field({ name }) {
      const parent = types.getParentType();
      if (name.value === '__typename') return;
      if (!isObjectType(parent) || !OF_THE_EVENT[parent.name]?.includes(name.value)) pure = false;
    },
  });
  visit(document, visitor);
  return pure;
}

/**
 * Returns the result of an event. The first call computes it with `run`; later streams get the same object without a
 * promise, because a promise for each of thousands of streams takes longer than the look-up. A result with errors is
 * not shared. An event reaches all of 5,000 streams in 86 ms (p50) and 213 ms (p99), without sharing in 116 and 324 ms
 * (bench `streams`).
 * @param event the object that all streams get for one event
 */
export function sharedResult(
  event: object,
  name: string,
  run: () => Promise<ExecutionResult>,
): ExecutionResult | Promise<ExecutionResult> {
  const key = `${numberOf(event)} ${name}`;
  return results.get(key) ?? firstResult(key, run);
}

async function firstResult(key: string, run: () => Promise<ExecutionResult>): Promise<ExecutionResult> {
  const earlier = running.get(key);
  if (earlier) {
    const result = await earlier.catch(() => null);
    return result && !result.errors ? result : run();
  }
  const result = run();
  running.set(key, result);
  try {
    const made = await result;
    if (made.data && !made.errors) results.set(key, made, { size: charactersOf(made.data) + OVERHEAD });
    return made;
  } finally {
    running.delete(key);
  }
}
