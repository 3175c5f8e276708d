import { serviceError } from '../errors.ts';
import { isId } from '../ids.ts';
import type { Member } from '../principal.ts';
import type { Owner } from '../tenant/tenant.ts';
import type { Import } from './import.ts';
import type { ImportStore } from './import-store.ts';

export function ownerOf({ tenant, environment }: Member): Owner {
  return { tenantId: tenant.id, environment };
}

/** Finds an import of the owner. */
export async function findOwn(
  imports: Pick<ImportStore, 'find'>,
  { tenantId, environment }: Owner,
  id: string,
): Promise<Import | null> {
  const found = isId('imp', id) ? await imports.find(id) : null;
  return found?.tenantId === tenantId && found.environment === environment ? found : null;
}

/** @throws {ServiceError} resource_not_found */
export async function ownImport(imports: Pick<ImportStore, 'find'>, by: Member, id: string): Promise<Import> {
  const found = await findOwn(imports, ownerOf(by), id);
  if (found) return found;
  const message = `There is no import '${id.slice(0, 80)}' in this tenant and environment.`;
  throw serviceError('resource_not_found', message, 'id');
}
