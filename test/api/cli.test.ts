import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as administration from '../../src/app/administration.ts';
import { commandParts } from '../../src/app/command-parts.ts';
import type { CommandContext } from '../../src/cli/command.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { greeting } from '../../src/cli/greeting.ts';
import { runCommandLine } from '../../src/cli/run.ts';
import { readConfig } from '../../src/config.ts';
import { createManageKeys } from '../../src/domain/api-key/manage-keys.ts';
import { NEVER } from '../../src/domain/invoice/attention.ts';
import { NEW_WORK } from '../../src/domain/invoice/invoice.ts';
import { MAX_LOGOS } from '../../src/domain/limits.ts';
import { moroccanYear } from '../../src/domain/morocco/time.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import { startEngine } from '../../src/engine/embedded.ts';
import { createErasureStore } from '../../src/storage/erasure.ts';
import { createInstallationRepository } from '../../src/storage/installation.ts';
import { documentOf } from '../../src/storage/invoice-document.ts';
import { ownNumberKey, seriesKey } from '../../src/storage/invoice-numbers.ts';
import { Client, invoiceBody, invoiceFor } from '../support/client.ts';
import { type CommandLine, startCommandLine } from '../support/command-line.ts';
import { pendingInvoice } from '../support/invoices.ts';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';
import { Browser } from '../support/person.ts';
import { recordingTerminal } from '../support/recording-terminal.ts';
import { firstOf, testLong } from '../support/samples.ts';
import { STAND_IN_PDF, startService, type TestService, withDatabase } from '../support/service.ts';
import { LOGO } from '../unit/pdf/support.ts';

const PROFILE = fileURLToPath(new URL('../../scripts/samples/seller/profile.json', import.meta.url));

// One test starts a service in a process of its own.
vi.setConfig({ testTimeout: 240_000 });

let folder: string;
let mongo: TestMongo;
let service: TestService;
/** The settings that the service and the command line share. */
let settings: Record<string, string>;
/** The administration that commands with these settings share, because opening one takes longer than most commands. */
let opened: Promise<administration.OpenAdministration> | null = null;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cli-'));
  mongo = await startTestMongo();
  settings = {
    MONGODB_URL: withDatabase(mongo.uri, freshDbName('cli')),
    MASTER_KEY: 'fedcba9876543210'.repeat(4),
    DATA_DIR: join(folder, 'data'),
  };
  service = await startService(settings);
});
afterAll(async () => {
  await (await opened)?.close();
  await service?.close();
  await mongo?.close();
  await rm(folder, { recursive: true, force: true });
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function start(args: readonly string[], env: Record<string, string>): { child: CommandLine; ended: Promise<Ended> } {
  const child = startCommandLine(args, env);
  const texts = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    texts.out += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    texts.err += chunk;
  });
  return { child, ended: once(child, 'close').then(([code]) => ({ code, ...texts })) };
}

/** Runs a command and waits for its exit. */
function cli(args: readonly string[], env: Record<string, string> = settings): Promise<Ended> {
  return start(args, env).ended;
}

/** The module that opens administrations, with {@link opened} in place of a new one. */
async function shared(): Promise<typeof administration> {
  opened ??= administration.openAdministration(readConfig(settings));
  const one = { ...(await opened), close: async () => undefined };
  return { ...administration, openAdministration: async () => one };
}

/**
 * Runs a command in this process, because starting a process takes longer than most commands; not one that starts a
 * service. What a process adds, and how it is made of its parts, is shown by the commands that have one (`cli`).
 */
async function runHere(args: readonly string[], env: Record<string, string>): Promise<Ended> {
  const { terminal, texts } = recordingTerminal();
  const context: CommandContext = {
    terminal,
    config: () => readConfig(env),
    environmentKey: () => null,
    parts: env === settings ? { ...commandParts, administration: shared } : commandParts,
  };
  return { code: await runCommandLine(args, COMMANDS, context), ...texts };
}

const administer = (...args: string[]): Promise<Ended> => runHere(args, settings);

/** The output of a command that must succeed and print only JSON. */
function jsonOf({ code, out, err }: Ended) {
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out);
}

const administered = async (...args: string[]) => jsonOf(await administer(...args, '--json'));

/** The entries of a tenant's audit log, oldest first. */
const entriesOf = (tenantId: string) =>
  service.app.store.db.collection('audit_log').find({ tenantId }).sort({ order: 1 }).toArray();

const statusWith = async (key: string) => (await new Client(service.url, key).get('/v1/invoices')).status;

