import { ServiceError } from '../errors.ts';
import type { ImportInvoicing, IssuedAs } from '../imports/invoicing.ts';
import { problemsOf } from '../input-problems.ts';
import { CURRENCY } from '../money.ts';
import { moroccanDate } from '../morocco/time.ts';
import { type CreationNeeds, issueInvoice } from './create-invoice.ts';
import { createInvoiceInput } from './create-invoice-input.ts';
import { dueTotals } from './due-totals.ts';
import { partsReader } from './field-makers.ts';
import { INVOICE } from './fields.ts';
import { fingerprintOf } from './input-fingerprint.ts';
import type { CreatedInvoice, IdempotencyMark, InvoiceReading } from './repository.ts';
import { validateInvoice } from './validate-invoice.ts';

type Needs = CreationNeeds &
  Parameters<typeof validateInvoice.run>[0] & {
    readonly invoices: Pick<InvoiceReading, 'creationsOf' | 'findByNumber'>;
  };

const validPartsOf = partsReader(INVOICE);

/** Returns the functions that imports need: imported invoices are checked and issued like those of the API. */
export function createImportInvoicing(needs: Needs): ImportInvoicing {
  const { invoices, invoiceIds } = needs;
  return {
    completed(input) {
      const amount = input.amount === undefined ? totalOf(input) : null;
      return { currency: CURRENCY, ...input, ...(amount !== null && { amount }) };
    },
    digestOf({ lines, ...input }) {
      const digests = Array.isArray(lines) ? lines.map((line: object) => fingerprintOf(line)).toSorted() : null;
      return fingerprintOf({ ...input, lines: digests });
    },
    idOf: invoiceIds.ofImport,
    async issuedAs(ids) {
      const created = [...(await invoices.creationsOf(ids))];
      return new Map(
        created.flatMap(([id, creation]) => (creation.mark ? [[id, issuedAs(creation.mark, creation)]] : [])),
      );
    },
    async findByNumber({ tenantId, environment }, number) {
      return (await invoices.findByNumber(tenantId, environment, number))?.id ?? null;
    },
    check: (by, input) => validateInvoice.run(needs, { by }, input),
    async issue(by, as, input) {
      const { success, data, error } = createInvoiceInput.safeParse(input);
      if (!success) throw new ServiceError(problemsOf(error));
      const owner = { tenantId: by.tenant.id, environment: by.environment };
      const mark = markOf(as);
      const repeatable = { id: invoiceIds.ofImport(owner, as.key), mark };
      const made = await issueInvoice(needs, by, data, repeatable).catch((error: unknown) => {
        // It was issued with another content.
        if (error instanceof ServiceError && error.code === 'idempotency_conflict') return null;
        throw error;
      });
      if (made && !made.replayed) return { invoiceId: repeatable.id, isOwn: true, present: null };
      const creation = (await invoices.creationsOf([repeatable.id])).get(repeatable.id);
      const isOwn = creation?.mark?.key === mark.key;
      const present = creation?.mark ? issuedAs(creation.mark, creation) : null;
      return { invoiceId: repeatable.id, isOwn, present };
    },
    async statusesOf(ids) {
      return new Map([...(await invoices.creationsOf(ids))].map(([id, { status }]) => [id, status]));
    },
  };
}

/**
 * Makes the mark of an invoice that an import issues: which import it was, the digest of the rows, and the key of the
 * invoice.
 */
function markOf({ importId, raw, key, digest }: Parameters<ImportInvoicing['issue']>[1]): IdempotencyMark {
  return { key: `${importId} ${raw} ${key}`, fingerprint: digest };
}

function issuedAs(mark: IdempotencyMark, { number, createdAt, status, replacedBy }: CreatedInvoice): IssuedAs {
  return {
    digest: mark.fingerprint,
    raw: mark.key.split(' ')[1] ?? '',
    number,
    date: moroccanDate(createdAt),
    // A rejected invoice that was replaced counts as issued, because its sale has an invoice.
    isRejected: status === 'rejected' && replacedBy === null,
  };
}

/** Returns the total of the lines including tax; null if the lines alone do not determine it. */
function totalOf(input: Readonly<Record<string, unknown>>): number | null {
  const { lines, discount, charge } = validPartsOf(input);
  const isUnread = (input.discount != null && !discount) || (input.charge != null && !charge);
  if (lines === undefined || isUnread || input.deposits != null) return null;
  return dueTotals({ lines, discount, charge }, null).due?.gross ?? null;
}
