import type { AuditLog, RecordedEntry } from '../audit-entry.ts';
import { serviceError } from '../errors.ts';
import { isId } from '../ids.ts';
import { type Page, type PageSpan, placeInList } from '../page.ts';
import { type Principal, requirePerson } from '../principal.ts';

export interface AuditInput extends PageSpan {
  /** Id of a key or a person. Not with `subject`. */
  readonly actorId: string | null;
  /** Id of what was changed. */
  readonly subject: string | null;
}

/**
 * The changes in a tenant's account, newest first: for its owners. A key reads none, because entries tell the addresses
 * of people.
 * @throws {ServiceError} insufficient_scope; invalid_request for an invalid page request or both filters
 */
export type BrowseAudit = (principal: Principal, input: AuditInput) => Promise<Page<RecordedEntry>>;

/** Characters of an id at most. */
const MOST_ID = 80;

export function createBrowseAudit(log: AuditLog): BrowseAudit {
  return async (principal, { actorId, subject, ...span }) => {
    const { tenant } = requirePerson(principal, 'owner', 'read');
    if (actorId !== null && subject !== null)
      throw serviceError('invalid_request', 'actorId cannot be combined with subject.', 'subject');
    for (const [param, id] of Object.entries({ actorId, subject })) {
      if (id !== null && id.length > MOST_ID) throw serviceError('invalid_request', `${param} must be an id.`, param);
    }
    const place = await placeInList(span, async (id) => (isId('aud', id) ? log.find(tenant.id, id) : null));
    return log.page({ tenantId: tenant.id, ...place, actorId, subject, from: null, until: null });
  };
}