describe('the tax authority', () => {
  it('is paused and resumed, by whom and why is shown, with what waits', async () => {
    const status = () => administered('authority', 'status');
    expect(await status()).toEqual({
      authority: null,
      breaker: 'closed',
      since: null,
      outages: 0,
      latest_outages: [],
      next_probe: null,
      pause: null,
      not_before: null,
      workers: 0,
      in_flight: 0,
      waiting: [],
      last_reconciliation: null,
    });
    const { pause } = await administered('authority', 'pause', '--reason', 'maintenance\u001b[2J');
    expect(pause).toMatchObject({ by: expect.stringContaining('@'), reason: 'maintenance\u001b[2J' });
    expect((await status()).pause).toEqual(pause);
    const work = {
      stage: 'transmit',
      attempts: 0,
      outcomeUnknown: false,
      lane: 'transmissions',
      dueAt: new Date(),
      token: null,
    };
    const waiting = ['ten_a', 'ten_a', 'ten_b'].map((tenantId, i) => ({
      _id: `inv_waits_${i}`,
      tenantId,
      order: `w${i}`,
      work: { ...work, partition: tenantId === 'ten_a' ? 1 : 2 },
    }));
    const invoices = service.app.store.db.collection<{ _id: string }>('invoices');
    await invoices.insertMany(waiting);
    expect((await status()).waiting).toEqual([
      { tenant: 'ten_a', waiting: 2 },
      { tenant: 'ten_b', waiting: 1 },
    ]);
    const { out } = await administer('authority', 'status');
    expect(out).toMatch(/^authority +none is configured \(DGI_URL\): what waits is not sent$/m);
    expect(out).toMatch(/^paused +\S+@\S+ since .*: maintenance\?\[2J$/m);
    expect(out).toMatch(/^ +ten_a 2$/m);
    await invoices.deleteMany({ _id: { $in: waiting.map(({ _id }) => _id) } });
    expect((await administer('authority', 'resume')).out).toMatch(/^The pause of .* has ended\.$/m);
    expect(await administered('authority', 'resume')).toEqual({ ended: null });
    expect((await status()).pause).toBeNull();
  });
});

describe('tenants and keys', () => {
  it('creates a tenant and keys that a running service accepts until they are revoked', async () => {
    const tenant = await administered('tenants', 'create', '--name', 'Atlas', '--profile', PROFILE);
    expect(tenant).toMatchObject({
      id: expect.stringMatching(/^ten_/),
      name: 'Atlas',
      profile: { legalForm: 'SARL' },
      missing_profile_fields: [],
    });
    const create = ['keys', 'create', '--tenant', tenant.id, '--environment', 'test', '--kind'];
    const secret = await administered(...create, 'secret');
    expect(secret).toMatchObject({ id: expect.stringMatching(/^key_/), key: expect.stringMatching(/^sk_test_/) });
    expect(await statusWith(secret.key)).toBe(200);

    const renamed = await administer('keys', 'rename', secret.id, 'Boutique');
    expect(renamed).toMatchObject({ code: 0, out: `Key ${secret.id} is called Boutique.\n` });
    expect(await administer('keys', 'rename', secret.id, 'x'.repeat(61))).toMatchObject({ code: 1 });

    const rotated = await administered('keys', 'rotate', secret.id);
    expect(rotated).toMatchObject({ key: expect.stringMatching(/^sk_test_/), kind: 'secret', environment: 'test' });
    expect([await statusWith(secret.key), await statusWith(rotated.key)]).toEqual([200, 200]);

    const revoked = await administer('keys', 'revoke', secret.id);
    expect(revoked).toMatchObject({ code: 0, out: `Key ${secret.id} is revoked.\n` });
    // Administration has a store of its own, so the service learns of it as of any other process's: within 100 ms.
    await sleep(100);
    expect([await statusWith(secret.key), await statusWith(rotated.key)]).toEqual([401, 200]);

    const refused = await administer('keys', 'rotate', secret.id);
    expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringContaining('is revoked, so it cannot be') });

    const keys = await administered('keys', 'list', '--tenant', tenant.id);
    expect(keys).toMatchObject([
      { id: secret.id, name: 'Boutique', last_four: secret.key.slice(-4), revoked_at: expect.any(String) },
      { id: rotated.id, name: 'Boutique', last_four: rotated.key.slice(-4), revoked_at: null },
    ]);
    const list = await administer('keys', 'list', '--tenant', tenant.id);
    expect(list.out).toContain(`sk_test_…${rotated.key.slice(-4)}`);
    expect(JSON.stringify(keys) + list.out).not.toContain(rotated.key);
  });

  it('lists the tenants with the environments for which they have valid keys', async () => {
    const { id } = await administered('tenants', 'create', '--name', 'Liste');
    // The command refuses such a name, but data may come from a restored file.
    const changed = { $set: { name: 'Liste\u001b[2J' } };
    await service.app.store.db.collection('tenants').updateOne({ _id: id }, changed);
    const listed = async () => (await administered('tenants', 'list')).find((each: { id: string }) => each.id === id);
    expect(await listed()).toMatchObject({ name: 'Liste\u001b[2J', environments: [], created_at: expect.any(String) });
    const key = await administered('keys', 'create', '--tenant', id, '--environment', 'test', '--kind', 'secret');
    expect(await listed()).toMatchObject({ environments: ['test'] });
    expect((await administer('tenants', 'list')).out).toMatch(
      new RegExp(`^${id} +\\d{4}-.* test +Liste\\?\\[2J$`, 'm'),
    );
    const revoke = () => administer('keys', 'revoke', key.id);
    const first = await revoke();
    expect(await listed()).toMatchObject({ environments: [] });
    // It is revoked, so this changes nothing.
    expect(await revoke()).toEqual(first);
    const entries = await entriesOf(id);
    const [actor, environment] = [{ kind: 'operator', id: null, name: null }, 'test'];
    expect(entries).toMatchObject([
      { action: 'tenant.created', actor, subject: id, environment: null, origin: null },
      { action: 'api_key.created', actor, subject: key.id, environment, details: { kind: 'secret' } },
      { action: 'api_key.revoked', actor, subject: key.id, environment },
    ]);
  });

  it('the commands that a later start prints work unchanged and lead to a key', async () => {
    const nothing = { operatorPassword: null, invitationUrl: null, demo: null };
    const text = greeting('http://127.0.0.1:3000', nothing);
    expect(text).toContain('http://127.0.0.1:3000/docs');
    const [list, create, ...more] = [...text.matchAll(/npm run -s cli -- (\S+(?: \S+)*)/g)].map(
      ([, command]) => command,
    );
    expect([list, more]).toEqual(['tenants list', []]);
    const make = /none yet: (.*)\)/.exec(text)?.[1]?.replace('NAME', 'Neuf') ?? '';
    expect(await administered(...make.split(' '))).toMatchObject({ name: 'Neuf' });
    const tenants: { id: string; name: string }[] = await administered(...list!.split(' '));
    const tenant = tenants.find(({ name }) => name === 'Neuf')!;
    const { key } = await administered(...create!.replace('TENANT', tenant.id).split(' '));
    expect(await statusWith(key)).toBe(200);
    // A first start, which shows keys, and a worker print no such advice.
    const demo = { tenantId: 'ten_x', secretKey: 'sk_test_x', publishableKey: 'pk_test_x' };
    expect(greeting('http://127.0.0.1:3000', { operatorPassword: null, invitationUrl: null, demo })).not.toContain(
      'keys create',
    );
    expect(greeting(null, nothing)).toBe('Fatoura is processing jobs.');
  });

  it('invites people with a link that gives what was asked for, once', async () => {
    const { id } = await administered('tenants', 'create', '--name', 'Équipe');
    const invitation = ['accounts', 'invite', '--tenant', id, '--role', 'developer', '--email', 'Dev@Example.com'];
    const { out } = await administer(...invitation);
    expect(out).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/join#[\w-]{32}\n$/);
    // HOST may be all addresses of this machine, which no browser opens.
    const { out: everywhere } = await runHere(invitation, { ...settings, PUBLIC_URL: '', HOST: '::', PORT: '4322' });
    expect(everywhere).toMatch(/^http:\/\/localhost:4322\/join#/);
    const { link } = await administered(...invitation, '--operator');
    const account = { token: link.split('#')[1], name: 'Dev', password: 'correct horse battery' };
    const stranger = await new Browser(service.url).post('/auth/accept-invitation', {
      ...account,
      email: 'another@example.com',
    });
    expect(stranger.status).toBe(404);
    const { body } = await new Browser(service.url).post('/auth/accept-invitation', {
      ...account,
      email: 'dev@example.com',
    });
    expect(body).toMatchObject({ isOperator: true, memberships: [{ tenantId: id, role: 'developer' }] });
    expect((await administer('accounts', 'invite', '--tenant', id)).err).toMatch(/go together/);
    expect((await administer('accounts', 'invite')).err).toMatch(/give --tenant/);
    expect((await administer('accounts', 'invite', '--operator', '--email', 'nobody')).err).toMatch(/not an e-mail/);
    const unknown = ['--tenant', 'ten_00000000-0000-4000-8000-000000000000', '--role', 'viewer'];
    expect(await administer('accounts', 'invite', ...unknown)).toMatchObject({ code: 2, out: '' });
  });

  it('replaces a profile', async () => {
    const { id } = await administered('tenants', 'create', '--name', 'Sans profil');
    const partial = join(folder, 'partial.json');
    await writeFile(partial, JSON.stringify({ legalName: 'Sans profil SARL', capital: 100 }));
    const update = () => administer('tenants', 'update', id, '--profile', partial);
    const updated = await update();
    expect(updated).toMatchObject({ code: 0, out: expect.stringContaining('tradeRegister') });
    const profile = { legalName: 'Sans profil SARL', capital: 100 };
    expect((await service.app.tenants.find(id))?.profile).toEqual(profile);
    // The same again is no change.
    expect(await update()).toEqual(updated);
    await writeFile(partial, JSON.stringify({ capital: 200 }));
    expect(await update()).toMatchObject({ code: 0 });
    expect((await service.app.tenants.find(id))?.profile).toEqual({ capital: 200 });
    const change = { action: 'seller_profile.updated', subject: id, details: { fields: 'legalName, capital' } };
    expect((await entriesOf(id)).slice(1)).toMatchObject([change, change]);
    // A tenant stores as many logos by commands as by its pages.
    const logos = Array.from({ length: MAX_LOGOS }, (_, n) => `sha256 ${n}`);
    const tenants = service.app.store.db.collection<{ _id: string }>('tenants');
    await tenants.updateOne({ _id: id }, { $set: { logos } });
    await writeFile(partial, JSON.stringify({ logo: LOGO }));
    expect(await update()).toMatchObject({
      code: 1,
      err: `A tenant can store at most ${MAX_LOGOS} different logos.\n`,
    });
    expect((await service.app.tenants.find(id))?.profile).toEqual({ capital: 200 });
  });

  it('limits the requests of a tenant, and records it when it changes', async () => {
    const { id } = await administered('tenants', 'create', '--name', 'Limite');
    const limit = (requests: string) => administer('tenants', 'limit', id, '--requests', requests);
    const said = `The secret keys of ${id} may send 30 requests a minute together.\n`;
    for (const requests of ['default', '30', '30']) expect((await limit(requests)).code).toBe(0);
    expect((await limit('30')).out).toBe(said);
    expect((await service.app.tenants.find(id))?.requestsPerMinute).toBe(30);
    expect((await limit('default')).out).toBe(`${id} has the limit of the installation again.\n`);
    expect((await entriesOf(id)).slice(1)).toMatchObject([
      { action: 'tenant.limited', subject: id, details: { requests: '30' } },
      { action: 'tenant.limited', subject: id, details: { requests: 'default' } },
    ]);
    const unknown = await administer('tenants', 'limit', 'ten_x', '--requests', '30');
    expect(unknown).toMatchObject({ code: 1, err: "There is no tenant 'ten_x'.\n" });
  });

  it.each([
    ['Atlas\nConseil', 'contains a line break or a tab: expected one line'],
    [' ', 'needs a value, but it is empty'],
    ['A'.repeat(1000), 'is too long: at most'],
  ])('refuses a tenant whose name is not one line of text', async (name, message) => {
    const { code, out, err } = await administer('tenants', 'create', '--name', name);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(`--name ${message}`);
  });

  it('refuses on one line: a wrong profile, an unknown object, live keys without an authority', async () => {
    const bad = join(folder, 'bad.json');
    await writeFile(bad, '{"ice": "1", "colour": "red"}');
    const noJson = join(folder, 'no.json');
    await writeFile(noJson, '{');
    const { id } = await administered('tenants', 'create', '--name', 'X');
    const before = await service.app.store.db.collection('tenants').countDocuments();
    const refusals: [args: string[], message: string, exitCode?: number][] = [
      [['tenants', 'create', '--name', 'Y', '--profile', bad], 'ice must be 15 digits. colour is not a field', 2],
      [['tenants', 'create', '--name', 'Y', '--profile', noJson], 'is not valid JSON', 2],
      [['tenants', 'create', '--name', 'Y', '--profile', join(folder, 'none.json')], 'it does not exist', 2],
      [['verify', join(folder, 'none.xml')], 'it does not exist', 2],
      [['tenants', 'update', 'ten_x', '--profile', PROFILE], "There is no tenant 'ten_x'."],
      [['keys', 'list', '--tenant', 'ten_x'], "There is no tenant 'ten_x'."],
      [['keys', 'revoke', 'key_x'], "There is no key 'key_x'."],
      [['keys', 'rotate', 'key_x'], "There is no key 'key_x'."],
      [['keys', 'create', '--tenant', id, '--environment', 'live', '--kind', 'secret'], 'Live keys require'],
    ];
    const check = async ([args, message, exitCode = 1]: (typeof refusals)[number]) => {
      const { code, out, err } = await administer(...args);
      expect({ args, code, out }).toEqual({ args, code: exitCode, out: '' });
      expect(err).toContain(message);
      expect(err.trimEnd()).not.toContain('\n');
    };
    for (const refusal of refusals) await check(refusal);
    expect(await service.app.store.db.collection('tenants').countDocuments()).toBe(before);
  });

  it('names every wrong setting on one line', async () => {
    const { code, err } = await cli(['keys', 'list', '--tenant', 'x'], { PORT: 'a', MONGODB_URL: 'http://x' });
    expect(code).toBe(2);
    expect(err).toMatch(/^The settings are invalid: .*PORT.*MONGODB_URL.*\n$/);
  });
});

