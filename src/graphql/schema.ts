import { lexicographicSortSchema, printSchema } from 'graphql';
import { metered } from './answer-meter.ts';
import { builder } from './builder.ts';
import './types/event-stream.ts';
import './types/invoice.ts';
import './types/document-status.ts';
import './types/condition.ts';
import './types/draft.ts';
import './types/import.ts';
import './types/document-verification.ts';
import './types/embed.ts';
import './types/invoice-warning.ts';
import './types/rule.ts';
import './types/webhook-delivery.ts';
import './types/webhook-event.ts';
import './types/webhook-resend.ts';
import './types/fiscal-document-list.ts';
import './types/fiscal-document-totals.ts';
import './types/invoice-by-number.ts';
import './types/invoice-search.ts';
import './types/period.ts';
import './types/period-numbers.ts';
import './types/invoice-events.ts';
import './types/webhook-endpoint.ts';
import './types/authority-problem.ts';
import './types/invoice-attention.ts';
import './types/invoice-documents.ts';
import './types/invoice-email.ts';
import './types/invoice-validation.ts';
import './types/authority-attempt.ts';
import './types/api-key.ts';
import './types/api-request.ts';
import './types/audit-entry.ts';
import './types/member.ts';
import './types/tenant.ts';
import './types/test-scenario.ts';
import './types/invoice-timeline.ts';
import './types/invoice-totals.ts';
import './types/invoice-withholding.ts';
import './types/invoice-stamp-duty.ts';
import './types/credit-note.ts';
import './types/credit-note-creation.ts';
import './types/customer-page.ts';
import './types/credit-preview.ts';
import './types/invoice-deposits.ts';
import './types/invoice-replacement.ts';
import './types/seller-profile.ts';

/** The service's GraphQL schema. */
export const schema = metered(builder.toSchema());

/** Returns the text of `schema.graphql`, sorted so that its diffs are readable. */
export function printedSchema(): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}
