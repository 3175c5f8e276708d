import { ServiceError } from '../errors.ts';
import type { ImportInvoicing } from '../imports/invoicing.ts';
import { problemsOf } from '../input-problems.ts';
import { CURRENCY } from '../money.ts';
import { moroccanDate } from '../morocco/time.ts';
import { type CreationNeeds, issueInvoice } from './create-invoice.ts';
import { createInvoiceInput } from './create-invoice-input.ts';
import { dueTotals } from './due-totals.ts';
import { partsReader } from './field-makers.ts';
import { INVOICE } from './fields.ts';
import { fingerprintOf } from './input-fingerprint.ts';
import type { InvoiceReading } from './repository.ts';
import { validateInvoice } from './validate-invoice.ts';

type Needs = CreationNeeds &
  Parameters<typeof validateInvoice.run>[0] & {
    readonly invoices: Pick<InvoiceReading, 'creationsOf' | 'findByNumber'>;
  };

const validPartsOf = partsReader(INVOICE);

/** Returns what imports need of invoices: they are checked and issued as those of the API are. */
export function createImportInvoicing(needs: Needs): ImportInvoicing {
  const { invoices, invoiceIds } = needs;
  return {
    completed(input) {
      const amount = input.amount === undefined ? totalOf(input) : null;
      return { currency: CURRENCY, ...input, ...(amount !== null && { amount }) };
    },
    digestOf: fingerprintOf,
    idOf: invoiceIds.ofImport,
    async issuedAs(ids) {
      const created = [...(await invoices.creationsOf(ids))];
      return new Map(
        created.flatMap(([id, { mark, number, createdAt, status, replacedBy }]) => {
          if (!mark) return [];
          // The sale of one that was replaced has an invoice.
          const isRejected = status === 'rejected' && replacedBy === null;
          return [[id, { digest: mark.fingerprint, number, date: moroccanDate(createdAt), isRejected }]];
        }),
      );
    },
    async findByNumber({ tenantId, environment }, number) {
      return (await invoices.findByNumber(tenantId, environment, number))?.id ?? null;
    },
    check: (by, input) => validateInvoice.run(needs, { by }, input),
    async issue(by, { importId, key, digest }, input) {
      const { success, data, error } = createInvoiceInput.safeParse(input);
      if (!success) throw new ServiceError(problemsOf(error));
      const owner = { tenantId: by.tenant.id, environment: by.environment };
      const mark = { key: `${importId} ${key}`, fingerprint: digest };
      const repeatable = { id: invoiceIds.ofImport(owner, key), mark };
      const { invoice, replayed } = await issueInvoice(needs, by, data, repeatable);
      const present = replayed ? (await invoices.creationsOf([invoice.id])).get(invoice.id)?.mark : mark;
      return { invoiceId: invoice.id, isOwn: present?.key === mark.key };
    },
    async statusesOf(ids) {
      return new Map([...(await invoices.creationsOf(ids))].map(([id, { status }]) => [id, status]));
    },
  };
}

/** The total including tax of the lines; null if it cannot be read of them alone. */
function totalOf(input: Readonly<Record<string, unknown>>): number | null {
  const { lines, discount, charge } = validPartsOf(input);
  const isUnread = (input.discount != null && !discount) || (input.charge != null && !charge);
  if (lines === undefined || isUnread || input.deposits != null) return null;
  return dueTotals({ lines, discount, charge }, null).due?.gross ?? null;
}
