import { FINAL_STATUSES, INVOICE_STATUSES } from '../../domain/invoice/lifecycle.ts';
import type { PeriodReport } from './documents.ts';

type Period = PeriodReport['period'];
type Sums = Period['invoices']['accepted'];
type Amounts = Pick<Sums, 'count' | 'net' | 'tax' | 'total'>;
type ByStatus = Readonly<Record<keyof Period['invoices'], Amounts>>;

/** Sums of documents, in centimes. */
export interface Figures {
  readonly count: number;
  readonly net: bigint;
  readonly tax: bigint;
  readonly total: bigint;
}

/** The invoiced and the credited amounts at one rate of VAT, in centimes. */
export interface RateFigures {
  readonly rate: number;
  readonly net: bigint;
  readonly tax: bigint;
}

const OPEN = INVOICE_STATUSES.filter((status) => !FINAL_STATUSES.includes(status));

/** Returns the figures that a page shows of a period. Credit notes are positive, and are subtracted for the balance. */
export function figuresOf({ invoices, creditNotes }: Period) {
  return { ...amountsOf({ invoices, creditNotes }), rates: ratesOf(invoices.accepted, creditNotes.accepted) };
}

/** Returns the same figures without the rates of VAT. */
export function amountsOf({ invoices, creditNotes }: { readonly invoices: ByStatus; readonly creditNotes: ByStatus }) {
  const [invoiced, credited] = [figures(invoices.accepted), figures(creditNotes.accepted)];
  return {
    invoiced,
    credited,
    balance: minus(invoiced, credited),
    open: OPEN.map((status) => minus(figures(invoices[status]), figures(creditNotes[status]))).reduce((sum, each) =>
      plus(sum, each),
    ),
    openCount: OPEN.reduce((sum, status) => sum + invoices[status].count + creditNotes[status].count, 0),
    rejectedInvoices: figures(invoices.rejected),
    rejectedCreditNotes: figures(creditNotes.rejected),
  };
}

/** Returns the rates that occur, highest first, less the credit notes. Both sums have every rate, in this order. */
function ratesOf(invoiced: Sums, credited: Sums): RateFigures[] {
  return invoiced.rates.flatMap(({ rate, net, tax }, index) => {
    const less = credited.rates[index] ?? { net: '0', tax: '0' };
    if ([net, tax, less.net, less.tax].every((sum) => sum === '0')) return [];
    return { rate, net: BigInt(net) - BigInt(less.net), tax: BigInt(tax) - BigInt(less.tax) };
  });
}

function figures({ count, net, tax, total }: Amounts): Figures {
  return { count, net: BigInt(net), tax: BigInt(tax), total: BigInt(total) };
}

function plus(a: Figures, b: Figures, sign: 1 | -1 = 1): Figures {
  const times = BigInt(sign);
  return {
    count: a.count + sign * b.count,
    net: a.net + times * b.net,
    tax: a.tax + times * b.tax,
    total: a.total + times * b.total,
  };
}

function minus(a: Figures, b: Figures): Figures {
  return plus(a, b, -1);
}
