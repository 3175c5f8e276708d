import { expect, it } from 'vitest';
import {
  type Condition,
  inOrder,
  ofCount,
  ofSubjects,
  READ_AT_MOST,
} from '../../../src/domain/conditions/condition.ts';
import { CONDITION_CODES, countText } from '../../../src/domain/conditions/condition-table.ts';
import {
  type InstallationFacts,
  installationConditions,
} from '../../../src/domain/conditions/installation-conditions.ts';

const NOW = new Date('2026-11-30T12:00:00Z');
const days = (number: number) => new Date(NOW.getTime() + number * 86_400_000);
const certificate = { signer: 'platform', subject: 'CN=F', issuer: 'CN=F', testOnly: false, findings: [] };
const CALM = {
  authority: { breaker: 'closed', since: null, pause: null },
  attention: [],
  endpoints: [],
  certificates: [{ ...certificate, validTo: days(31) }],
  workers: 1,
} as unknown as InstallationFacts;

const wrong = (changes: object) => installationConditions({ ...CALM, ...changes } as InstallationFacts, NOW);
const codes = (found: readonly Condition[]) => found.map(({ code }) => code);

it('nothing is wrong with an installation that works, nor with one that does not run', () => {
  expect(wrong({})).toEqual([]);
  expect(wrong({ workers: null })).toEqual([]);
});

it('each condition of an installation appears by what causes it', () => {
  expect(codes(wrong({ workers: 0 }))).toEqual(['workers_missing']);
  expect(wrong({ authority: { ...CALM.authority, pause: { by: 'a', reason: null, since: days(-1) } } })).toEqual([
    { code: 'authority_paused', count: 1, hasMore: false, since: days(-1), subjects: [] },
  ]);
  expect(wrong({ authority: { ...CALM.authority, breaker: 'open', since: days(-2) } })).toEqual([
    { code: 'authority_away', count: 1, hasMore: false, since: days(-2), subjects: [] },
  ]);
  const ends = wrong({ certificates: [{ ...certificate, validTo: days(29) }] });
  expect(ends).toMatchObject([{ code: 'certificate_ending', subjects: [{ id: 'platform' }], since: days(-1) }]);
  const endpoint = { id: 'we_1', url: 'https://dead.example.com/secret', failingSince: days(-3) };
  const failing = wrong({ endpoints: [endpoint] });
  expect(failing).toMatchObject([{ code: 'endpoints_failing', subjects: [{ id: 'we_1', name: 'dead.example.com' }] }]);
  expect(JSON.stringify(failing)).not.toContain('secret');
  const attention = [{ invoiceId: 'inv_1', reason: 'internal_error', since: days(-1) }];
  expect(wrong({ attention })).toMatchObject([{ code: 'invoices_stuck', subjects: [{ name: 'internal_error' }] }]);
});

it('they are in the order of the table, and are counted to a bound', () => {
  const many = Array.from({ length: READ_AT_MOST }, (_, n) => ({ id: `${n}`, name: null, since: days(-n) }));
  const [found] = ofSubjects('drafts_waiting', many);
  expect(found && countText(found)).toBe('100+');
  expect(found).toMatchObject({ count: 100, since: days(-99) });
  expect(found?.subjects).toHaveLength(5);
  expect(ofSubjects('drafts_waiting', many.slice(1)).map(countText)).toEqual(['100']);
  expect(ofCount('calls_failing', 101, null).map(countText)).toEqual(['100+']);
  expect(ofCount('calls_failing', 0, null)).toEqual([]);
  const all = CONDITION_CODES.toReversed().flatMap((code) => ofCount(code, 1, null));
  expect(codes(inOrder(all))).toEqual(CONDITION_CODES);
});