describe('the data of a tenant', () => {
  it('is exported, and erased only by whoever repeats its id', async () => {
    const { id, secretKey } = await service.tenant();
    const client = new Client(service.url, secretKey);
    const { body } = await client.post('/v1/invoices', invoiceFor('001234567000089'));
    // With its PDF nothing is left to do, so that no worker has to be waited for.
    await fetch((await client.settled(body.id)).pdf_url).then((answer) => answer.arrayBuffer());
    const to = join(folder, 'export');
    const manifest = await administered('tenants', 'export', id, '--to', to);
    expect(manifest).toMatchObject({ tenant: id, records: { 'test/invoices.jsonl': 1 } });
    expect(await administered('tenants', 'verify-export', to)).toEqual(manifest);
    expect((await administer('tenants', 'verify-export', to)).out).toMatch(
      / is whole: ten_.*, 1 invoices, 0 credit notes, /,
    );
    await rm(join(to, 'keys.json'));
    expect(await administer('tenants', 'verify-export', to)).toMatchObject({
      code: 1,
      err: expect.stringContaining('keys.json is missing'),
    });
    expect(await administer('tenants', 'export', id, '--to', to)).toMatchObject({
      code: 1,
      err: expect.stringContaining('is not empty'),
    });

    for (const wrong of [[], ['--confirm', 'ten_other'], ['--confirm', id, '--dry-run'], ['--confirm', '']])
      expect((await administer('tenants', 'erase', id, ...wrong)).code).toBe(2);
    const counts = { keys: 2, members: 0, testInvoices: 1, liveDecided: 0, liveUnderWay: 0 };
    expect(await administered('tenants', 'erase', id, '--dry-run')).toMatchObject({
      tenant: id,
      retained: 0,
      ...counts,
    });
    expect((await administer('tenants', 'erase', id, '--dry-run')).out).toMatch(/^1 +test invoices with documents$/m);
    expect(await statusWith(secretKey)).toBe(200);
    const erased = await administer('tenants', 'erase', id, '--confirm', id, '--json');
    expect(JSON.parse(erased.out)).toEqual({
      tenant: id,
      done: false,
      under_way: 0,
      retained: 0,
      waiting_for_operator: [],
    });
    expect(await statusWith(secretKey)).toBe(401);
    const entry = { action: 'tenant.erased', subject: id, tenantId: 'installation' };
    expect(await service.app.store.db.collection('audit_log').findOne(entry)).toMatchObject({
      actor: { kind: 'operator' },
    });
    // What is left of it: nothing.
    const rest = await administered('tenants', 'export', id, '--to', join(folder, 'rest'));
    expect(rest.records).toEqual({ 'live/kept.jsonl': 0 });
    expect(await administer('tenants', 'erase', 'ten_x', '--confirm', 'ten_x')).toMatchObject({
      code: 1,
      err: expect.stringContaining("There is no tenant 'ten_x'"),
    });
  });
});

