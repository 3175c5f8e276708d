import type { AuditLog, RecordedEntry } from '../audit-entry.ts';
import { serviceError } from '../errors.ts';
import { isId } from '../ids.ts';
import { type Page, type PageSpan, placeInList } from '../page.ts';
import type { PersonPrincipal } from '../principal.ts';
import type { Call, UseCase } from '../use-case.ts';

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
    const place = await placeInList(span, async (id) => (isId('aud', id) ? needs.auditLog.find(tenant.id, id) : null));
    return needs.auditLog.page({ tenantId: tenant.id, ...place, actorId, subject, from: null, until: null });
  },
} as const satisfies UseCase;
