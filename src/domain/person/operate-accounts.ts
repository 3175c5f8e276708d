import { INSTALLATION } from '../audit-entry.ts';
import { foundTenant } from '../found-tenant.ts';
import type { TenantRepository } from '../tenant/ports.ts';
import type { OperatorChange, OperatorUseCase } from '../use-case.ts';
import { invite } from './invite.ts';
import type { Grants } from './person.ts';
import type { PeopleRepository } from './ports.ts';

interface Needs {
  readonly tenants: Pick<TenantRepository, 'find'>;
  readonly people: Pick<PeopleRepository, 'insertInvitation' | 'removeSecondFactors' | 'removeOperator' | 'grantsOf'>;
  readonly publicUrl: string;
}

/** What operators do with accounts of people. */
export const ACCOUNT_OPERATIONS = {
  /**
   * Invites a person, to tenants or as an operator.
   * @param email the only address that may use the link; null: whoever has it may
   * @returns the link, which is not stored; that of a person is valid as long as the person is an operator
   * @throws {ServiceError} resource_not_found for an unknown tenant
   */
  invite: {
    audit: 'member.invited',
    async run(
      { tenants, people, publicUrl }: Needs,
      { by, record }: OperatorChange,
      email: string | null,
      grants: Grants,
    ): Promise<string> {
      for (const { tenantId } of grants.memberships) await foundTenant(tenants, tenantId);
      const invitedBy = by && ({ personId: by.person.id, as: 'operator' } as const);
      const { link } = await invite(people, { email, grants, invitedBy }, publicUrl);
      for (const { tenantId, role } of grants.memberships)
        await record({ tenantId }, { subject: null, details: { role } });
      if (grants.isOperator) await record({ tenantId: INSTALLATION }, { subject: null, details: { role: 'operator' } });
      return link;
    },
  },

  /**
   * Removes codes and passkeys of a person who has lost them.
   * @param email in lower case @returns whether there is an account with this address
   */
  removeSecondFactors: {
    audit: 'member.second_factors_removed',
    async run({ people }: Needs, { record }: OperatorChange, email: string): Promise<boolean> {
      const person = await people.removeSecondFactors(email);
      if (person === null) return false;
      const { memberships, isOperator } = await people.grantsOf(person.id);
      const places = [...memberships, ...(isOperator ? [{ tenantId: INSTALLATION }] : [])];
      for (const { tenantId } of places) await record({ tenantId }, { subject: person.id });
      return true;
    },
  },

  /** Ends the rights of an operator. @param email in lower case @returns whether there is one with this address */
  removeOperator: {
    audit: 'member.removed',
    async run({ people }: Needs, { record }: OperatorChange, email: string): Promise<boolean> {
      const person = await people.removeOperator(email);
      if (person === null) return false;
      const details = { name: person.name, was: 'operator' };
      await record({ tenantId: INSTALLATION }, { subject: person.id, details });
      return true;
    },
  },
} as const satisfies Readonly<Record<string, OperatorUseCase>>;