describe('an erasure of a tenant with an invoice that waits for an operator', () => {
  it('names it, also before anything is erased, and what to do', async () => {
    const { id: tenantId } = await service.tenant();
    const { db } = service.app.store;
    const blocked = { ...NEW_WORK, stage: 'transmit', blocked: 'digest_mismatch', dueAt: NEVER, claims: 0 } as const;
    const waiting = { environment: 'live', status: 'signing', tenantId } as const;
    const work = { ...blocked, since: new Date() };
    const invoices = [pendingInvoice({ ...waiting, work }), pendingInvoice({ ...waiting, work: null })];
    const documents = invoices.map((invoice) => documentOf(invoice, newCreationMoment().order, null));
    await db.collection<{ _id: string }>('invoices').insertMany(documents);
    const named = new RegExp(
      `2 live invoices.* under way.*wait for an operator.*: ${invoices[0]?.id}\\. .*invoices attention.*invoices retry`,
      's',
    );
    expect((await administer('tenants', 'erase', tenantId, '--dry-run')).out).toMatch(named);
    expect((await administer('tenants', 'erase', tenantId, '--confirm', tenantId)).out).toMatch(named);
    const again = await administer('tenants', 'erase', tenantId, '--confirm', tenantId, '--json');
    expect(JSON.parse(again.out)).toMatchObject({ under_way: 2, waiting_for_operator: [invoices[0]?.id] });
    await db.collection('invoices').deleteMany({ tenantId });
  });
});

