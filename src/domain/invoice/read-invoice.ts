import { serviceError } from '../errors.ts';
import { isMember, type Principal } from '../principal.ts';
import type { ClientSecrets } from './client-secret.ts';
import type { FindPresentInvoice } from './find-present.ts';
import type { Invoice } from './invoice.ts';
import { calledById, isIdOfKind, KINDS, type Kind } from './kinds.ts';
import type { InvoiceReading } from './repository.ts';

export type ReadInvoice = ReturnType<typeof createReadInvoice>;

export function createReadInvoice(
  invoices: Pick<InvoiceReading, 'find'>,
  findPresent: FindPresentInvoice,
  clientSecrets: ClientSecrets,
) {
  /**
   * Returns a document of this kind if the credential may read it (docs/api/contract.md, "GET /v1/invoices/:id" and
   * "Authentication"). Each document has a client_secret of its own.
   * @param clientSecret required with a publishable key; with another credential it is optional and must match too
   * @throws {ServiceError} insufficient_scope (403): a client_secret for any other document, whether or not that
   *   exists; a publishable key without the document's secret, or with one of another tenant or environment; a
   *   `clientSecret` of another document. invalid_api_key (401): a forged `clientSecret`. resource_not_found (404):
   *   unknown, or of another tenant or environment
   */
  return async (
    principal: Principal,
    invoiceId: string,
    clientSecret: string | null,
    kind: Kind = 'invoice',
  ): Promise<Invoice> => {
    if (isMember(principal)) {
      const invoice = await found(invoiceId, kind);
      if (!invoice || invoice.tenantId !== principal.tenant.id || invoice.environment !== principal.environment) {
        throw notFound(invoiceId, kind);
      }
      refuseOtherSecret(invoiceId, clientSecret);
      return invoice;
    }
    if (principal.kind === 'client') {
      if (principal.invoiceId !== invoiceId) {
        throw serviceError(
          'insufficient_scope',
          `This client_secret gives access to its own ${calledById(principal.invoiceId)} only.`,
        );
      }
      if (!isIdOfKind(kind, invoiceId)) throw notFound(invoiceId, kind);
      const invoice = await findPresent(invoiceId);
      if (!invoice) throw serviceError('invalid_api_key', 'This client_secret is not valid.');
      refuseOtherSecret(invoiceId, clientSecret);
      return invoice;
    }
    if (clientSecret === null) {
      throw serviceError(
        'insufficient_scope',
        `A publishable key reads ${KINDS[kind].article} ${KINDS[kind].called} only with its client_secret: pass that too.`,
        'clientSecret',
      );
    }
    refuseOtherSecret(invoiceId, clientSecret);
    const invoice = await found(invoiceId, kind);
    if (!invoice || invoice.tenantId !== principal.tenant.id || invoice.environment !== principal.environment) {
      throw serviceError(
        'insufficient_scope',
        'This client_secret belongs to another tenant or environment than the key.',
        'clientSecret',
      );
    }
    return invoice;
  };

  /** Checks that a client_secret given with any credential belongs to the document. */
  function refuseOtherSecret(invoiceId: string, clientSecret: string | null): void {
    if (clientSecret === null) return;
    const granted = clientSecrets.verify(clientSecret);
    if (granted === null)
      throw serviceError(
        'invalid_api_key',
        'This client_secret is not valid. Check that it was copied completely.',
        'clientSecret',
      );
    if (granted !== invoiceId)
      throw serviceError(
        'insufficient_scope',
        `This client_secret belongs to another ${calledById(granted)}.`,
        'clientSecret',
      );
  }

  async function found(invoiceId: string, kind: Kind): Promise<Invoice | null> {
    return isIdOfKind(kind, invoiceId) ? invoices.find(invoiceId) : null;
  }
}

function notFound(invoiceId: string, kind: Kind) {
  return serviceError(
    'resource_not_found',
    `There is no ${KINDS[kind].called} '${invoiceId.slice(0, 80)}' in this tenant and environment.`,
    'id',
  );
}
