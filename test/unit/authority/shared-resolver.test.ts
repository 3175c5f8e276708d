import type { LookupAddress } from 'node:dns';
import { expect, it } from 'vitest';
import { createSharedResolver, type Resolve } from '../../../src/adapters/authority/http/shared-resolver.ts';

const ADDRESSES: LookupAddress[] = [
  { address: '2001:db8::1', family: 6 },
  { address: '192.0.2.1', family: 4 },
];

function resolver() {
  const waiting: { host: string; done: Parameters<Resolve>[1] }[] = [];
  const lookup = createSharedResolver((host, done) => void waiting.push({ host, done }));
  const answers: unknown[][] = [];
  const ask = (host: string, all = true) => lookup(host, { all }, (...answer) => void answers.push(answer));
  return { waiting, answers, ask };
}

it('all who wait for a name get the one answer; the next query is a new one', () => {
  const { waiting, answers, ask } = resolver();
  ask('a.example');
  ask('a.example', false);
  ask('b.example');
  expect(waiting.map(({ host }) => host)).toEqual(['a.example', 'b.example']);
  waiting[0]?.done(null, ADDRESSES);
  expect(answers).toEqual([
    [null, ADDRESSES],
    [null, '2001:db8::1', 6],
  ]);
  ask('a.example');
  expect(waiting).toHaveLength(3);
});

it('a failure reaches everybody, and an answer without addresses is one', () => {
  const { waiting, answers, ask } = resolver();
  const failure = Object.assign(new Error('no'), { code: 'EAI_AGAIN' });
  ask('a.example');
  ask('a.example');
  waiting[0]?.done(failure, []);
  ask('a.example');
  waiting[1]?.done(null, []);
  expect(answers.map(([error]) => (error as NodeJS.ErrnoException).code)).toEqual([
    'EAI_AGAIN',
    'EAI_AGAIN',
    'ENOTFOUND',
  ]);
});
