import { type AuditLog, INSTALLATION, type RecordedEntry } from '../audit-entry.ts';
import { serviceError } from '../errors.ts';
import { isId } from '../ids.ts';
import { OPERATOR_PAGE } from '../limits.ts';
import { type Page, type PageSpan, placeInList } from '../page.ts';
import type { PersonPrincipal } from '../principal.ts';
import type { Call, OperatorCall, OperatorUseCase, UseCase } from '../use-case.ts';

export interface AuditInput extends PageSpan {
  /** Restricts the page to changes by a key or person with this id. Not together with `subject`. */
  readonly actorId: string | null;
  /** Restricts the page to changes of the object with this id. */
  readonly subject: string | null;
}

/** Maximum length of an id, in characters. */
const MOST_ID = 80;

/**
 * Reads the changes in a tenant's account, newest first, for its owners. API keys cannot read them, because entries
 * contain addresses of people.
 * @throws {ServiceError} invalid_request for an invalid page request or both filters
 */
export const auditLog = {
  person: 'owner',
  async run(
    needs: { readonly auditLog: AuditLog },
    { by: { tenant } }: Call<PersonPrincipal>,
    { actorId, subject, ...span }: AuditInput,
  ): Promise<Page<RecordedEntry>> {
    if (actorId !== null && subject !== null)
      throw serviceError('invalid_request', 'actorId cannot be combined with subject.', 'subject');
    for (const [param, id] of Object.entries({ actorId, subject })) {
      if (id !== null && id.length > MOST_ID) throw serviceError('invalid_request', `${param} must be an id.`, param);
    }
    return pageOf(needs.auditLog, tenant.id, span, { actorId, subject });
  },
} as const satisfies UseCase;

/**
 * Reads the changes of the installation for operators, newest first.
 * @param after the id of the last entry of the previous page
 * @throws {ServiceError} invalid_request for an unknown `after`
 */
export const installationLog = {
  run(
    needs: { readonly auditLog: Pick<AuditLog, 'find' | 'page'> },
    _call: OperatorCall,
    after: string | null,
  ): Promise<Page<RecordedEntry>> {
    const span = { limit: OPERATOR_PAGE, cursor: after === null ? null : ({ direction: 'after', id: after } as const) };
    return pageOf(needs.auditLog, INSTALLATION, span, { actorId: null, subject: null });
  },
} as const satisfies OperatorUseCase;

async function pageOf(
  log: Pick<AuditLog, 'find' | 'page'>,
  tenantId: string,
  span: PageSpan,
  filters: Pick<AuditInput, 'actorId' | 'subject'>,
): Promise<Page<RecordedEntry>> {
  const place = await placeInList(span, async (id) => (isId('aud', id) ? log.find(tenantId, id) : null));
  return log.page({ tenantId, ...place, ...filters, from: null, until: null });
}
