import { expect, it } from 'vitest';
import { creditOf, type TypedCredit } from '../../../src/dashboard/crediting/typed-credit.ts';

const TYPED: TypedCredit = {
  way: 'rest',
  quantities: new Map([
    [3, '2'],
    [1, ' 1 000 '],
    [2, ' '],
  ]),
  nets: new Map([
    [20, '10,04'],
    [10, 'ten'],
  ]),
  reason: 'return',
  note: ' Retour ',
};

it('asks for all that is left, whatever is typed in the fields of other ways', () => {
  expect(creditOf(TYPED).input).toEqual({ reason: 'return', note: 'Retour' });
  expect(creditOf({ ...TYPED, note: ' ', reason: '' }).input).toEqual({ reason: 'other' });
});

it('asks for the filled-in lines, and knows the field of each', () => {
  const { input, fields } = creditOf({ ...TYPED, way: 'lines' });
  expect(input.lines).toEqual([
    { line: 1, quantity: 1000 },
    { line: 3, quantity: 2 },
  ]);
  expect(input.amounts).toBe(undefined);
  expect([fields.get('lines.1.quantity'), fields.get('note')]).toEqual(['line-3', 'note']);
});

it('sends a figure that cannot be read so that the service refuses it at its field', () => {
  const { input, fields } = creditOf({ ...TYPED, way: 'amounts' });
  expect(input.amounts).toEqual([
    { taxRate: 10, net: -1 },
    { taxRate: 20, net: 1004 },
  ]);
  expect(fields.get('amounts.0.net')).toBe('rate-10');
  expect(creditOf({ ...TYPED, way: 'lines', quantities: new Map([[1, 'un']]) }).input.lines).toEqual([
    { line: 1, quantity: -1 },
  ]);
  expect(creditOf({ ...TYPED, way: 'lines', quantities: new Map([[1, '1,5']]) }).input.lines).toEqual([
    { line: 1, quantity: 1.5 },
  ]);
});
