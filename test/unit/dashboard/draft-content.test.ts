import { expect, it } from 'vitest';
import { EMPTY_LINE } from '../../../src/dashboard/creation/typed-line.ts';
import { contentOf, typedOf } from '../../../src/dashboard/drafts/draft-content.ts';

const TYPED = { ice: '1', name: 'Atlas', email: '', lines: [EMPTY_LINE] };

it('keeps the own number of a draft where the form has no field for it', () => {
  expect(contentOf(TYPED, { number: 'F-1' }).number).toBe('F-1');
  expect('number' in contentOf(TYPED, {})).toBe(false);
});

it('takes the own number from its field, and leaves it out when that is empty', () => {
  expect(contentOf({ ...TYPED, number: ' F-2 ' }, { number: 'F-1' }).number).toBe('F-2');
  expect('number' in contentOf({ ...TYPED, number: ' ' }, { number: 'F-1' })).toBe(false);
});

it('shows the own number of a draft, whatever its content is', () => {
  expect(typedOf({ number: 'F-1' }, EMPTY_LINE).number).toBe('F-1');
  expect(typedOf({ number: 7 }, EMPTY_LINE).number).toBe('7');
  expect(typedOf({ number: ['F-1'] }, EMPTY_LINE).number).toBe('');
});

it('sends what a customer is, and nothing that its kind does not have', () => {
  const typed = { ...TYPED, country: 'FR', taxNumber: ' FR40303265045 ' };
  expect(contentOf(typed, {}).customer).toEqual({ ice: '1', name: 'Atlas' });
  expect(contentOf({ ...typed, kind: 'person' }, {}).customer).toEqual({ kind: 'person', name: 'Atlas' });
  const abroad = { kind: 'foreign', country: 'FR', taxNumber: 'FR40303265045', name: 'Atlas' };
  expect(contentOf({ ...typed, kind: 'foreign' }, {}).customer).toEqual(abroad);
  const before = { customer: { ...abroad, address: 'Lyon', ice: '2' } };
  expect(contentOf({ ...typed, kind: 'person' }, before).customer).toEqual({
    kind: 'person',
    name: 'Atlas',
  });
  expect(contentOf({ ...typed, address: ' Lyon ' }, before).customer).toMatchObject({ address: 'Lyon' });
  expect(typedOf(before, EMPTY_LINE).address).toBe('Lyon');
  expect(typedOf({ customer: abroad }, EMPTY_LINE)).toMatchObject({ kind: 'foreign', country: 'FR', ice: '' });
  expect(typedOf({ customer: { kind: 'alien' } }, EMPTY_LINE).kind).toBe('company');
});

it('keeps the terms that the form does not show, and the words of a payment while its means stays', () => {
  const terms = { operationDate: '2026-11-02', paymentMeans: 'transfer', paymentMode: 'Virement', bankAccount: '1' };
  const content = { lines: [], terms: { ...terms, paymentReference: 'R-1', dueDate: 'soon' } };
  const typed = typedOf(content, EMPTY_LINE);
  expect(typed.terms).toEqual({ operationDate: '2026-11-02', dueDate: 'soon', paymentMeans: 'transfer' });
  expect(contentOf(typed, content).terms).toEqual(content.terms);
  const dueDate = '2026-12-31';
  const changed = { operationDate: '', dueDate, paymentMeans: 'cash' } as const;
  expect(contentOf({ ...typed, terms: changed }, content).terms).toEqual({
    paymentReference: 'R-1',
    dueDate,
    paymentMeans: 'cash',
  });
  expect(contentOf({ ...typed, terms: { ...changed, paymentMeans: '' } }, {}).terms).toEqual({ dueDate });
  expect(contentOf(TYPED, {})).not.toHaveProperty('terms');
  for (const strange of ['soon', 7, [1], { paymentMeans: 'barter', dueDate: {} }])
    expect(typedOf({ terms: strange }, EMPTY_LINE).terms).toEqual({ operationDate: '', dueDate: '', paymentMeans: '' });
});

