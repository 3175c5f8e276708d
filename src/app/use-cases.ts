import type { Logger } from 'pino';
import { serviceError } from '../domain/errors.ts';
import type { DocumentDemand } from '../domain/invoice/document-demand.ts';
import type { Mailer } from '../domain/invoice/email.ts';
import { createFindPresentInvoice } from '../domain/invoice/find-present.ts';
import type { PdfRenderer } from '../domain/invoice/ports.ts';
import { createAcceptedCredits } from '../domain/invoice/read-credits.ts';
import { createReadInvoice } from '../domain/invoice/read-invoice.ts';
import { samplePage } from '../domain/invoice/sample-page.ts';
import { createWatchInvoice } from '../domain/invoice/watch-invoice.ts';
import { createFairQueue } from '../domain/kit/fair-queue.ts';
import type { AccountMailer, AttemptLimiter } from '../domain/person/ports.ts';
import { PREVIEWS } from '../domain/preview.ts';
import type { ReadLogo } from '../domain/tenant/read-logo.ts';
import type { Tracing } from '../domain/tracing.ts';
import { type Callable, callable, USE_CASES } from '../domain/use-cases.ts';
import { VERIFICATIONS } from '../domain/verification/verify-document.ts';
import type { DocumentUrl } from '../domain/webhook/webhook-event.ts';
import type { UseCases } from '../graphql/context.ts';
import type { Jobs } from '../jobs/agenda.ts';
import { createConditionReading } from '../storage/condition-reading.ts';
import { createDraftStore } from '../storage/drafts.ts';
import type { Data } from './data.ts';
import type { Documents } from './documents.ts';
import type { Imports } from './imports.ts';
import { createMissingForIssue, type LiveMeans } from './live-needs.ts';
import type { Webhooks } from './webhooks.ts';

export interface UseCaseParts {
  readonly data: Data;
  readonly jobs: Pick<Jobs, 'queue'>;
  readonly documents: Documents;
  readonly mailer: Mailer;
  readonly demand: DocumentDemand;
  readonly webhooks: Pick<Webhooks, 'endpointStatistics' | 'needs'>;
  readonly documentUrl: DocumentUrl;
  readonly imports: Imports;
  readonly accountMailer: AccountMailer;
  readonly publicUrl: string;
  readonly tracing: Tracing;
  readonly means: LiveMeans;
  /** Returns the reader of a tenant's logos. */
  readonly readLogo: (tenantId: string) => ReadLogo;
}

/** Builds the use cases of the API: gives the use cases of `USE_CASES` the ports that they need, by name. */
export function composeUseCases(
  log: Logger,
  {
    data,
    jobs: { queue },
    documents,
    mailer,
    demand,
    webhooks,
    documentUrl,
    imports,
    accountMailer,
    publicUrl,
    tracing,
    means,
    readLogo,
  }: UseCaseParts,
  attempts: AttemptLimiter,
): UseCases {
  const { invoices, tenants, clientSecrets } = data;
  const { writer, invoiceWarnings, clientsVerifier } = documents;
  const readInvoice = createReadInvoice(invoices, createFindPresentInvoice(invoices, tenants), clientSecrets);
  const draw: PdfRenderer['draw'] = (page) =>
    documents.renderer.draw(page).catch((err: unknown) => {
      data.logFailure('warn', 'a preview could not be drawn', err);
      throw serviceError('internal_error', 'No preview can be drawn at the moment.', null, 503);
    });
  const fromTable: Callable<typeof USE_CASES> = callable(
    USE_CASES,
    {
      ...data,
      ...webhooks.needs,
      ...imports.needs,
      conditionReading: createConditionReading(data.store.db),
      drafts: createDraftStore(data.store.db),
      invoices,
      queue,
      mailer,
      demand,
      documentUrl,
      publicUrl,
      attempts,
      readLogo,
      readInvoice,
      writer,
      invoiceWarnings,
      clientsVerifier,
      tracing,
      logWarnings: (entry) => log.info(entry, 'an invoice was created with warnings'),
      missingForIssue: createMissingForIssue(means),
      findEndpoint: (principal, id) => fromTable.webhookEndpoint(principal, id, 'endpointId'),
      certificates: data.signersCertificates,
      previews: createFairQueue(PREVIEWS),
      verifications: createFairQueue(VERIFICATIONS),
      now: () => new Date(),
      sendInvitation: (mail) =>
        void accountMailer
          .sendInvitation(mail)
          .catch((err: unknown) => data.logFailure('error', 'the mail of an invitation failed', err)),
      drawSample: (tenantId, profile, logo) => draw(samplePage(tenantId, profile, logo, publicUrl, new Date())),
      drawDraft: draw,
    },
    data.audit,
  );
  return {
    ...fromTable,
    invoiceWarnings,
    acceptedCredits: createAcceptedCredits(invoices),
    readInvoice,
    watchInvoice: createWatchInvoice(readInvoice, data.feed),
    documentUrl,
    importTexts: imports.texts,
    customerUrl: (documentId) => `${publicUrl}/i/${documentId}#${clientSecrets.issue(documentId)}`,
    endpointStatistics: webhooks.endpointStatistics,
  };
}
