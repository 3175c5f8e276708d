import type { Session } from '../account/account-api.ts';
import type { Environment } from './session.ts';

type Role = Session['memberships'][number]['role'];

/**
 * Whether a page offers a change. The service decides (`src/domain/principal.ts`); the page only hides changes that the
 * service would refuse.
 */
export function mayChange(what: 'endpoints' | 'keys' | 'invoices', role: Role, environment: Environment): boolean {
  if (role === 'owner') return true;
  return role === 'developer' && (what === 'endpoints' || environment === 'test');
}