it('keeps the discount and the charge of the whole invoice, as they were typed if they cannot be read', () => {
  const adjustments = {
    discount: { percent: 2.5, reason: 'Fidélité', taxIncluded: true },
    charge: { amount: 5000, reason: 'Livraison' },
  };
  const content = { lines: [], ...adjustments };
  const typed = typedOf(content, EMPTY_LINE);
  expect(typed).toMatchObject({
    discount: { figure: '2,5 %', reason: 'Fidélité', taxIncluded: true },
    charge: { figure: '50,00', reason: 'Livraison', taxIncluded: false },
  });
  expect(contentOf(typed, content)).toMatchObject(adjustments);
  const none = { figure: ' ', reason: 'Fidélité', taxIncluded: true };
  expect(contentOf({ ...typed, discount: none }, content)).not.toHaveProperty('discount');
  for (const figure of ['moitié', '−5', '1.234', 'la moitié %']) {
    const unread = contentOf({ ...typed, discount: { ...none, figure } }, content);
    expect(unread.discount).toEqual({ amount: figure, reason: 'Fidélité', taxIncluded: true });
    expect(typedOf(unread, EMPTY_LINE).discount).toEqual({ ...none, figure });
  }
  for (const strange of ['5 %', 7, ['x'], null, { amount: ['x'], reason: {}, taxIncluded: 'yes' }])
    expect(typedOf({ charge: strange }, EMPTY_LINE).charge).toMatchObject({ reason: '', taxIncluded: false });
});

it('keeps order, contract, period, another currency and withheld VAT, as they were typed if they cannot be read', () => {
  const details = {
    references: { order: 'BC-4711', contract: 'C-2026/9' },
    servicePeriod: { from: '2026-10-01', to: '2026-10-31' },
    foreignValue: { currency: 'EUR', amount: 100_050, rate: 10.8345, rateDate: '2026-10-30' },
    withholding: { percent: 75, certificate: { number: 'ARF-7', date: '2026-10-05' } },
  };
  const typed = typedOf(details, EMPTY_LINE);
  expect(typed.details).toEqual({
    order: 'BC-4711',
    contract: 'C-2026/9',
    periodFrom: '2026-10-01',
    periodTo: '2026-10-31',
    foreignCurrency: 'EUR',
    foreignAmount: '1000,50',
    foreignRate: '10,8345',
    foreignDate: '2026-10-30',
    withheldPercent: '75',
    regularityNumber: 'ARF-7',
    regularityDate: '2026-10-05',
  });
  expect(contentOf(typed, details)).toMatchObject(details);
  const change = (changes: object) => ({ ...typed, details: { ...typed.details!, ...changes } });
  const none = Object.fromEntries(Object.keys(typed.details!).map((name) => [name, ' ']));
  for (const name of Object.keys(details)) expect(contentOf(change(none), details)).not.toHaveProperty(name);
  const begun = contentOf(change({ ...none, periodTo: '2026-10-31', foreignRate: '10,834' }), {});
  expect(begun).toMatchObject({
    servicePeriod: { from: '', to: '2026-10-31' },
    foreignValue: { currency: '', amount: ' ', rate: 10.834, rateDate: '' },
  });
  const unread = contentOf(change({ foreignAmount: 'mille', foreignRate: '1e1' }), {});
  expect(unread.foreignValue).toMatchObject({ amount: 'mille', rate: '1e1' });
  expect(typedOf(unread, EMPTY_LINE).details).toMatchObject({ foreignAmount: 'mille', foreignRate: '1e1' });
  expect(contentOf(change({ withheldPercent: '75 %', regularityNumber: '', regularityDate: ' ' }), {})).toMatchObject({
    withholding: { percent: 75 },
  });
  expect(contentOf(change({ withheldPercent: 'tout', regularityDate: '' }), {}).withholding).toEqual({
    percent: 'tout',
    certificate: { number: 'ARF-7', date: '' },
  });
  const other = (currency: string, foreignAmount: string) =>
    contentOf(change({ foreignCurrency: currency, foreignAmount }), {}).foreignValue;
  expect(other('JPY', '1 000')).toMatchObject({ amount: 1000 });
  expect(other('JPY', '1,5')).toMatchObject({ amount: '1,5' });
  expect(other('KWD', '1,250')).toMatchObject({ amount: 1250 });
  const strange = { references: 7, servicePeriod: ['x'], foreignValue: { currency: 'MAD', amount: -1, rate: {} } };
  expect(typedOf(strange, EMPTY_LINE).details).toMatchObject({ order: '', foreignCurrency: '', foreignAmount: '-1' });
});

