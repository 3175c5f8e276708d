import type { RateTotal } from '../../domain/invoice/totals.ts';
import { builder } from '../builder.ts';
import './scalars.ts';

export const TaxTotalType = builder.objectRef<RateTotal>('TaxTotal').implement({
  description: 'What the lines of one VAT rate come to.',
  fields: (t) => ({
    rate: t.exposeInt('rate', { description: 'VAT in percent.' }),
    base: t.expose('base', { type: 'Centimes', description: 'Sum of the lines at this rate, excluding tax.' }),
    tax: t.expose('tax', { type: 'Centimes', description: 'VAT on `base`, computed once and rounded half up.' }),
  }),
});
