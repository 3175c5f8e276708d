import { expect, it } from 'vitest';
import { type AuditEntry, INSTALLATION, type Operator } from '../../../src/domain/audit-entry.ts';
import { newId } from '../../../src/domain/ids.ts';
import { createOperate } from '../../../src/domain/operator-use-cases.ts';

type Needs = Parameters<typeof createOperate>[0];

const origin = { address: '192.0.2.1', userAgent: null, requestId: 'req_1' };
const onPage: Operator = { person: { id: 'per_1', name: 'Amina' }, origin };
const actors = {
  page: { kind: 'operator', id: 'per_1', name: 'Amina' },
  terminal: { kind: 'operator', id: null, name: null },
} as const;

/** What operators do, with these ports alone; `entries` has what it recorded. */
function operating(needs: object) {
  const entries: AuditEntry[] = [];
  const audit = async (...each: readonly AuditEntry[]) => void entries.push(...each);
  return { entries, operate: createOperate({ now: () => new Date(0), ...needs } as Needs, audit) };
}

it('a page and a command do the same, and record it with the same facts', async () => {
  const keys = new Map([
    ['key_1', false],
    ['key_2', false],
  ]);
  const manageKeys = {
    tenantOf: async (id: string) => ({ tenantId: 'ten_1', environment: 'live', isRevoked: keys.get(id) }),
    revoke: async (id: string) => void keys.set(id, true),
  };
  const { entries, operate } = operating({ manageKeys });
  await operate.revokeKey(onPage, 'key_1');
  await operate.revokeKey(null, 'key_2');
  // A revoked key is not changed.
  await operate.revokeKey(null, 'key_1');
  const facts = { action: 'api_key.revoked', tenantId: 'ten_1', environment: 'live', details: {} };
  expect(entries).toEqual([
    // Tenants do not learn where the operators are.
    { ...facts, subject: 'key_1', actor: actors.page, origin: null },
    { ...facts, subject: 'key_2', actor: actors.terminal, origin: null },
  ]);
});

it('what concerns the installation is in its log, with where an operator was', async () => {
  const pauses: object[] = [];
  const authorityState = { pause: async (pause: object) => void pauses.push(pause), resume: async () => null };
  const { entries, operate } = operating({ authorityState });
  await operate.pauseAuthority(onPage, 'Amina', 'maintenance');
  const pause = await operate.pauseAuthority(null, 'root@host', null);
  // There is no pause to end.
  expect(await operate.resumeAuthority(null)).toBeNull();
  expect(pause).toEqual({ by: 'root@host', reason: null, since: new Date(0) });
  expect(pauses).toEqual([{ by: 'Amina', reason: 'maintenance', since: new Date(0) }, pause]);
  const facts = { action: 'authority.paused', tenantId: INSTALLATION, environment: null, subject: null };
  expect(entries).toEqual([
    { ...facts, actor: actors.page, origin, details: { reason: 'maintenance' } },
    { ...facts, actor: actors.terminal, origin: null, details: {} },
  ]);
});

it('the retry of an invoice of an erased tenant is in the log of the installation', async () => {
  const due = new Set([newId('inv'), newId('crn')]);
  const invoices = { find: async () => null, retryNow: async (id: string) => due.has(id) };
  const { entries, operate } = operating({ invoices });
  for (const id of due) await operate.retryInvoice(null, id);
  const facts = { action: 'invoice.retried', tenantId: INSTALLATION, environment: null };
  expect(entries).toMatchObject([...due].map((subject) => ({ ...facts, subject })));
  for (const id of [newId('inv'), 'inv_x', 'x'])
    await expect(operate.retryInvoice(null, id)).rejects.toMatchObject({
      code: 'resource_not_found',
      message: `There is no invoice '${id}'.`,
    });
  expect(entries.length).toBe(2);
});

it('a profile that goes with its tenant meanwhile is not recorded as changed', async () => {
  const tenants = {
    find: async () => ({ id: 'ten_1', profile: { cnss: '1' } }),
    changeProfile: async () => null,
    updateProfile: async () => false,
  };
  const { entries, operate } = operating({ tenants, readLogo: () => () => null });
  const gone = { code: 'resource_not_found' };
  await expect(operate.changeProfile(onPage, 'ten_1', { cnss: '2' })).rejects.toMatchObject(gone);
  await expect(operate.replaceProfile(null, 'ten_1', {})).rejects.toMatchObject(gone);
  // Nothing would change, so nothing is written.
  await operate.changeProfile(onPage, 'ten_1', { cnss: '1' });
  await operate.replaceProfile(null, 'ten_1', { cnss: '1' });
  expect(entries).toEqual([]);
});
