import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { root } from './client-examples.ts';
import type { Fault } from './faulty-proxy.ts';

/** See clients/conformance/README.md. */
export interface Case {
  readonly name: string;
  readonly faults?: readonly Fault[];
  readonly calls: readonly Expected[];
  readonly requests?: number;
  /** Number of connections to the proxy and the untrusted server, including those that fail before a request. */
  readonly connections?: number;
  readonly keys?: readonly string[];
  /** The `Last-Event-ID` of each request; `"*"`: any. */
  readonly lastEventIds?: readonly (string | null)[];
  /** Minimum pause between two requests; null: any. */
  readonly pausesMs?: readonly (number | null)[];
  /** Requires random pauses: pauses of at least a second must differ by more than the duration of requests. */
  readonly pausesDiffer?: true;
}

interface Expected extends Call {
  readonly ok?: unknown;
  readonly error?: Readonly<Record<string, unknown>>;
  /** Minimum duration of the call. */
  readonly atLeastMs?: number;
  readonly atMostMs?: number;
}

export interface Call {
  readonly call: string;
  readonly args: readonly unknown[];
  readonly options?: object;
  /** A key, or `publishable`, in place of the tenant's secret key. */
  readonly key?: string;
}

export interface Result {
  readonly ok?: unknown;
  readonly error?: Readonly<Record<string, unknown>>;
}

export const CASES = JSON.parse(readFileSync(`${root}/clients/conformance/cases.json`, 'utf8')) as readonly Case[];

/** Statuses in the order in which an invoice gets them. */
const STATUSES = ['pending', 'signing', 'transmitted', 'accepted', 'rejected'];

/** Replaces `$proxy` and `$untrusted` by their host and port. */
export function placed<Value>(value: Value, hosts: Readonly<Record<string, string>>): Value {
  const text = JSON.stringify(value).replaceAll(/\$([a-z]+)/g, (whole, name: string) => hosts[name] ?? whole);
  return JSON.parse(text) as Value;
}

/** Replaces `$1.id` by a member of the second result. */
export function resolved<Value>(value: Value, results: readonly unknown[]): Value {
  const text = JSON.stringify(value).replaceAll(/"\$(\d+)((?:\.\w+)*)"/g, (_, nth: string, path: string) => {
    const found = path
      .split('.')
      .slice(1)
      .reduce((at: unknown, name) => (at as Record<string, unknown>)[name], results[Number(nth)]);
    return JSON.stringify(found);
  });
  return JSON.parse(text) as Value;
}

/**
 * Makes a matcher. Members that are not stated may have any value; `"*"` matches anything, `"~text"` a value that
 * contains the text.
 */
export function matching(expected: unknown, results: readonly unknown[]): unknown {
  if (expected === '*') return expect.anything();
  if (typeof expected === 'string' && expected.startsWith('~')) return expect.stringContaining(expected.slice(1));
  if (Array.isArray(expected)) return expected.map((each) => matching(each, results));
  if (typeof expected === 'object' && expected !== null) {
    const members = Object.entries(expected).map(([name, each]) => [name, matching(each, results)]);
    return expect.objectContaining(Object.fromEntries(members));
  }
  return resolved(expected, results);
}

/** Compares the result. For a followed invoice: its last status, and that each status came once and in order. */
export function matchingResult(expected: unknown, found: unknown, results: readonly unknown[]): unknown {
  const { last, length } = (expected ?? {}) as { readonly last?: unknown; readonly length?: number };
  if (last === undefined || !Array.isArray(found)) return matching(expected ?? {}, results);
  const statuses = found.map(({ status }) => status);
  expect(statuses).toEqual(STATUSES.filter((status) => statuses.includes(status)));
  if (length !== undefined) expect(found).toHaveLength(length);
  expect(found.at(-1)).toEqual(matching(last, results));
  return found;
}
