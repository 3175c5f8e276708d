import { serviceError } from '../errors.ts';
import { MAX_LOGOS } from '../limits.ts';
import type { SellerProfileChange, TenantRepository } from './ports.ts';

/** Admits the logo of a change, if it has one. @throws {ServiceError} logo_limit_reached */
export async function admitLogo(
  tenants: Pick<TenantRepository, 'admitLogo'>,
  tenantId: string,
  { logo }: SellerProfileChange,
): Promise<void> {
  if (logo && !(await tenants.admitLogo(tenantId, logo.sha256, MAX_LOGOS)))
    throw serviceError('logo_limit_reached', `A tenant can store at most ${MAX_LOGOS} different logos.`, 'logo');
}
