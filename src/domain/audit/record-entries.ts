import {
  type Audit,
  type AuditEntry,
  type AuditLog,
  entryOfPerson,
  INSTALLATION,
  type RecordedEntry,
  type SharedAction,
} from '../audit-entry.ts';
import { newId } from '../ids.ts';
import { newCreationMoment } from '../order-key.ts';
import type { Person } from '../person/person.ts';
import type { PeopleRepository } from '../person/ports.ts';
import type { Origin } from '../principal.ts';

/**
 * Creates the audit log, which stores entries and shows each to operators.
 * @param show receives each entry before it is stored, for the log; never throws
 * @param report receives the error of the store; never throws
 */
export function createAudit(
  log: Pick<AuditLog, 'insert'>,
  show: (entry: RecordedEntry) => void,
  report: (failure: unknown) => void,
): Audit {
  return async (...entries) => {
    const recorded = entries.map((entry) => {
      const { createdAt, order } = newCreationMoment();
      return { id: newId('aud'), at: createdAt, order, ...entry };
    });
    recorded.forEach(show);
    try {
      await log.insert(recorded);
    } catch (failure) {
      report(failure);
    }
  };
}

/** Records an action of a person on their own account, once for each of the person's tenants. Never rejects. */
export type RecordOfPerson = (
  person: Person,
  origin: Origin,
  action: SharedAction,
  details?: AuditEntry['details'],
) => Promise<void>;

/** Creates the recorder. @param report receives the error of the store; never throws */
export function createRecordOfPerson(
  people: Pick<PeopleRepository, 'grantsOf'>,
  audit: Audit,
  report: (failure: unknown) => void,
): RecordOfPerson {
  return async (person, origin, action, details = {}) => {
    try {
      const { memberships, isOperator } = await people.grantsOf(person.id);
      const places = [...memberships.map(({ tenantId }) => tenantId), ...(isOperator ? [INSTALLATION] : [])];
      await audit(...places.map((tenantId) => entryOfPerson(person, tenantId, origin, action, details)));
    } catch (failure) {
      report(failure);
    }
  };
}
