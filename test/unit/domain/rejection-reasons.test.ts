import { describe, expect, test } from 'vitest';
import { REJECTION_CODES } from '../../../src/domain/error-codes.ts';
import { boundedProblems, MOST_PROBLEMS } from '../../../src/domain/invoice/problems.ts';
import {
  abandonedByOperator,
  duplicateOf,
  invalidDocument,
  isAbandonment,
  refusedByAuthority,
  rejectedByAuthority,
  signingFailed,
  transmissionFailed,
} from '../../../src/domain/invoice/rejection-reasons.ts';
import { pendingInvoice } from '../../support/invoices.ts';

const invoice = pendingInvoice({});
const numbered = pendingInvoice({ ownNumber: 'F-1' });
const problem = (message: string) => ({ code: 'c', path: null, message });

const EVERY_WAY = {
  rejected: (of = invoice) => rejectedByAuthority(of, [problem('L’ICE est inconnu'), problem('La TVA est fausse.')]),
  refused: (of = invoice) => refusedByAuthority(of, 'too_large', 'Le document est trop grand'),
  duplicate: (of = invoice) => duplicateOf(of, 'inv_0'),
  abandoned: (of = invoice) => abandonedByOperator(of, 'Restauration du 3 novembre'),
  'not transmitted': (of = invoice) => transmissionFailed(of, 5),
  'not signed': (of = invoice) => signingFailed(of, 'key'),
  invalid: (of = invoice) => invalidDocument(of),
};

describe.each(Object.entries(EVERY_WAY))('a reason: %s', (_way, reasonOf) => {
  test('is one line of sentences that end with what to do', () => {
    const reason = reasonOf();
    expect(reason).not.toMatch(/\n|undefined|\.\.| {2}|\. ?\./);
    const sentences = reason.split(/(?<=[.!?]) /);
    expect(sentences.at(-1)).toMatch(/([Cc]réez|[Cc]ontactez|[Cc]herchez)[^.]*\.$/);
  });

  test('names a credit note as such, with the same advice', () => {
    const reason = reasonOf(pendingInvoice({ kind: 'credit_note' }));
    expect(reason).toMatch(/avoir/);
    expect(reason).not.toMatch(/facture(?!tion)|undefined| {2}/);
    expect(reason.split(/(?<=[.!?]) /)).toHaveLength(reasonOf().split(/(?<=[.!?]) /).length);
  });

  test('asks for a new number where the client numbers its invoices', () => {
    if (reasonOf === EVERY_WAY.invalid) return;
    expect(reasonOf()).toMatch(/nouvelle Idempotency-Key/);
    expect(reasonOf()).not.toMatch(/nouveau numéro/);
    expect(reasonOf(numbered)).toMatch(/nouvelle Idempotency-Key et un nouveau numéro/);
  });
});

test('the codes of the contract are the prefixes of the service’s own reasons', () => {
  const prefix = (reason: string) => /^(\w+): /.exec(reason)?.[1];
  expect([prefix(EVERY_WAY['not signed']()), prefix(EVERY_WAY['not transmitted']())]).toEqual(
    Object.keys(REJECTION_CODES),
  );
  for (const way of ['rejected', 'refused', 'duplicate', 'abandoned', 'invalid'] as const)
    expect(prefix(EVERY_WAY[way]())).toBeUndefined();
});

test('an invoice that an operator ended is known by its reason, which has the operator’s words', () => {
  for (const [way, reasonOf] of Object.entries(EVERY_WAY)) expect(isAbandonment(reasonOf())).toBe(way === 'abandoned');
  expect(isAbandonment(null)).toBe(false);
  expect(EVERY_WAY.abandoned()).toContain(
    `un autre document sous son identifiant (${invoice.id}) : Restauration du 3 novembre. `,
  );
});

test('each finding becomes a sentence, and an empty answer says so', () => {
  expect(EVERY_WAY.rejected()).toMatch(/^L’ICE est inconnu\. La TVA est fausse\. Après correction, /);
  expect(rejectedByAuthority(invoice, [])).toMatch(/^L’administration fiscale a rejeté la facture sans en donner/);
});

test('the cause of a failed signature is told by its kind', () => {
  expect(signingFailed(invoice, 'time_stamp')).toMatch(/horodatage/);
});

test('an authority that says too much is cut, and the advice remains', () => {
  const reason = rejectedByAuthority(
    invoice,
    Array.from({ length: 1000 }, () => problem('é'.repeat(100))),
  );
  expect(reason.length).toBeLessThan(2200);
  expect(reason).toMatch(/… Après correction, créez/);
  const bounded = boundedProblems(
    Array.from({ length: 1000 }, () => ({ code: 'c'.repeat(999), path: 'p'.repeat(9999), message: '😀'.repeat(999) })),
  );
  expect(bounded).toHaveLength(MOST_PROBLEMS);
  expect(bounded[0]?.code).toHaveLength(100);
  expect([bounded[0]?.path, bounded[0]?.message].map((text) => text?.length)).toEqual([500, 500]);
  expect(bounded[0]?.message.isWellFormed()).toBe(true);
});