it('keeps the deposits of a draft, and its amount until it is known what is left of them', () => {
  const line = { description: 'A', quantity: 1, unitPrice: 100_000, taxRate: 20 };
  const content = { lines: [line], deposits: ['inv_1', 'inv_2'], amount: 7 };
  const typed = typedOf(content, EMPTY_LINE);
  expect(contentOf(typed, content)).toMatchObject({ deposits: ['inv_1', 'inv_2'], amount: 7 });
  const left = new Map([['inv_1', [{ rate: 20 as const, base: 30_000, tax: 6000 }]]]);
  expect(contentOf(typed, content, left).amount).toBe(7);
  left.set('inv_2', [{ rate: 20, base: 10_000, tax: 2000 }]);
  expect(contentOf(typed, content, left)).toMatchObject({ deposits: ['inv_1', 'inv_2'], amount: 72_000 });
  const one = contentOf({ ...typed, deposits: ['inv_2'] }, content, left);
  expect(one).toMatchObject({ deposits: ['inv_2'], amount: 108_000 });
  // More than was sold, which the service refuses.
  left.set('inv_2', [{ rate: 20, base: 100_001, tax: 20_000 }]);
  expect(contentOf({ ...typed, deposits: ['inv_2'] }, content, left).amount).toBe(120_000);
  expect(contentOf({ ...typed, deposits: [] }, content, left)).not.toHaveProperty('deposits');
  const asked = contentOf({ ...typed, isDeposit: true }, content, left);
  expect(asked).toMatchObject({ isDeposit: true, amount: 120_000 });
  expect(asked).not.toHaveProperty('deposits');
  expect(typedOf({ deposits: 'inv_1', isDeposit: 'yes' }, EMPTY_LINE)).toMatchObject({
    deposits: [],
    isDeposit: false,
  });
  expect(typedOf({ deposits: ['inv_1', 7] }, EMPTY_LINE).deposits).toEqual(['inv_1']);
});

it('keeps the exemption of a line at 0 %, and sends none at another rate', () => {
  const exemption = { code: 'suspension', certificate: { number: 'A 7', date: '2026-02-03' } };
  const line = { description: 'A', quantity: 1, unitPrice: 100, taxRate: 0, exemption };
  const typed = typedOf({ lines: [line] }, EMPTY_LINE);
  const linesOf = (changes: object) =>
    contentOf({ ...typed, lines: [{ ...typed.lines[0]!, ...changes }] }, {}).lines as Record<string, unknown>[];
  expect(linesOf({})[0]).toEqual(line);
  expect(linesOf({ taxRate: '20' })[0]).not.toHaveProperty('exemption');
  expect(linesOf({ exemption: '' })[0]).not.toHaveProperty('exemption');
  expect(linesOf({ certificateNumber: '', certificateDate: ' ' })[0]?.exemption).toEqual({ code: 'suspension' });
  expect(linesOf({ certificateDate: '' })[0]?.exemption).toEqual({
    ...exemption,
    certificate: { number: 'A 7', date: '' },
  });
  expect(typedOf({ lines: [{ ...line, exemption: { code: 'other' } }] }, EMPTY_LINE).lines[0]?.exemption).toBe('');
});
