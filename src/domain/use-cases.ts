import { API_KEY_USE_CASES } from './api-key/own-keys.ts';
import { auditLog } from './audit/browse-audit.ts';
import { type Audit, type AuditFacts, entryBy } from './audit-entry.ts';
import { conditions } from './conditions/tenant-conditions.ts';
import { EMBED_USE_CASES } from './embedding/create-embed.ts';
import { IMPORT_USE_CASES } from './imports/own-imports.ts';
import { invoiceDays } from './invoice/count-invoices.ts';
import { createInvoice } from './invoice/create-invoice.ts';
import { creditEarlierInvoice } from './invoice/credit-earlier-invoice.ts';
import { creditInvoice } from './invoice/credit-invoice.ts';
import { customers } from './invoice/customer-search.ts';
import { DRAFT_USE_CASES } from './invoice/drafts/edit-drafts.ts';
import { fiscalDocumentByNumber, invoiceByNumber } from './invoice/find-by-number.ts';
import { fiscalDocuments, invoices } from './invoice/list-invoices.ts';
import { fiscalDocumentTotals } from './invoice/periods/filter-totals.ts';
import { NUMBER_USE_CASES } from './invoice/periods/read-numbers.ts';
import { daySums, period } from './invoice/periods/read-period.ts';
import { creditPreview } from './invoice/preview-credit.ts';
import { creditsOfInvoices } from './invoice/read-credits.ts';
import { deductionsOfInvoices } from './invoice/read-deductions.ts';
import { creditNotesById, invoicesById } from './invoice/read-invoices.ts';
import { replaceInvoice } from './invoice/replace-invoice.ts';
import { resendCreditNoteEmail, resendInvoiceEmail } from './invoice/resend-email.ts';
import { revokeCreditNoteDocumentUrls, revokeDocumentUrls } from './invoice/revoke-document-urls.ts';
import { testScenarios } from './invoice/test-scenarios.ts';
import { validateInvoice } from './invoice/validate-invoice.ts';
import { rules } from './morocco/list-rules.ts';
import { MEMBER_USE_CASES } from './person/manage-members.ts';
import { type Member, type Principal, requirePerson, requireScope } from './principal.ts';
import { REQUEST_USE_CASES } from './request-log/browse-requests.ts';
import { PROFILE_USE_CASES } from './tenant/own-profile.ts';
import type { CallableBy, NeedsOf, UseCase } from './use-case.ts';
import { verifyDocument } from './verification/verify-document.ts';
import { DELIVERY_USE_CASES } from './webhook/browse-deliveries.ts';
import { ENDPOINT_USE_CASES } from './webhook/manage-endpoints.ts';
import { RESEND_USE_CASES } from './webhook/resend-events.ts';
import { sendTestWebhookEvent } from './webhook/send-test-event.ts';
import { invoiceEvents } from './webhook/watch-events.ts';

/** The use cases, by the names of their GraphQL fields. */
export const USE_CASES = {
  auditLog,
  conditions,
  createInvoice,
  creditEarlierInvoice,
  creditInvoice,
  creditNotesById,
  creditPreview,
  creditsOfInvoices,
  customers,
  daySums,
  deductionsOfInvoices,
  fiscalDocumentByNumber,
  fiscalDocuments,
  fiscalDocumentTotals,
  invoiceByNumber,
  invoiceDays,
  invoiceEvents,
  invoices,
  invoicesById,
  period,
  replaceInvoice,
  resendCreditNoteEmail,
  resendInvoiceEmail,
  revokeCreditNoteDocumentUrls,
  revokeDocumentUrls,
  rules,
  sendTestWebhookEvent,
  testScenarios,
  validateInvoice,
  verifyDocument,
  ...NUMBER_USE_CASES,
  ...DRAFT_USE_CASES,
  ...IMPORT_USE_CASES,
  ...EMBED_USE_CASES,
  ...API_KEY_USE_CASES,
  ...MEMBER_USE_CASES,
  ...PROFILE_USE_CASES,
  ...ENDPOINT_USE_CASES,
  ...RESEND_USE_CASES,
  ...DELIVERY_USE_CASES,
  ...REQUEST_USE_CASES,
} as const satisfies Readonly<Record<string, UseCase>>;

type Rows = Readonly<Record<string, UseCase>>;

/** The use cases of a table as functions of the caller, who is checked first, and the input. */
export type Callable<Table extends Rows> = CallableBy<Principal, Table>;

/**
 * Makes the functions of a table. Each throws insufficient_scope and tenant_suspended to callers without its access,
 * before it does anything.
 * @param audit records the changes
 */
export function callable<const Table extends Rows>(table: Table, needs: NeedsOf<Table>, audit: Audit): Callable<Table> {
  const functions = Object.entries(table).map(([name, row]) => {
    const run = row.run as (needs: unknown, call: unknown, ...args: unknown[]) => unknown;
    const { audit: change } = row;
    return [
      name,
      (principal: Principal, ...args: unknown[]) => {
        const by = admitted(row, principal);
        const record = change && ((facts: AuditFacts) => audit(entryBy(by, change, facts)));
        return run(needs, { by, record }, ...args);
      },
    ];
  });
  return Object.fromEntries(functions) as Callable<Table>;
}

/** @throws {ServiceError} insufficient_scope, tenant_suspended */
function admitted(row: UseCase, principal: Principal): Member {
  if ('scope' in row) return requireScope(principal, row.scope);
  return requirePerson(principal, row.person, row.audit ? 'change' : 'read');
}
