import type { PersonPrincipal } from '../principal.ts';
import type { Role } from './person.ts';

/** A session's membership in a tenant. It ends with the session and with a change of the role. */
export interface Place {
  readonly sessionId: string;
  readonly personId: string;
  readonly tenantId: string;
  readonly role: Role;
}

/** Encodes the place of a caller as a text. */
export function placeOf({ sessionId, personId, tenant, role }: PersonPrincipal): string {
  return JSON.stringify({ sessionId, personId, tenantId: tenant.id, role } satisfies Place);
}

/** Decodes a place. @param text a result of {@link placeOf} */
export function readPlace(text: string): Place {
  return JSON.parse(text);
}