describe('an export of a tenant that is erased meanwhile', () => {
  it('fails without a manifest, and nothing is stored of the tenant', async () => {
    const { id: tenantId } = await service.tenant();
    const { db } = service.app.store;
    const invoices = Array.from({ length: 3000 }, () => pendingInvoice({ tenantId, work: null }));
    const documents = invoices.map((invoice) => documentOf(invoice, newCreationMoment().order, null));
    await db.collection<{ _id: string }>('invoices').insertMany(documents);
    const to = join(folder, 'erased');
    const exporting = administer('tenants', 'export', tenantId, '--to', to);
    await expect.poll(() => existsSync(join(to, 'tenant.json')), { interval: 2 }).toBe(true);
    await createErasureStore(db).begin(tenantId, new Date());
    // It had still to read most of them.
    expect(existsSync(join(to, 'test', 'events.jsonl'))).toBe(false);
    expect(await exporting).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('was erased while it was exported'),
    });
    expect(existsSync(join(to, 'manifest.json'))).toBe(false);
    expect(await db.collection('audit_log').countDocuments({ subject: tenantId, action: 'tenant.exported' })).toBe(0);
  });
});

describe('the embedded store', () => {
  it('is started for the command, or used through the running engine', async () => {
    const dataDir = join(folder, 'embedded');
    const env = { DATA_DIR: dataDir };
    const tenant = jsonOf(await runHere(['tenants', 'create', '--name', 'Alone', '--json'], env));
    const engine = await startEngine({ dataDir: join(dataDir, 'db') });
    try {
      const create = ['keys', 'create', '--tenant', tenant.id, '--environment', 'test', '--kind', 'publishable'];
      const key = jsonOf(await runHere([...create, '--json'], env));
      expect(key.key).toMatch(/^pk_test_/);
    } finally {
      await engine.close();
    }
    expect(jsonOf(await runHere(['keys', 'list', '--tenant', tenant.id, '--json'], env))).toHaveLength(1);
  });
});

describe('numbers continue', () => {
  it('marks lost numbers of a stopped service, is recorded, and says what it refuses', async () => {
    const env = { ...settings, MONGODB_URL: withDatabase(mongo.uri, freshDbName('restored')) };
    const { id } = jsonOf(await runHere(['tenants', 'create', '--name', 'Restored', '--json'], env));
    const mark = (tenant: string, number: string, ...more: string[]) =>
      runHere(['numbers', 'continue', tenant, number, ...more], env);
    const said = '2026-000001 to 2026-000005 will not be given to another invoice. The next one gets 2026-000006.\n';
    const embedded = { DATA_DIR: join(folder, 'restored') };
    const engine = await startEngine({ dataDir: join(embedded.DATA_DIR, 'db') });
    const beside = await runHere(['numbers', 'continue', id, '2026-000005'], embedded);
    expect(beside).toMatchObject({ code: 1, err: expect.stringContaining('The service runs') });
    await engine.close();
    // A mistyped year has no numbers either, and the series that was meant would stay unprotected.
    const unsure = `${id} has no live number of 2026 yet, and its first one would be 2026-000006. If the series is right, repeat this with --confirm 2026-000005.\n`;
    expect(await mark(id, '2026-000005')).toEqual({ code: 1, out: '', err: unsure });
    const other = await mark(id, '2026-000005', '--confirm', '2026-000004');
    expect(other).toMatchObject({ code: 2, err: expect.stringContaining("--confirm must be '2026-000005'") });
    const ahead = await mark(id, '9062-000005', '--confirm', '9062-000005');
    expect(ahead).toMatchObject({ code: 1, err: expect.stringContaining('the year 9062 has not begun') });
    expect(await mark(id, '2026-000005', '--confirm', '2026-000005')).toEqual({ code: 0, out: said, err: '' });
    expect(await mark(id, '2026-000004')).toMatchObject({ code: 1, err: expect.stringContaining('has reached') });
    expect(await mark('ten_x', '2026-000009')).toMatchObject({ code: 1, err: expect.stringContaining('no tenant') });
    expect(await mark(id, '2026-9')).toMatchObject({ code: 2, err: expect.stringContaining("not '2026-9'") });
    const { auditLog, close } = await administration.openAdministration(readConfig(env));
    const begins = `${id} has no live number of AV-2026 yet, and its first one would be AV-2026-000003. If the series is right, repeat this with --confirm AV-2026-000002.\n`;
    expect(await mark(id, 'AV-2026-000002')).toEqual({ code: 1, out: '', err: begins });
    expect(await mark(id, 'AV-2026-000002', '--confirm', 'AV-2026-000002')).toMatchObject({
      out: 'AV-2026-000001 to AV-2026-000002 will not be given to another invoice. The next one gets AV-2026-000003.\n',
    });
    const all = { from: null, until: null, actorId: null, subject: null };
    const latest = await auditLog.page({ tenantId: id, limit: 2, cursor: null, ...all });
    await close();
    expect(latest).toMatchObject({
      rows: [
        { action: 'numbers.continued', details: { from: 'AV-2026-000001', until: 'AV-2026-000002' } },
        { action: 'numbers.continued', details: { from: '2026-000001', until: '2026-000005' } },
      ],
    });
    // A worker of the service of this file runs.
    const running = await administer('numbers', 'continue', (await service.tenant()).id, '2026-000005');
    expect(running).toMatchObject({ code: 1, err: expect.stringContaining('a worker of the service runs') });
  });
});

