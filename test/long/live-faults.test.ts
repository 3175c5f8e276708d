import { expect, test } from 'vitest';
import { PROFILES } from '../../scripts/authority-simulator/options.ts';
import { runLiveChaos } from '../support/live-chaos.ts';
import { brokenLivePromises } from '../support/live-chaos-verdict.ts';

/** Those that cost no waiting; live-transmission.test.ts has all of them, and kills. */
const KINDS = ['unavailable', 'bare-error', 'lost-reply', 'truncated-json', 'wrong-id', 'duplicate-own'] as const;
/** With it the authority rejects one of the invoices, and a credit note. */
const SEED = 58;

test.each(PROFILES)(
  'invoices and credit notes end in agreement with the ledger of a failing authority that decides by %s',
  async (profile) => {
    const outcome = await runLiveChaos({
      profile,
      signal: AbortSignal.timeout(110_000),
      seed: SEED,
      invoices: 20,
      clients: 4,
      faults: [{ kind: 'mixed', rate: 0.2, kinds: KINDS }],
      killEveryMs: 0,
      kills: 0,
      patienceMs: 60_000,
    });
    expect(brokenLivePromises(outcome)).toEqual([]);
    const ends = new Set(outcome.documents.map(({ kind, status }) => `${kind} ${status}`));
    expect(ends).toEqual(
      new Set(['invoice', 'credit_note'].flatMap((kind) => [`${kind} accepted`, `${kind} rejected`])),
    );
    expect(outcome.orders.credited.size).toBe(5);
    const accepted = outcome.documents.filter(({ status }) => status === 'accepted');
    expect(new Set(accepted.map(({ customer: { kind = 'company' } }) => kind))).toEqual(
      new Set(['company', 'person', 'foreign']),
    );
    expect(Math.max(...accepted.map(({ lines }) => lines.length))).toBe(1000);
  },
);
