import { CURRENCY } from '../money.ts';
import { moroccanDate, moroccanYear } from '../morocco/time.ts';
import type { Logo } from '../tenant/logo.ts';
import { completedProfile, type SellerProfile } from '../tenant/tenant.ts';
import { COMPANY } from './customer-kind.ts';
import { NO_PARTICULARS } from './particulars.ts';
import type { PrintedInvoice } from './ports.ts';
import { NO_TERMS, termsOf } from './terms.ts';
import { linesWithAmounts, totalsOf } from './totals.ts';

const LINES = [
  { description: 'Conseil', quantity: 2, unitPrice: 150_000, taxRate: 20 },
  { description: 'Formation', quantity: 1, unitPrice: 80_000, taxRate: 10 },
  { description: 'Exportation', quantity: 1, unitPrice: 40_000, taxRate: 0 },
] as const;

/** Makes the page of a fictitious invoice, to show how a seller's profile looks on one. It is marked as a test. */
export function samplePage(
  tenantId: string,
  profile: Partial<SellerProfile>,
  logo: Logo | null,
  publicUrl: string,
  now: Date,
): PrintedInvoice {
  const totals = totalsOf({ lines: LINES });
  if (!totals) throw new Error('the totals of the sample are beyond the limit');
  const { seller, specimen } = completedProfile(profile);
  const number = `${moroccanYear(now)}-000001`;
  const id = 'inv_00000000-0000-4000-8000-000000000000';
  return {
    invoice: {
      ...NO_PARTICULARS,
      id,
      kind: 'invoice',
      credit: null,
      replaces: null,
      tenantId,
      number,
      seller,
      specimen,
      totals,
      environment: 'test',
      currency: CURRENCY,
      issueDate: moroccanDate(now),
      terms: termsOf({ ...NO_PARTICULARS, terms: NO_TERMS, seller: profile, createdAt: now, number }),
      customer: {
        ...COMPANY,
        ice: '001234567000062',
        name: 'SPECIMEN',
        email: null,
        address: 'Casablanca',
      },
      lines: linesWithAmounts({ lines: LINES }, totals),
      amount: totals.gross,
    },
    dgiId: 'DGI-SPECIMEN',
    acceptedAt: now,
    receipt: null,
    logo,
    verifyUrl: `${publicUrl}/verify/${id}`,
  };
}
