import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../clients/cli/src/commands.ts';
import { buildCli } from '../../scripts/build-cli.ts';
import { deliveryHeaders, signingKey } from '../../src/domain/webhook/signature.ts';
import { startFaultyProxy } from '../support/faulty-proxy.ts';
import { SLOW_CUSTOMER } from '../support/held-decision.ts';
import { csvOf, row } from '../support/imports.ts';
import { type Receiver, startReceiver, verifies } from '../support/receiver.ts';
import { startService, type TestService, type TestTenant } from '../support/service.ts';
import { hasTool } from '../support/tools.ts';

// Takes more CPU than other files here: 60 starts of the built command, because its users start it too.

/** The most that a start may load, bytes; `npm run bench command` measures the time that it takes. */
const START_BYTES = 100_000;
const INVOICE = {
  amount: 24_000,
  currency: 'MAD',
  customer: { ice: '001234567000089', name: 'Atlas SARL' },
  lines: [{ description: 'Conseil', quantity: 2, unit_price: 10_000 }],
};

let folder: string;
let program: string;
let service: TestService;
let tenant: TestTenant;
let receiver: Receiver;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fatoura-'));
  [service, receiver] = await Promise.all([
    startService({ RATE_LIMIT_SECRET: '1000000', RATE_LIMIT_ADDRESS: '1000000', ALLOW_INSECURE_WEBHOOKS: 'true' }),
    startReceiver(),
    buildCli(fileURLToPath(new URL('../..', import.meta.url)), join(folder, 'dist')),
  ]);
  tenant = await service.tenant();
  program = join(folder, 'dist/fatoura.js');
});
afterAll(async () => {
  await Promise.all([service.close(), receiver.close()]);
  await rm(folder, { recursive: true, force: true });
});

interface Circumstances {
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Starts the built command; it has no settings but these, and a folder of settings of its own. */
function start(args: readonly string[], environment: Readonly<Record<string, string>> = connected()) {
  return spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH, HOME: folder, XDG_CONFIG_HOME: join(folder, 'config'), ...environment },
  });
}

const connected = () => ({ FATOURA_URL: service.url, FATOURA_KEY: tenant.secretKey });

async function run(args: readonly string[], { input = '', environment }: Circumstances = {}) {
  const child = start(args, environment);
  child.stdin.end(input);
  const [out, err] = ['', ''].map(() => ({ text: '' })) as [{ text: string }, { text: string }];
  child.stdout.setEncoding('utf8').on('data', (part) => (out.text += part));
  child.stderr.setEncoding('utf8').on('data', (part) => (err.text += part));
  const [code] = await once(child, 'close');
  return { code, out: out.text, err: err.text };
}

/** The object that a command prints with --json. Only a command that waits remarks anything. */
async function json(...args: string[]) {
  const { code, out, err } = await run([...args, '--json']);
  const remark = args.includes('--wait') ? expect.stringContaining(JSON.parse(out).id) : '';
  expect([args.join(' '), code, err]).toEqual([args.join(' '), 0, remark]);
  return JSON.parse(out);
}

/** Starts a command, interrupts it as Ctrl-C does once `isReady` says so of standard error, and reads what it said. */
async function interrupted(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  isReady: (err: string) => boolean,
) {
  const child = start(args, environment);
  const texts = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (part) => (texts.out += part));
  child.stderr.setEncoding('utf8').on('data', (part) => (texts.err += part));
  await expect.poll(() => isReady(texts.err), { timeout: 20_000 }).toBe(true);
  child.kill('SIGINT');
  const [code] = await once(child, 'close');
  return { code, ...texts };
}

