import type { PersonPrincipal } from '../principal.ts';
import type { Role } from './person.ts';

/** The place of a session in a tenant, which ends with the session and with a change of the role. */
export interface Place {
  readonly sessionId: string;
  readonly personId: string;
  readonly tenantId: string;
  readonly role: Role;
}

/** The place of a caller as a text. */
export function placeOf({ sessionId, personId, tenant, role }: PersonPrincipal): string {
  return JSON.stringify({ sessionId, personId, tenantId: tenant.id, role } satisfies Place);
}

/** @param text of {@link placeOf} */
export function readPlace(text: string): Place {
  return JSON.parse(text);
}
