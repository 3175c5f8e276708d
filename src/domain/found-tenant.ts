import { type ServiceError, serviceError } from './errors.ts';
import type { TenantRepository } from './tenant/ports.ts';
import type { Tenant } from './tenant/tenant.ts';

/** Finds a tenant that is not erased. @throws {ServiceError} resource_not_found */
export async function foundTenant(tenants: Pick<TenantRepository, 'find'>, tenantId: string): Promise<Tenant> {
  const tenant = await tenants.find(tenantId);
  if (tenant === null) throw noTenant(tenantId);
  return tenant;
}

/** The error for an unknown or erased tenant. */
export function noTenant(tenantId: string): ServiceError {
  return serviceError('resource_not_found', `There is no tenant '${tenantId}'.`, 'tenant');
}