describe('fatoura', () => {
  it(`loads at most ${START_BYTES / 1000} kB to start, of its own files alone`, async () => {
    const coverage = join(folder, 'coverage');
    const version = spawnSync(process.execPath, [program, '--version'], {
      encoding: 'utf8',
      env: { ...process.env, NODE_V8_COVERAGE: coverage },
    });
    expect(version.stdout).toMatch(/^fatoura \d/);
    const [report] = await readdir(coverage);
    const { result }: { result: { url: string }[] } = JSON.parse(
      await readFile(join(coverage, String(report)), 'utf8'),
    );
    const loaded = result.map(({ url }) => url).filter((url) => !url.startsWith('node:'));
    expect(loaded).toContain(String(pathToFileURL(program)));
    expect(loaded.filter((url) => dirname(fileURLToPath(url)) !== dirname(program))).toEqual([]);
    const sizes = await Promise.all(loaded.map(async (url) => (await stat(new URL(url))).size));
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(START_BYTES);
  });

  it('explains each command, each of which has --json', async () => {
    expect(COMMANDS.filter(({ options }) => !('json' in options)).map(({ name }) => name)).toEqual([]);
    const { out } = await run(['--help']);
    for (const { name } of COMMANDS) expect(out).toContain(name);
    const help = await run(['help', 'invoices', 'create']);
    expect(help).toMatchObject({ code: 0, out: expect.stringContaining('Usage: fatoura invoices create') });
    expect(await run(['invoices', 'pay'])).toMatchObject({ code: 2 });
  });

  describe('login', () => {
    const nobody = () => ({ FATOURA_URL: service.url });
    const config = (name: string) => ({ ...nobody(), XDG_CONFIG_HOME: join(folder, name) });

    it('keeps a key that works in a file that only its user can read, and uses it', async () => {
      const environment = config('login');
      const wrong = await run(['login'], { input: `sk_test_${'x'.repeat(32)}`, environment });
      expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining('invalid_api_key') });
      expect((await run(['profiles', '--json'], { environment })).out).toBe('[]\n');
      expect((await run(['login'], { input: 'pk_test_x', environment })).code).toBe(2);

      const done = await run(['login', '--file', '--json'], { input: `${tenant.secretKey}\n`, environment });
      const file = join(folder, 'login/fatoura/profiles.json');
      expect(JSON.parse(done.out)).toEqual({ profile: 'test', url: service.url, environment: 'test', kept: file });
      expect(done.out + done.err).not.toContain(tenant.secretKey);
      expect((await stat(file)).mode & 0o777).toBe(0o600);

      const { FATOURA_URL: _, ...withoutAddress } = environment;
      const listed = await run(['invoices', 'list', '--json'], { environment: withoutAddress });
      expect(JSON.parse(listed.out)).toBeInstanceOf(Array);
      expect(await run(['invoices', 'list', '--profile', 'other'], { environment })).toMatchObject({ code: 2 });

      // The key goes to the address of its profile only.
      for (const [args, elsewhere] of [
        [['--url', receiver.url], withoutAddress],
        [[], { ...environment, FATOURA_URL: receiver.url }],
        [['--profile', 'test', '--url', receiver.url], environment],
        [['--url', `${service.url}/other`], withoutAddress],
      ] as const) {
        const refused = await run(['invoices', 'list', ...args], { environment: elsewhere });
        expect(refused).toMatchObject({ code: 2, err: expect.stringContaining(`is for ${service.url}`) });
      }

      // Any other key goes there only if the profile is named.
      const { secretKey } = await service.tenant();
      for (const [args, elsewhere, source] of [
        [['--key', secretKey], withoutAddress, '--key'],
        [[], { ...withoutAddress, FATOURA_KEY: secretKey }, 'FATOURA_KEY'],
      ] as const) {
        const refused = await run(['invoices', 'list', ...args], { environment: elsewhere });
        expect(refused).toMatchObject({
          code: 2,
          err: expect.stringContaining(`${source} is not the key of the profile 'test'`),
        });
        const named = { ...elsewhere, FATOURA_PROFILE: 'test' };
        expect(await run(['invoices', 'list', ...args], { environment: named })).toMatchObject({ code: 0 });
      }

      await chmod(file, 0o644);
      const open = await run(['invoices', 'list'], { environment: withoutAddress });
      expect(open).toMatchObject({ code: 2, err: expect.stringContaining('chmod 600') });
      await chmod(file, 0o600);
      expect(await run(['logout'], { environment })).toMatchObject({ code: 0 });
      expect(await readFile(file, 'utf8')).not.toContain(tenant.secretKey);
      expect((await run(['invoices', 'list'], { environment })).code).toBe(2);
    });

    it.skipIf(process.platform !== 'linux')('keeps it in the keyring where there is one', async () => {
      const tools = await mkdtemp(join(folder, 'tools-'));
      // Stands for libsecret's program: the arguments are those of its manual.
      const script = `#!/bin/sh
case "$1 $*" in
  "store store --label=Fatoura shop service fatoura profile shop") cat > "${tools}/kept" ;;
  "lookup lookup service fatoura profile shop") cat "${tools}/kept" ;;
  "clear clear service fatoura profile shop") rm "${tools}/kept" ;;
  *) exit 1 ;;
esac`;
      await writeFile(join(tools, 'secret-tool'), script, { mode: 0o755 });
      const environment = { ...config('keyring'), PATH: `${tools}${delimiter}${process.env.PATH}` };
      const login = await run(['login', '--profile', 'shop', '--json'], { input: tenant.secretKey, environment });
      expect(JSON.parse(login.out)).toMatchObject({ profile: 'shop', kept: 'keyring' });
      expect(await readFile(join(tools, 'kept'), 'utf8')).toBe(tenant.secretKey);
      expect(await readFile(join(folder, 'keyring/fatoura/profiles.json'), 'utf8')).not.toContain('sk_test');
      expect((await run(['invoices', 'list', '--profile', 'shop'], { environment })).code).toBe(0);
      expect((await run(['logout'], { environment })).code).toBe(0);
      await expect(stat(join(tools, 'kept'))).rejects.toThrow();

      // A later login that keeps its key elsewhere leaves none behind.
      await run(['login', '--profile', 'shop'], { input: tenant.secretKey, environment });
      const file = ['login', '--profile', 'shop', '--file'];
      expect((await run(file, { input: tenant.secretKey, environment })).code).toBe(0);
      await expect(stat(join(tools, 'kept'))).rejects.toThrow();
      expect((await run(['invoices', 'list', '--profile', 'shop'], { environment })).code).toBe(0);
    });
  });

  it('creates, waits, reads, lists, follows, credits and replaces invoices', async () => {
    const example = await json('invoices', 'create', '--example', '--wait', '--include', 'number');
    expect(example).toMatchObject({ status: 'accepted', amount: 12_000 });
    const file = join(folder, 'invoice.json');
    await writeFile(file, JSON.stringify(INVOICE));
    const order = ['invoices', 'create', '--file', file, '--order', '1042'];
    const made = await json(...order);
    expect(made).toMatchObject({ replayed: false, client_secret: expect.stringContaining('_secret_') });
    expect(await json(...order)).toMatchObject({ id: made.id, replayed: true });
    const piped = await run(['invoices', 'create', '--file', '-', '--order', '1042', '--json'], {
      input: JSON.stringify(INVOICE),
    });
    expect(JSON.parse(piped.out)).toMatchObject({ id: made.id, replayed: true });

    const { code, out } = await run(['invoices', 'follow', made.id, '--json']);
    expect([code, JSON.parse(out.trim().split('\n').at(-1) ?? '')]).toEqual([
      0,
      expect.objectContaining({ id: made.id, status: 'accepted' }),
    ]);
    const shown = await run(['invoices', 'get', example.number]);
    expect(shown.out).toMatch(new RegExp(`id +${example.id}\\n(.*\\n)*status +accepted\\namount +120\\.00 MAD`));
    const listed = await json('invoices', 'list', '--status', 'accepted', '--most', '2');
    expect(listed.map(({ id }: { id: string }) => id)).toEqual([made.id, example.id]);

    const credit = ['invoices', 'credit', made.id, '--reason', 'return', '--lines', '1:1'];
    expect(await json(...credit)).toMatchObject({ credit_note: { amount: 12_000 } });
    expect(await json('invoices', 'replace', example.id, file, '--reason', 'error')).toMatchObject({
      credit_note: { amount: 12_000 },
    });
    // The keys are those that the clients send.
    const again = ['invoices', 'credit', made.id, '--reason', 'error', '--lines', '1:1', '--idempotency-key'];
    const credited = await json(...again, 'retour é');
    expect(await json(...again, 'retour %C3%A9')).toEqual({ ...credited, replayed: true });
  });

  it('says by which option a lost answer is asked for again', async () => {
    const proxy = await startFaultyProxy(service.url);
    const environment = { ...connected(), FATOURA_URL: proxy.url };
    const losses = Array.from({ length: 5 }, () => 'lose-answer' as const);
    const lost = async (...args: string[]) => {
      proxy.next(losses);
      return run(args, { environment });
    };
    const example = ['invoices', 'create', '--example'];
    const { code, err } = await lost(...example);
    const [, key = ''] = /ask again with --idempotency-key ([\w-]+)\.\n/.exec(err) ?? [];
    expect([code, key.length]).toEqual([1, 36]);
    const again = await run([...example, '--idempotency-key', key, '--json'], { environment });
    expect(JSON.parse(again.out)).toMatchObject({ replayed: true });
    const order = await lost(...example, '--order', "l'été");
    expect(order.err).toContain(String.raw`). It may have been done: ask again with --order 'l'\''été'.`);
    const credit = await lost('invoices', 'credit', 'inv_1', '--reason', 'return', '--json');
    expect(JSON.parse(credit.out).error).toMatchObject({
      status: null,
      may_be_done: true,
      idempotency_key: expect.stringMatching(/^[\w-]{36}$/),
    });
    const refused = await run(['invoices', 'credit', 'inv_1', '--reason', 'return'], { environment });
    expect(refused.err).not.toContain('ask again');
    await proxy.close();
  });

  it('says so too if a later attempt is refused, and not of what was only refused', async () => {
    const proxy = await startFaultyProxy(service.url);
    const environment = { ...connected(), FATOURA_URL: proxy.url };
    const [example, credit] = [
      ['invoices', 'create', '--example'],
      ['invoices', 'credit', 'inv_1', '--reason', 'return'],
    ] as const;
    const refusals = [
      { status: 429, retryAfter: '90' },
      { status: 401 },
      { status: 403 },
      { status: 404 },
      { status: 301, location: 'http://elsewhere.example' },
    ] as const;
    for (const refusal of refusals) {
      proxy.next(['lose-answer', refusal]);
      const { code, err } = await run(example, { environment });
      const [, key = ''] = /It may have been done: ask again with --idempotency-key ([\w-]{36})\.\n/.exec(err) ?? [];
      expect([refusal.status, code, key]).toEqual([refusal.status, 1, proxy.requests[0]?.key]);
      const again = await run([...example, '--idempotency-key', key, '--json'], { environment });
      expect(JSON.parse(again.out)).toMatchObject({ replayed: true });

      proxy.next([refusal]);
      expect((await run(example, { environment })).err).not.toContain('ask again');
    }
    // The option that has the key, as a shell takes it.
    for (const [args, option] of [
      [['--order', '9001', '--idempotency-key', 'order 9001 again'], "--idempotency-key 'order 9001 again'"],
      [['--order', 'a\nb'], "--idempotency-key 'order a%0Ab'"],
      [['--idempotency-key=-1'], '--idempotency-key=-1'],
    ] as const) {
      proxy.next(['lose-answer', { status: 403 }]);
      expect((await run([...example, ...args], { environment })).err).toContain(`: ask again with ${option}.\n`);
    }
    proxy.next(['lose-answer', { status: 403 }]);
    expect((await run(credit, { environment })).err).toContain('ask again with --idempotency-key ');
    proxy.next([{ status: 408 }, { status: 404 }]);
    const object = await run([...example, '--json'], { environment });
    expect(JSON.parse(object.out).error).toMatchObject({ status: 404, code: null, may_be_done: true, invoice: null });
    await proxy.close();
  });

  it('says by which key an interrupted creation or correction is asked for again', async () => {
    const proxy = await startFaultyProxy(service.url);
    const environment = { ...connected(), FATOURA_URL: proxy.url };
    for (const args of [
      ['invoices', 'create', '--example'],
      ['invoices', 'create', '--example', '--wait'],
      ['invoices', 'credit', 'inv_1', '--reason', 'return'],
    ]) {
      proxy.next([{ delayMs: 3000 }]);
      const { code, out, err } = await interrupted(args, environment, () => proxy.requests.length === 1);
      expect([code, out]).toEqual([130, '']);
      expect(err).toMatch(/ask again with --idempotency-key [\w-]{36}\.\n$/);
      const [request] = proxy.requests;
      if (request?.key) expect(err).toContain(request.key);
    }
    await proxy.close();
  });

  it('says which invoice it has made before it waits, and how to go on if the waiting ends early', async () => {
    const file = join(folder, 'slow.json');
    await writeFile(file, JSON.stringify({ ...INVOICE, customer: { ice: SLOW_CUSTOMER, name: 'Lent' } }));
    const create = ['invoices', 'create', '--file', file, '--wait'];
    const made = /^(inv_[\w-]+) is created; its decision: fatoura invoices follow \1\n/;
    const text = await interrupted(create, connected(), (err) => made.test(err));
    expect(text).toMatchObject({ code: 130, out: '' });
    const again = await interrupted([...create, '--json'], connected(), (err) => made.test(err));
    const id = made.exec(again.err)?.[1];
    expect([again.code, JSON.parse(again.out).error]).toEqual([130, expect.objectContaining({ invoice: id })]);

    const proxy = await startFaultyProxy(service.url);
    const environment = { ...connected(), FATOURA_URL: proxy.url };
    proxy.next(['pass', { status: 404 }]);
    const failed = await run(create, { environment });
    const ofFailed = made.exec(failed.err)?.[1];
    expect([failed.code, failed.err.split('\n')[1]]).toEqual([
      1,
      `The answer has status 404. ${ofFailed} is created; its decision: fatoura invoices follow ${ofFailed}`,
    ]);
    proxy.next(['pass', { status: 404 }]);
    const object = await run([...create, '--json'], { environment });
    expect(JSON.parse(object.out).error).toMatchObject({ status: 404, invoice: made.exec(object.err)?.[1] });
    await proxy.close();
  });

  it('says what the service says of a refusal', async () => {
    const file = join(folder, 'wrong.json');
    await writeFile(file, JSON.stringify({ ...INVOICE, amount: 200 }));
    const text = await run(['invoices', 'create', '--file', file]);
    expect(text).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/\(amount_mismatch, at amount, req_/) });
    expect(await run(['invoices', 'get', 'inv_1'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/\(resource_not_found, .*req_[\w-]+\) Is it of this environment\?\n$/),
    });
    const object = await run(['invoices', 'create', '--file', file, '--json']);
    expect([object.code, JSON.parse(object.out)]).toEqual([
      1,
      { error: expect.objectContaining({ code: 'amount_mismatch', param: 'amount', status: 422 }) },
    ]);
    expect((await run(['invoices', 'create', '--file', join(folder, 'missing')])).code).toBe(2);
    expect((await run(['invoices', 'list', '--include', 'x'])).code).toBe(2);
    const live = { ...connected(), FATOURA_KEY: await service.liveKey(tenant.id) };
    const refused = await run(['invoices', 'create', '--example'], { environment: live });
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('test environment') });
  });

  it('follows no redirection, whose target would get the document and answer for the service', async () => {
    const document = join(folder, 'redirected.xml');
    await writeFile(document, '<Invoice/>');
    const file = join(folder, 'redirected.csv');
    await writeFile(file, csvOf([row('F-9')]));
    const proxy = await startFaultyProxy(service.url);
    const environment = { ...connected(), FATOURA_URL: proxy.url };
    for (const [args, path] of [
      [['verify', 'document', document], '/graphql'],
      [['trigger', 'invoice.accepted'], '/graphql'],
      [['listen'], '/graphql/stream'],
      [['import', file], '/imports'],
      [['invoices', 'list'], '/v1/invoices'],
    ] as const) {
      proxy.next([{ status: 307, location: `${service.url}${path}` }]);
      const { code, err } = await run(args, { environment });
      expect([args[0], code, err]).toEqual([args[0], 1, expect.stringMatching(/ 307(?!\d)/)]);
      expect(err).not.toContain('baseUrl');
    }
    await proxy.close();
  });

  it('makes, changes and deletes webhook endpoints', async () => {
    const at = ['--address', receiver.url, '--events', 'invoice.accepted,invoice.rejected'];
    const made = await json('webhook-endpoints', 'create', ...at, '--description', 'Boutique');
    expect(made.secret).toMatch(/^whsec_/);
    const off = await json('webhook-endpoints', 'update', made.id, '--active', 'false');
    expect(off).toMatchObject({ id: made.id, active: false, description: 'Boutique' });
    expect((await run(['webhook-endpoints', 'list'])).out).toMatch(new RegExp(`${made.id} +inactive .*Boutique`));
    expect((await run(['webhook-endpoints', 'update', made.id])).code).toBe(2);
    expect(await json('doctor')).toEqual(
      expect.arrayContaining([expect.objectContaining({ subject: 'webhooks', state: 'warns' })]),
    );
    expect(await json('webhook-endpoints', 'delete', made.id)).toMatchObject({ deleted: true });
    expect(await json('webhook-endpoints', 'list')).toEqual([]);
  });

  it('prints events and forwards them signed, those of trigger among them', async () => {
    const secret = `whsec_${Buffer.from('of a test').toString('base64')}`;
    const child = start(['listen', '--json', '--forward-to', receiver.url, '--secret', secret]);
    const texts = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (part) => (texts.out += part));
    child.stderr.setEncoding('utf8').on('data', (part) => (texts.err += part));
    await expect.poll(() => texts.err).toContain('Listening.');
    const { id } = await json('trigger', 'invoice.accepted');
    await expect.poll(() => receiver.received.some(({ event }) => event.id === id)).toBe(true);
    const delivery = receiver.received.find(({ event }) => event.id === id);
    expect(delivery && verifies(delivery, secret)).toBe(true);
    expect(JSON.parse(texts.out)).toMatchObject({ id, type: 'invoice.accepted' });
    child.kill('SIGINT');
    expect((await once(child, 'close'))[0]).toBe(130);
  });

  it('verifies deliveries without a service, and documents with it', async () => {
    const secret = `whsec_${Buffer.from('another').toString('base64')}`;
    const body = JSON.stringify({ id: 'evt_1', object: 'event', type: 'invoice.accepted', created: 1, data: {} });
    const content = { eventId: 'evt_1', body, at: new Date(), environment: 'test', manual: false } as const;
    const { 'Service-Signature': signature = '' } = deliveryHeaders(content, [signingKey(secret)]);
    const file = join(folder, 'body.json');
    await writeFile(file, body);
    const verify = (...more: string[]) =>
      run(['verify', 'webhook', file, '--signature', signature, ...more], { environment: {} });
    expect(await verify('--secret', `whsec_b3RoZXI=,${secret}`)).toMatchObject({
      code: 0,
      out: 'invoice.accepted evt_1 is from the service.\n',
    });
    expect(await verify('--secret', 'whsec_b3RoZXI=')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/not fit/),
    });
    expect((await verify()).code).toBe(2);

    const { xml_url: address } = await json('invoices', 'create', '--example', '--wait');
    const document = join(folder, 'invoice.xml');
    const xml = await (await fetch(address)).text();
    await writeFile(document, xml);
    expect(await json('verify', 'document', document)).toMatchObject({ valid: true, covered: { type: 'Invoice' } });
    await writeFile(document, xml.replace('Atlas SARL', 'Atlas SARL AU'));
    expect(await run(['verify', 'document', document])).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^Not valid: /),
    });
  });

  it('imports a file', async () => {
    const file = join(folder, 'ventes.csv');
    await writeFile(file, csvOf([row('F-1'), row('F-2', { ice: '123' })]));
    const { code, out } = await run(['import', file, '--json']);
    expect([code, JSON.parse(out).import.counts]).toEqual([1, expect.objectContaining({ issued: 1, faulty: 1 })]);
  });

  it('finds what is wrong with a connection', async () => {
    const findings = await json('doctor');
    expect(findings.map(({ subject, state }: Record<string, string>) => [subject, state])).toEqual([
      ['address', 'works'],
      ['key', 'works'],
      ['clock', 'works'],
      ['streams', 'works'],
      ['webhooks', 'works'],
    ]);
    const away = { ...connected(), FATOURA_URL: 'http://127.0.0.1:9' };
    expect(await run(['doctor'], { environment: away })).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^fails +address +no Fatoura service answers/),
    });
    const revoked = { ...connected(), FATOURA_KEY: `sk_test_${'x'.repeat(32)}` };
    expect(await run(['doctor'], { environment: revoked })).toMatchObject({
      code: 1,
      out: expect.stringMatching(/fails +key +invalid_api_key/),
    });
  });

  describe('completion', () => {
    const scriptOf = async (shell: string) => (await run(['completion', shell])).out;

    it.skipIf(!hasTool('bash'))('completes commands, options and values in bash', async () => {
      const script = await scriptOf('bash');
      const settings = join(folder, 'completion');
      for (const name of ['shop', 'short']) {
        const environment = { FATOURA_URL: service.url, XDG_CONFIG_HOME: settings };
        await run(['login', '--file', '--profile', name], { input: tenant.secretKey, environment });
      }
      const complete = (...words: string[]) => {
        const ask = `${script}
fatoura() { XDG_CONFIG_HOME='${settings}' '${process.execPath}' '${program}' "$@"; }
COMP_WORDS=(fatoura ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
_fatoura; echo "\${COMPREPLY[*]}"`;
        return spawnSync('bash', ['-c', ask], { encoding: 'utf8' }).stdout.trim();
      };
      expect(complete('inv')).toBe('invoices');
      expect(complete('invoices', 'cre')).toBe('create credit');
      expect(complete('invoices', 'list', '--st')).toBe('--status');
      expect(complete('invoices', 'list', '--status', 'acc')).toBe('accepted');
      expect(complete('invoices', 'get', 'inv_1', '--js')).toBe('--json');
      expect(complete('completion', 'f')).toBe('fish');
      expect(complete('help', 'inv')).toBe('invoices');
      expect(complete('help', 'invoices', 'cre')).toBe('create credit');
      expect(complete('help', 'invoices', 'create', '')).toBe('');
      expect(complete('invoices', 'list', '--profile', 'sh')).toBe('shop short');
    });

    it.each([
      ['zsh', hasTool('zsh')],
      ['fish', hasTool('fish')],
    ])('is a script of %s', async (shell, isThere) => {
      const script = await scriptOf(shell);
      for (const { name } of COMMANDS) expect(script).toContain(name.split(' ').at(-1));
      if (!isThere) return console.warn(`not run: ${shell} is not installed`);
      expect(spawnSync(shell, ['-n'], { input: script, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
    });
  });
});
