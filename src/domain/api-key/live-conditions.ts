import { missingProfileFields, type Tenant } from '../tenant/tenant.ts';

/**
 * What a tenant lacks for live keys, each thing with what to do; empty if it may have them.
 * @throws when it cannot be determined
 */
export type LiveConditions = (tenant: Tenant) => Promise<readonly string[]>;

/**
 * The conditions of live keys (docs/api/going-live.md): those of the installation, and the seller's complete profile.
 * @param installation what this installation lacks for the tenant
 */
export function createLiveConditions(installation: (tenantId: string) => Promise<readonly string[]>): LiveConditions {
  return async ({ id, profile }) => {
    const fields = missingProfileFields(profile);
    const advice = `give the whole profile with "npm run -s cli -- tenants update ${id} --profile FILE.json", or the missing fields with the GraphQL mutation updateSellerProfile`;
    const seller = `the seller's complete profile (missing: ${fields.join(', ')}; ${advice})`;
    return [...(await installation(id)), ...(fields.length === 0 ? [] : [seller])];
  };
}
