import { buildSchema } from 'graphql';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { unreadableFields } from '../../../scripts/check/stored-fields.ts';
import type { Field, RecordType } from '../../../src/domain/invoice/field-table.ts';

const PUBLISHED = buildSchema(`
  type Query { invoice: Invoice }
  type Invoice { always: String! optional: String lines: [Line!]! }
  type Line { text: String! }
`);

const text = (input: z.ZodType, more: Partial<Field> = {}): Field =>
  ({ rest: null, description: '', type: 'text', input, ...more }) as Field;
const record = (name: string, fields: Readonly<Record<string, Field>>): RecordType => ({
  name,
  inputName: `${name}Input`,
  restName: name,
  restInputName: `${name}Input`,
  description: '',
  fields,
});
const LINE = record('Line', { text: text(z.string()), code: text(z.string()) });
const DELIVERY = record('Delivery', { city: text(z.string()) });

it('finds required fields that stored invoices may lack, at any depth', () => {
  const invoice = record('Invoice', {
    always: text(z.string()),
    optional: text(z.string()),
    added: text(z.string()),
    nullable: text(z.string(), { nullable: true }),
    withDefault: text(z.string().default('x')),
    mayBeAbsent: text(z.string().nullish()),
    // Made by processing.
    status: { rest: null, description: '', type: 'text' },
    // A stored invoice lacks it as a whole.
    delivery: { rest: null, description: '', record: DELIVERY, input: 'optional' },
    lines: { rest: null, description: '', list: LINE, most: 5, input: 'required' },
  });
  expect(unreadableFields(PUBLISHED, invoice).map((line) => line.split(' ')[0])).toEqual([
    'Invoice.optional',
    'Invoice.added',
    'Line.code',
  ]);
});
