import { describe, expect, it } from 'vitest';
import { textCell } from '../../../../src/domain/imports/cell.ts';
import { choiceKey } from '../../../../src/domain/imports/choices.ts';
import { readCancelled, readState } from '../../../../src/domain/imports/read-state.ts';
import { SOURCE_STATES } from '../../../../src/domain/imports/source-states.ts';

const read = (text: string) => readState(textCell(text) ?? { kind: 'text', text });

describe('states of documents in other programs', () => {
  it('have each word once', () => {
    const seen = new Map<string, string[]>();
    for (const [state, words] of Object.entries(SOURCE_STATES))
      for (const word of words) seen.set(choiceKey(word), [...(seen.get(choiceKey(word)) ?? []), state]);
    expect([...seen].filter(([, states]) => new Set(states).size > 1)).toEqual([]);
  });

  it('are read without case, accents and punctuation', () => {
    expect(read('COMPTABILISE')).toEqual({ value: undefined });
    expect(read(' partially_refunded ')).toEqual({ fault: 'cancelled' });
    expect(read('En attente de réapprovisionnement (payé)')).toEqual({ fault: 'not_final' });
    expect(read('مُلغاة')).toEqual({ fault: 'cancelled' });
    expect(read('Facture d’acompte')).toEqual({ value: 'deposit' });
  });

  it('that are not known are no invoice', () => {
    expect(read('Contentieux')).toEqual({ fault: 'unknown_state' });
    expect(read('1')).toEqual({ fault: 'unknown_state' });
  });

  it('of a column of cancellations are cancelled by anything but a no', () => {
    const cancelled = (text: string) => readCancelled({ kind: 'text', text });
    for (const text of ['non', 'No', '0', 'FALSE', '-', 'لا', '0,00'])
      expect(cancelled(text)).toEqual({ value: undefined });
    for (const text of ['2026-03-05', 'oui', 'x', '120.00']) expect(cancelled(text)).toEqual({ fault: 'cancelled' });
  });
});