describe('numbers ledger', () => {
  it('has the numbers of a period as GraphQL has them, with their gaps', async () => {
    const { id, secretKey } = await service.tenant();
    const client = new Client(service.url, secretKey);
    const year = String(moroccanYear(new Date()));
    const created: { id: string; status: string }[] = [];
    for (const ice of ['001234567000089', '999000000000102']) {
      const { body } = await client.post('/v1/invoices', invoiceBody({ customer: { ice, name: 'Atlas' } }));
      created.push({ id: body.id, status: (await client.settled(body.id)).status });
    }
    const lost = { _id: seriesKey({ tenantId: id, environment: 'test' }, { name: year, serial: 5 }), lostFrom: 3 };
    const numbers = service.app.store.db.collection<{ _id: string }>('invoice_numbers');
    await numbers.insertOne({ ...lost, invoiceId: 'lost' } as never);
    const query = `query ($period: String!) {
      periodSeries(period: $period) { series count lost { number through } }
      periodNumbers(period: $period) { nodes { id number fate document { id customerName } } } }`;
    const { data } = (await client.graphql(query, { period: year })).body;
    const six = (serial: number) => `${year}-00000${serial}`;
    expect(data.periodSeries).toEqual([
      { series: year, count: 2, lost: [{ number: six(3), through: six(5) }] },
      { series: `AV-${year}`, count: 0, lost: [] },
    ]);
    expect(data.periodNumbers.nodes).toEqual([
      ...created.map(({ id, status }, n) => ({
        id: six(n + 1),
        number: six(n + 1),
        fate: status,
        document: { id, customerName: 'Atlas' },
      })),
      { id: six(5), number: six(3), fate: 'lost', document: null },
    ]);
    const told = await administer('numbers', 'ledger', id, year, '--environment', 'test', '--json');
    const [invoices, notes, ...rows] = told.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect([invoices, notes]).toMatchObject(data.periodSeries);
    expect(rows.map(({ number, through, fate, document }) => [number, through, fate, document])).toEqual(
      data.periodNumbers.nodes.map((node: { number: string; id: string; fate: string; document: { id: string } }) => [
        node.number,
        node.id,
        node.fate,
        node.document?.id ?? null,
      ]),
    );
    const text = (await administer('numbers', 'ledger', id, year, '--environment', 'test')).out;
    expect(text).toContain(`${year}: ${six(1)} to ${six(5)}, 2 numbers, without ${six(3)} to ${six(5)}`);
    expect(text).toMatch(new RegExp(`${six(3)} to ${six(5)} .*passed over after older data was restored`));
    expect(await administer('numbers', 'ledger', id, `${year}-13`)).toMatchObject({
      code: 1,
      err: expect.stringContaining('period must be'),
    });
  });
});

describe('numbers list', () => {
  it('has the last and the next number of each series, and tenants with live keys that have none', async () => {
    const env = { ...settings, MONGODB_URL: withDatabase(mongo.uri, freshDbName('series')) };
    const { tenants, store, close } = await administration.openAdministration(readConfig(env));
    const [atlas, rif, test] = ['ten_1', 'ten_2', 'ten_3'];
    const year = moroccanYear(new Date());
    for (const [n, id] of [atlas, rif, test].entries())
      await tenants.insert({ id, name: `Tenant ${n}`, profile: {}, createdAt: new Date(n) });
    const keys = createManageKeys(tenants, async () => [], null);
    for (const id of [atlas, rif]) await keys.create(id, 'secret', 'live');
    const take = (of: string, environment: 'live' | 'test', name: string, serial: number) => ({
      _id: seriesKey({ tenantId: of, environment }, { name, serial }),
      invoiceId: 'inv_1',
    });
    const [present, past] = [`${year}`, `${year - 2}`];
    const taken = [take(atlas, 'live', present, 9), take(atlas, 'live', present, 123), take(atlas, 'live', past, 7)];
    const notes = [take(atlas, 'live', `AV-${past}`, 3), take(atlas, 'live', `AV-${year - 1}`, 4)];
    const others = [take(atlas, 'test', present, 999), take(test, 'test', present, 5)];
    const own = { _id: ownNumberKey({ tenantId: atlas, environment: 'live' }, 'FA 1'), invoiceId: 'inv_2' };
    await store.db.collection<{ _id: string }>('invoice_numbers').insertMany([...taken, ...notes, ...others, own]);
    await close();
    const six = (serial: number) => String(serial).padStart(6, '0');
    const row = (tenant: string, name: string, series: string, last: number) => ({
      tenant,
      name,
      series,
      last: last === 0 ? null : `${series}-${six(last)}`,
      next: `${series}-${six(last + 1)}`,
    });
    expect(jsonOf(await runHere(['numbers', 'list', '--json'], env))).toEqual([
      row(atlas, 'Tenant 0', present, 123),
      row(atlas, 'Tenant 0', `AV-${present}`, 0),
      row(atlas, 'Tenant 0', `AV-${year - 1}`, 4),
      row(atlas, 'Tenant 0', past, 7),
      row(atlas, 'Tenant 0', `AV-${past}`, 3),
      row(rif, 'Tenant 1', present, 0),
      row(rif, 'Tenant 1', `AV-${present}`, 0),
    ]);
    const { out } = await runHere(['numbers', 'list', '--tenant', rif], env);
    expect(out).toMatch(new RegExp(`ten_2 +Tenant 1 +${year} +- +${year}-000001\n`));
    expect(out).not.toContain(atlas);
    expect(await runHere(['numbers', 'list', '--tenant', 'ten_9'], env)).toMatchObject({ code: 1 });
  });
});

