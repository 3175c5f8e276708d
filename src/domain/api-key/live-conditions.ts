import type { LiveConditions, MissingForLive } from '../tenant/ports.ts';
import { missingProfileFields } from '../tenant/tenant.ts';

/**
 * Checks the conditions of live keys (docs/api/going-live.md): those of the installation, and the seller's complete
 * profile.
 * @param installation returns what this installation lacks for the tenant
 */
export function createLiveConditions(
  installation: (tenantId: string) => Promise<readonly MissingForLive[]>,
): LiveConditions {
  return async ({ id, profile }) => {
    const fields = missingProfileFields(profile);
    const advice = `give the whole profile with "npm run -s cli -- tenants update ${id} --profile FILE.json", or the missing fields with the GraphQL mutation updateSellerProfile`;
    const text = `the seller's complete profile (missing: ${fields.join(', ')}; ${advice})`;
    return [...(await installation(id)), ...(fields.length === 0 ? [] : [{ condition: 'profile', text } as const])];
  };
}
