import { expect, it } from 'vitest';
import type { AuditEntry } from '../../../src/domain/audit-entry.ts';
import type { Principal } from '../../../src/domain/principal.ts';
import type { Call, Change, UseCase } from '../../../src/domain/use-case.ts';
import { callable, USE_CASES } from '../../../src/domain/use-cases.ts';
import { schema } from '../../../src/graphql/schema.ts';

const tenant = { id: 'ten_1', name: 'T', profile: {}, createdAt: new Date(), suspendedAt: null };
const key: Principal = { kind: 'secret', keyId: 'key_1', tenant, environment: 'test' };
const person = (role: 'viewer' | 'owner'): Principal => {
  const by = { kind: 'person', personId: 'per_1', name: 'Amina', sessionId: 's', hasProof: true } as const;
  return { ...by, role, tenant, environment: 'test' };
};

/** A table with a use case of each kind; `ran` has those that ran. */
function tableOf(ran: string[]) {
  return {
    look: { scope: 'read', run: ({ prefix }: { prefix: string }, _call: Call, text: string) => prefix + text },
    alter: {
      scope: 'operate',
      audit: { action: 'webhook_endpoint.updated', description: 'It was changed.' },
      async run(_needs: object, { record }: Change, id: string) {
        ran.push(id);
        await record({ subject: id, details: { fields: 'url' } });
        return id.length;
      },
    },
    manage: { person: 'owner', audit: 'member.removed', run: (_needs: object) => ran.push('manage') },
  } as const satisfies Readonly<Record<string, UseCase>>;
}

it('a use case gets its needs and its input; what it records has its action, its caller and the environment', async () => {
  const entries: AuditEntry[] = [];
  const cases = callable(tableOf([]), { prefix: '>' }, async (...each) => void entries.push(...each));
  expect(cases.look(key, 'x')).toBe('>x');
  expect(entries).toEqual([]);
  expect(await cases.alter(key, 'we_1')).toBe(4);
  expect(entries).toEqual([
    {
      action: 'webhook_endpoint.updated',
      tenantId: 'ten_1',
      environment: 'test',
      actor: { kind: 'key', id: 'key_1', name: null },
      origin: null,
      subject: 'we_1',
      details: { fields: 'url' },
    },
  ]);
});

it('a caller without the access is refused before the use case runs, and a suspended tenant changes nothing', () => {
  const ran: string[] = [];
  const cases = callable(tableOf(ran), { prefix: '' }, async () => undefined);
  const suspended = { ...tenant, suspendedAt: new Date() };
  const refusals: [() => unknown, string][] = [
    [() => cases.alter(person('viewer'), 'we_1'), 'insufficient_scope'],
    [() => cases.alter({ ...key, kind: 'publishable' }, 'we_1'), 'insufficient_scope'],
    [() => cases.look({ kind: 'client', invoiceId: 'inv_1' }, 'x'), 'insufficient_scope'],
    [() => cases.manage(key), 'insufficient_scope'],
    [() => cases.manage(person('viewer')), 'insufficient_scope'],
    [() => cases.alter({ ...key, tenant: suspended }, 'we_1'), 'tenant_suspended'],
    [() => cases.manage({ ...person('owner'), tenant: suspended } as Principal), 'tenant_suspended'],
  ];
  for (const [call, code] of refusals) expect(call).toThrow(expect.objectContaining({ code }));
  expect(ran).toEqual([]);
});

it('a root field has the access of the use case with its name; without a row are those for every credential', () => {
  const types = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const fields = types.flatMap((type) => Object.entries(type?.getFields() ?? {}));
  const stated = new Map(
    fields.map(([name, { extensions }]) => {
      const { authScopes } = extensions.pothosOptions as { readonly authScopes?: object };
      return [name, authScopes];
    }),
  );
  const rows = Object.entries(USE_CASES).filter(([name]) => stated.has(name));
  expect(rows.length).toBeGreaterThan(20);
  for (const [name, row] of rows)
    expect([name, stated.get(name)]).toEqual([name, 'scope' in row ? { scope: row.scope } : { person: row.person }]);
  const others = [...stated].filter(([name]) => !(name in USE_CASES));
  expect(Object.fromEntries(others)).toEqual({
    invoice: undefined,
    invoiceStatus: undefined,
    node: undefined,
    nodes: undefined,
  });
});