describe('doctor', () => {
  it('finds the service and its store', async () => {
    const { code, out } = await runHere(['doctor'], {
      ...settings,
      PORT: new URL(service.url).port,
      CHROMIUM_PATH: join(folder, 'no-browser'),
    });
    expect(code).toBe(0);
    expect(out).toContain(`answers at ${service.url}`);
    expect(out).toMatch(/✔ store +MongoDB server/);
    expect(out).toMatch(/✔ certificate +.*Fatoura TEST/);
    expect(out).toMatch(/! PDF .*CHROMIUM_PATH/s);
    expect(out).toMatch(/. open files +(at most|no limit)/);
    expect(out).toMatch(/. time zone +Morocco is at UTC/);
    expect(out).toMatch(/✔ conditions +nothing needs attention/);
  });

  it('leaves no folder, database or key behind', async () => {
    const [missing, empty] = [join(folder, 'missing'), join(folder, 'empty')];
    await mkdir(empty);
    for (const DATA_DIR of firstOf([missing, empty])) {
      const { out } = await runHere(['doctor'], { DATA_DIR, PORT: '0', CHROMIUM_PATH: join(folder, 'no-browser') });
      expect(out).toMatch(/✔ store +embedded.*tested in a temporary folder/);
      expect(out).toMatch(/✔ certificate +.*tested in a temporary folder/);
    }
    expect(await readdir(empty)).toEqual([]);
    expect(await readdir(folder)).not.toContain('missing');
  });

  it('fails without a store', async () => {
    const dataDir = join(folder, 'broken');
    await mkdir(dataDir);
    await writeFile(join(dataDir, 'db'), 'not a folder');
    const env = { DATA_DIR: dataDir, CHROMIUM_PATH: join(folder, 'no-browser') };
    const { code, out } = await runHere(['doctor'], env);
    expect(code).toBe(1);
    expect(out).toMatch(/✘ store .*Fix this before you start the service: store/s);
  });
});

describe('demo', () => {
  it('follows the samples through a running service, verifies a document and leaves no key', async () => {
    const { code, out, err } = await runHere(['demo'], { ...settings, PORT: new URL(service.url).port });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain(`the running service at ${service.url}`);
    expect(out).not.toContain('\u001b');
    // The statuses in between are reported only if the stream is opened in time, which a loaded machine may not do.
    for (const status of ['pending', 'accepted', 'rejected']) {
      expect(out).toMatch(new RegExp(`^\\[ +\\d+\\.\\d{3} s\\] .*: ${status}`, 'm'));
    }
    expect(out).toContain('VALID  inv_');

    const demo = join(settings.DATA_DIR ?? '', 'demo');
    const files = await readdir(demo);
    const pdf = files.find((name) => name.endsWith('.pdf')) ?? '';
    expect(await readFile(join(demo, pdf))).toEqual(STAND_IN_PDF);
    const remembered = await createInstallationRepository(service.app.store.db).demoTenant();
    const keys = await service.app.tenants.keysOf(remembered ?? '');
    expect(keys.at(-1)?.revokedAt).toEqual(expect.any(Date));
    expect(keys.slice(0, -1).every(({ revokedAt }) => revokedAt === null)).toBe(true);

    const xml = join(demo, files.find((name) => name.endsWith('.xml')) ?? '');
    expect(out).toContain('Signed by this service');
    const unchecked = await administer('verify', xml, '--json');
    expect(unchecked.code).toBe(3);
    const found = JSON.parse(unchecked.out);
    expect(found).toMatchObject({ verdict: 'unchecked', valid: true, trusted: null });
    const valid = await administered('verify', xml, '--fingerprint', found.signer.sha256_fingerprint);
    expect(valid).toMatchObject({
      verdict: 'valid',
      valid: true,
      trusted: true,
      signer: { subject: expect.stringContaining('Fatoura TEST') },
      covered: { type: 'Invoice', number: expect.stringMatching(/^\d{4}-\d{6}$/) },
    });
    const changed = join(folder, 'changed.xml');
    await writeFile(changed, (await readFile(xml, 'utf8')).replace('9000.00', '9000.01'));
    const invalid = await administer('verify', changed, '--json');
    expect(invalid.code).toBe(1);
    expect(JSON.parse(invalid.out)).toMatchObject({
      verdict: 'invalid',
      valid: false,
      failed: 'digest',
      reason: expect.any(String),
    });
    const said = await runHere(['verify', changed], {});
    expect(said).toMatchObject({ code: 1, out: expect.stringContaining('NOT VALID'), err: '' });
  });

  it('sends to a given address with a given key, and reports an invoice that cannot be sent', async () => {
    const url = service.url;
    const { code, out } = await runHere(['demo', '--url', url, '--key', 'sk_test_unknown'], settings);
    expect(code).toBe(1);
    expect(out).toContain(`Sending 6 invoices to ${url}`);
    expect(out).toContain('invalid_api_key: ');
  });

  it('starts a service if none runs; when interrupted, it stops the service and revokes its key', async () => {
    const dataDir = join(folder, 'own');
    const { child, ended } = start(['demo'], {
      DATA_DIR: dataDir,
      PORT: '0',
      CHROMIUM_PATH: join(folder, 'no-browser'),
    });
    // Without a browser there is no PDF, so the demo is still waiting when it is interrupted.
    await new Promise<void>((resolve) => {
      let shown = '';
      child.stdout.on('data', (chunk) => {
        shown += chunk;
        if (shown.includes('rejected as expected')) resolve();
      });
    });
    child.kill('SIGINT');
    const { code, out, err } = await ended;
    expect({ code, err }).toEqual({ code: 130, err: 'Interrupted.\n' });
    expect(out).toContain('a temporary service at http://127.0.0.1:');
    expect(out).toMatch(/shown only once.*http:\/\/127\.0\.0\.1:\d+\/ops\/jobs.*sk_test_/s);
    // The samples are in the tenant whose owner the first account is, not beside it.
    const tenants = jsonOf(await runHere(['tenants', 'list', '--json'], { DATA_DIR: dataDir }));
    expect(tenants).toMatchObject([{ name: 'Demo' }]);
    const keys = jsonOf(await runHere(['keys', 'list', '--tenant', tenants[0].id, '--json'], { DATA_DIR: dataDir }));
    expect(keys.map((key: { revoked_at: string | null }) => key.revoked_at !== null)).toEqual([false, false, true]);
    expect((await stat(dataDir)).mode & 0o077).toBe(0);
  });
});

