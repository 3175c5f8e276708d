import type { CreateInvoiceInput } from '../../src/domain/invoice/create-invoice-input.ts';
import type { LegalInvoice } from '../../src/domain/invoice/ports.ts';

interface ParticularSpecimen extends Partial<Omit<LegalInvoice, 'lines'>> {
  readonly name: string;
  readonly lines?: CreateInvoiceInput['lines'];
}

const period = { from: '2026-10-01', to: '2026-10-31' };
const value = (currency: string, amount: number, rate: number) => ({ currency, amount, rate, rateDate: '2026-11-20' });
const withheld = (percent: number, number: string) => ({ percent, certificate: { number, date: '2026-08-31' } });
const exempt = (unitPrice: number) => [
  { description: 'Prestation de service', quantity: 1, unitPrice, taxRate: 0 as const },
];

/** Invoices with an order, a contract, a period or a value in another currency, for the corpus. */
export const PARTICULAR_SPECIMENS: readonly ParticularSpecimen[] = [
  { name: 'an order', references: { order: 'BC-4711', contract: null } },
  { name: 'a contract', references: { order: null, contract: 'Contrat n° 12 & avenant <2>' } },
  {
    name: 'an order, a contract and a period',
    references: { order: 'طلبية 17', contract: 'C/9' },
    servicePeriod: period,
  },
  { name: 'the longest period', servicePeriod: { from: '2016-11-21', to: '2031-11-21' } },
  { name: 'a period of a day', servicePeriod: { from: '2026-11-21', to: '2026-11-21' } },
  { name: 'a value in EUR', lines: exempt(1_083_450), foreignValue: value('EUR', 100_000, 10.8345) },
  { name: 'eleven cents', lines: exempt(100), foreignValue: value('USD', 11, 9.1) },
  { name: 'a value in JPY', lines: exempt(6_550_000), foreignValue: value('JPY', 1_000_000, 0.0655) },
  { name: 'a value in KWD', lines: exempt(36_883), foreignValue: value('KWD', 12_345, 29.87654321) },
  { name: 'a value in IDR', lines: exempt(55_113_300_000), foreignValue: value('IDR', 90_000_000_000_000, 0.00061237) },
  { name: 'all VAT withheld', withholding: { percent: 100, certificate: null } },
  { name: 'VAT withheld with a certificate', withholding: withheld(75, 'ARF n° 2026/117 & <suite>') },
  { name: 'a certificate of the day', withholding: { percent: 1, certificate: { number: 'ش 4', date: '2026-11-21' } } },
  { name: 'withheld of no VAT', lines: exempt(1_000_000), withholding: withheld(75, 'A') },
  // 0.5 centimes of 3.34 MAD, rounded up.
  {
    name: 'half a centime withheld',
    lines: [{ description: 'Divers', quantity: 1, unitPrice: 1670, taxRate: 20 }],
    withholding: withheld(25, 'A'),
  },
  {
    name: 'the largest VAT, withheld',
    lines: [{ description: 'Tout', quantity: 1, unitPrice: 7_505_999_378_950_000, taxRate: 20 }],
    withholding: withheld(99, 'A'),
  },
  {
    name: 'all particulars of a test invoice',
    lines: exempt(1_083_450),
    environment: 'test',
    servicePeriod: period,
    references: { order: 'BC-4711', contract: 'C-9' },
    foreignValue: value('EUR', 100_000, 10.8345),
    withholding: withheld(75, 'A'),
  },
];
