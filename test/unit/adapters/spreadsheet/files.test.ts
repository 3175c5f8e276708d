import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PRIVATE_CUSTOMERS } from '../../../../src/domain/imports/reading.ts';
import { readSpreadsheet, summary } from '../../../support/read-spreadsheet.ts';

const FOLDER = join(import.meta.dirname, '../../../fixtures/spreadsheets');

/** What is expected of each file: blocks that begin with its name. */
const EXPECTED = new Map(
  readFileSync(join(FOLDER, 'expected.txt'), 'utf8')
    .split(/^== /m)
    .slice(1)
    .map((block) => {
      const end = block.indexOf('\n');
      return [block.slice(0, end), block.slice(end + 1).trimEnd()] as const;
    }),
);
const FILES = readdirSync(FOLDER).filter((name) => /\.(csv|xlsx)$/.test(name));

describe('files of spreadsheets', () => {
  it('are all in the table, at least forty', () => {
    expect([...EXPECTED.keys()].toSorted()).toEqual(FILES.toSorted());
    expect(FILES.length).toBeGreaterThanOrEqual(40);
  });

  it.each(FILES)('%s is read as expected', async (name) => {
    expect(summary(await readSpreadsheet(join(FOLDER, name)))).toBe(EXPECTED.get(name));
  });

  it('gets invoices once its columns are known', async () => {
    const mapping = {
      cpt: 'document',
      qui: 'customer.name',
      quoi: 'line.description',
      cb: 'line.quantity',
      'combien chacun': 'line.unitPrice',
    };
    const { reading, invoices } = await readSpreadsheet(join(FOLDER, 'headers-of-nobody.csv'), { mapping });
    expect(reading.missing).toEqual([]);
    expect(invoices.map(({ input }) => input)).toEqual([
      {
        customer: { name: 'Atlas Distribution SARL' },
        lines: [
          { description: 'Conseil', quantity: 2, unitPrice: 10_050 },
          { description: 'Formation', quantity: 1, unitPrice: 8000 },
        ],
      },
    ]);
  });

  it('reads a column of amounts as rates only for those who say so', async () => {
    const file = join(FOLDER, 'amounts-of-vat.csv');
    const chosen = await readSpreadsheet(file, { mapping: { tva: 'line.taxRate' } });
    expect(chosen.invoices.map(({ problems }) => problems.map(({ code }) => code))).toEqual([
      [],
      ['unknown_rate'],
      ['unknown_rate'],
    ]);
    const left = await readSpreadsheet(file, { mapping: { tva: null } });
    expect(left.invoices.every(({ problems }) => problems.length === 0)).toBe(true);
  });

  it('takes the rows of an order of Shopify for one invoice with its total, once its price is known', async () => {
    const mapping = { 'lineitem price': 'line.unitPriceWithTax' };
    const { reading, invoices } = await readSpreadsheet(join(FOLDER, 'shopify.csv'), { mapping });
    expect(reading.missing).toEqual([]);
    expect(invoices).toMatchObject([
      {
        label: '#1001',
        lastRow: 3,
        problems: [],
        input: { amount: 24_000, lines: [{ description: 'Théière', taxIncluded: true }, { description: 'Plateau' }] },
      },
    ]);
  });

  it('takes delivery and discount of an order of Shopify as its prices are', async () => {
    const readAs = (field: string) =>
      readSpreadsheet(join(FOLDER, 'shopify-delivery.csv'), { mapping: { 'lineitem price': field } });
    const { reading, invoices } = await readAs('line.unitPriceWithTax');
    expect(reading.missing).toEqual([]);
    expect(invoices.map(({ problems }) => problems)).toEqual([[], []]);
    expect(invoices.map(({ input }) => input)).toMatchObject([
      {
        customer: { name: 'Amina Alaoui' },
        discount: { amount: 2400, taxIncluded: true },
        charge: { amount: 3600, taxIncluded: true },
        amount: 25_200,
      },
      { customer: { name: 'Atlas Distribution SARL' }, amount: 12_000 },
    ]);
    expect(invoices[1]?.input).not.toHaveProperty('charge');
    const without = (await readAs('line.unitPrice')).invoices[0]?.input;
    expect(without).toMatchObject({ discount: { amount: 2400 }, charge: { amount: 3600 } });
    expect(JSON.stringify(without)).not.toContain('taxIncluded');
  });

  it('asks whether a delivery has tax', async () => {
    const file = join(FOLDER, 'delivery-unclear.csv');
    const { reading } = await readSpreadsheet(file);
    expect(reading.columns.at(-1)?.mayBe).toEqual(['charge.amountAsPriced', 'charge.amount']);
    const chargeOf = async (field: string | null) =>
      (await readSpreadsheet(file, { mapping: { 'frais port': field } })).invoices[0]?.input.charge;
    expect(await chargeOf('charge.amountAsPriced')).toEqual({ amount: 3600, taxIncluded: true });
    expect(await chargeOf('charge.amount')).toEqual({ amount: 3600 });
    expect(await chargeOf(null)).toBeUndefined();
  });

  it('joins the names of a person in an export of WooCommerce', async () => {
    const mapping = { 'item cost': 'line.unitPrice', [PRIVATE_CUSTOMERS]: 'customer.kind' };
    const { reading, invoices } = await readSpreadsheet(join(FOLDER, 'woocommerce.csv'), { mapping });
    expect(reading.missing).toEqual([]);
    expect(invoices).toMatchObject([
      { problems: [], input: { customer: { name: 'Sara Alami', email: 'sara@example.com', kind: 'person' } } },
    ]);
  });

  it('takes a company for one, although customers without an ICE are private persons', async () => {
    const mapping = { [PRIVATE_CUSTOMERS]: 'customer.kind', ice: null };
    const { invoices } = await readSpreadsheet(join(FOLDER, 'names-in-parts.csv'), { mapping });
    expect(invoices.map(({ input }) => input.customer)).toEqual([
      { name: 'Sara Alami', kind: 'person' },
      { name: 'Atlas Distribution SARL' },
      { name: 'Café du Rif', kind: 'person' },
      { kind: 'person' },
    ]);
  });

  it('takes customers of whom it knows nothing for private persons, if somebody says so', async () => {
    const mapping = { [PRIVATE_CUSTOMERS]: 'customer.kind' };
    const { reading, invoices } = await readSpreadsheet(join(FOLDER, 'private-customers.csv'), { mapping });
    expect(reading.privateCustomers).toBe(true);
    expect(invoices.map(({ input }) => (input as { customer: object }).customer)).toEqual([
      { name: 'Amina Alaoui', kind: 'person' },
      { name: 'Atlas Distribution SARL', ice: '001234567000062' },
      { name: 'Müller', country: 'DE', kind: 'foreign' },
      { name: 'Omar Idrissi', kind: 'person' },
    ]);
    // An ICE that cannot be read is one.
    const shortened = await readSpreadsheet(join(FOLDER, 'ice.csv'), { mapping });
    expect(shortened.invoices.filter(({ input }) => JSON.stringify(input).includes('person'))).toEqual([]);
  });

  it('takes a bare number that may count rows for what somebody says', async () => {
    const file = join(FOLDER, 'numbers-that-count.csv');
    const numbersOf = async (field: string | null) =>
      (await readSpreadsheet(file, { mapping: { numero: field } })).invoices.map(({ input }) => input.number ?? null);
    expect(await numbersOf('number')).toEqual(['1', '2']);
    expect(await numbersOf('document')).toEqual([null, null]);
    expect(await numbersOf(null)).toEqual([null, null]);
  });

  it('says where each value came from', async () => {
    const { invoices } = await readSpreadsheet(join(FOLDER, 'excel.xlsx'));
    expect(invoices[0]?.origins['lines.1.taxRate']).toEqual({
      sheet: 'Factures',
      row: 3,
      column: 6,
      header: 'TVA',
      value: '20%',
    });
  });

  it('digests the rows as they are shown, whatever is known of their columns', async () => {
    const file = join(FOLDER, 'amounts-of-vat.csv');
    const one = await readSpreadsheet(file, { mapping: { tva: null } });
    const other = await readSpreadsheet(file, { mapping: { tva: null, ttc: 'amount' } });
    expect(other.invoices.map(({ input }) => input)).not.toEqual(one.invoices.map(({ input }) => input));
    expect(other.invoices.map(({ raw }) => raw)).toEqual(one.invoices.map(({ raw }) => raw));
    expect(new Set(one.invoices.map(({ raw }) => raw)).size).toBe(3);
    const returned = await readSpreadsheet(join(FOLDER, 'returned.csv'));
    expect(returned.invoices[0]?.resultNumber).toBe('F1');
  });
});