describe('PUBLIC_URL and SANDBOX_URL', () => {
  const sites = { PUBLIC_URL: 'https://api.invalid', SANDBOX_URL: 'https://sandbox.invalid' };
  /** Runs a command beside a service at such addresses. */
  async function beside(run: (behind: TestService, env: Record<string, string>) => Promise<void>): Promise<void> {
    // Both services take jobs from one store, so either may sign; they share the certificate of one folder.
    const configured = { ...settings, ...sites };
    const behind = await startService(configured);
    await run(behind, { ...configured, PORT: new URL(behind.url).port }).finally(() => behind.app.close());
  }

  it('need not be reachable: commands call the configured service as a proxy would', () =>
    beside(async (behind, env) => {
      const { secretKey } = await behind.tenant();
      expect((await new Client(behind.url, secretKey).get('/v1/invoices')).status).toBe(401);
      const triggered = await runHere(['trigger', 'invoice.accepted', '--key', secretKey], env);
      expect(triggered).toMatchObject({ code: 0, err: '' });
    }));

  testLong('need not be reachable for the demo either', () =>
    beside(async (behind, env) => {
      const { code, out, err } = await runHere(['demo'], env);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out).toContain(`the running service at ${behind.url}`);
      expect(out).toContain('VALID  inv_');
    }),
  );
});

describe('invoices', () => {
  it('attention lists an invoice that fails repeatedly, and retry continues it', async () => {
    const client = new Client(service.url, (await service.tenant()).secretKey);
    // The authority decides after 10 s; until then the job waits.
    const { body } = await client.post('/v1/invoices', invoiceFor('999000000000393'));
    await expect.poll(async () => (await client.get(`/v1/invoices/${body.id}`)).body.status).toBe('transmitted');
    const change = async ($set: Record<string, unknown>) => {
      const invoices = service.app.store.db.collection<{ _id: string }>('invoices');
      expect((await invoices.updateOne({ _id: body.id, work: { $ne: null } }, { $set })).matchedCount).toBe(1);
    };
    // It must not be decided while the commands run, however long they take.
    const later = new Date(Date.now() + 3_600_000);
    await change({ 'work.dueAt': later });
    const calm = (await administer('invoices', 'attention')).out;
    expect(calm).toContain('No invoice needs attention');
    expect(calm).not.toContain('No worker runs');
    await change({ 'work.claims': 7 });
    const shown = await administer('invoices', 'attention', '--json');
    expect(JSON.parse(shown.out)).toMatchObject([{ invoice: body.id, stage: 'decide', reason: 'internal_error' }]);
    expect((await administer('invoices', 'attention')).out).toMatch(new RegExp(`${body.id} .* decide +internal_error`));
    const ATTENTION = 'query ($id: ID!) { invoice(id: $id) { attention { reason message nextAttemptAt } } }';
    const seen = async (key: string) =>
      (await new Client(service.url, key).graphql(ATTENTION, { id: body.id })).body.data.invoice.attention;
    expect(await seen(body.client_secret)).toBeNull();
    const { attention } = (await client.graphql(ATTENTION, { id: body.id })).body.data.invoice;
    expect(attention).toMatchObject({
      reason: 'internal_error',
      message: expect.stringContaining('do not send it again'),
    });
    // Its 10 s are over.
    const submissions = service.app.store.db.collection<{ _id: string }>('mock_submissions');
    expect((await submissions.updateOne({ _id: body.id }, { $set: { decisionAt: new Date() } })).matchedCount).toBe(1);
    expect((await administer('invoices', 'retry', body.id)).code).toBe(0);
    expect((await client.settled(body.id)).status).toBe('accepted');
    const [unknown, ended] = ["There is no invoice 'inv_x'.\n", 'The processing of this invoice has ended.\n'];
    expect(await administer('invoices', 'retry', 'inv_x')).toEqual({ code: 1, out: '', err: unknown });
    // Until the PDF, for which nobody waits, is drawn.
    await expect.poll(() => administer('invoices', 'retry', body.id)).toEqual({ code: 1, out: '', err: ended });
  });
});
