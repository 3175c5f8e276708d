import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { buildCli } from '../../scripts/build-cli.ts';
import { Client } from '../support/client.ts';
import { exampleRunBy } from '../support/guide-examples.ts';
import { startService, type TestService, type TestTenant } from '../support/service.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PACKAGE = join(ROOT, 'clients/cli');
const SDK = join(PACKAGE, 'node_modules/@modelcontextprotocol/sdk/dist/esm');

/** Installs the packages that only `fatoura mcp` needs. @returns whether they are there */
function isInstalled(): boolean {
  try {
    if (!existsSync(SDK))
      execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: PACKAGE, stdio: 'inherit' });
    return true;
  } catch {
    console.warn('skipped: the packages of clients/cli cannot be installed (no network?)');
    return false;
  }
}

/** What the protocol's own client answers; its types are installed with it, not with the project. */
interface Agent {
  listTools(): Promise<{
    tools: { name: string; annotations: { readOnlyHint: boolean; destructiveHint?: boolean } }[];
  }>;
  callTool(call: { name: string; arguments: object }): Promise<{ isError?: boolean; content: { text: string }[] }>;
  getInstructions(): string;
  close(): Promise<void>;
}

const CONTENT = {
  amount: 12_000,
  currency: 'MAD',
  customer: { ice: '001234567000089', name: 'Atlas SARL' },
  lines: [{ description: 'Conseil', quantity: 1, unitPrice: 10_000, taxRate: 20 }],
};
const READING = ['get_draft', 'get_invoice', 'list_invoices', 'validate_invoice', 'wait_for_decision'];
const DRAFTING = ['create_draft', 'delete_draft', 'update_draft'];

describe.skipIf(!isInstalled())('an agent with fatoura mcp', () => {
  let folder: string;
  let service: TestService;
  let tenant: TestTenant;
  const agents: Agent[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fatoura-mcp-'));
    [service] = await Promise.all([startService(), buildCli(ROOT, join(folder, 'dist'))]);
    tenant = await service.tenant();
  });

  afterEach(async () => {
    await Promise.all(agents.splice(0).map((agent) => agent.close()));
  });
  afterAll(async () => {
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** @param server how its process is started */
  async function connectTo(server: object): Promise<Agent> {
    const [{ Client: ProtocolClient }, { StdioClientTransport }] = await Promise.all([
      import(join(SDK, 'client/index.js')),
      import(join(SDK, 'client/stdio.js')),
    ]);
    const agent = new ProtocolClient({ name: 'test', version: '1' });
    await agent.connect(new StdioClientTransport({ stderr: 'pipe', ...server }));
    agents.push(agent);
    return agent;
  }

  function connect(args: readonly string[] = [], key = tenant.secretKey): Promise<Agent> {
    const env = { PATH: process.env.PATH, FATOURA_URL: service.url, FATOURA_KEY: key, XDG_CONFIG_HOME: folder };
    const command = [join(folder, 'dist/fatoura.js'), 'mcp', ...args];
    return connectTo({ command: process.execPath, args: command, env });
  }

  async function call(agent: Agent, name: string, given: object) {
    const { isError, content } = await agent.callTool({ name, arguments: given });
    let value: unknown;
    try {
      value = JSON.parse(content[0]?.text ?? '');
    } catch {
      value = content[0]?.text;
    }
    // biome-ignore lint/suspicious/noExplicitAny: each tool answers something else
    return { isError: isError === true, value: value as any };
  }

  it('the build has the licences of what it bundles', async () => {
    expect(await readFile(join(folder, 'dist/licences.md'), 'utf8')).toContain('## @modelcontextprotocol/sdk');
  });

  it('1. sees tools that read and write drafts, and says which change something', async () => {
    const agent = await connect();
    const { tools } = await agent.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([...READING, ...DRAFTING].sort());
    const reading = tools.filter(({ annotations }) => annotations.readOnlyHint).map(({ name }) => name);
    expect(reading.sort()).toEqual(READING);
    expect(agent.getInstructions()).toContain('test environment');
  });

  it('2. learns what is wrong with an invoice, and what it adds up to', async () => {
    const agent = await connect();
    const { value } = await call(agent, 'validate_invoice', { content: { ...CONTENT, amount: 11_000 } });
    expect(value).toMatchObject({ valid: false, totals: { total: 12_000 } });
    expect(value.problems).toEqual([expect.objectContaining({ code: 'amount_mismatch', param: 'amount' })]);
    expect((await call(agent, 'validate_invoice', { content: CONTENT })).value).toMatchObject({ valid: true });
  });

  it('3. writes a draft, corrects it, and is told that somebody else was quicker', async () => {
    const agent = await connect();
    const draft = (await call(agent, 'create_draft', { content: { ...CONTENT, amount: null } })).value;
    expect(draft).toMatchObject({
      version: 1,
      validation: { problems: [expect.objectContaining({ param: 'amount' })] },
    });
    const change = { id: draft.id, version: 1, content: CONTENT };
    expect((await call(agent, 'update_draft', change)).value).toMatchObject({
      version: 2,
      validation: { problems: [] },
    });
    const late = { ...change, content: { ...CONTENT, amount: 1 } };
    expect(await call(agent, 'update_draft', late)).toMatchObject({
      isError: true,
      value: { code: 'draft_changed' },
    });
    expect((await call(agent, 'get_draft', { id: draft.id })).value).toMatchObject({ content: CONTENT });
  });

  it('4. cannot issue without being allowed to', async () => {
    const agent = await connect();
    const draft = (await call(agent, 'create_draft', { content: CONTENT })).value;
    const refused = await agent.callTool({ name: 'issue_draft', arguments: draft }).catch((error: Error) => error);
    expect(refused instanceof Error || refused.isError).toBe(true);
    expect((await call(agent, 'get_draft', { id: draft.id })).isError).toBe(false);
  });

  it('5. issues a draft once, and waits for the decision, where that is allowed', async () => {
    const agent = await connect(['--allow-issue']);
    const draft = (await call(agent, 'create_draft', { content: CONTENT })).value;
    const { id, version } = draft;
    const issued = (await call(agent, 'issue_draft', { id, version })).value;
    expect((await call(agent, 'issue_draft', { id, version })).value).toMatchObject({
      invoice: { id: issued.invoice.id },
      replayed: true,
    });
    const decided = (await call(agent, 'wait_for_decision', { id: issued.invoice.id })).value;
    expect(decided).toMatchObject({ status: 'accepted', number: expect.any(String) });
    expect((await call(agent, 'get_invoice', { number: decided.number })).value).toMatchObject({ id: decided.id });
  });

  it('6. credits an invoice once, however often it is asked for', async () => {
    const agent = await connect(['--allow-issue']);
    const { body } = await new Client(service.url, tenant.secretKey).post('/v1/invoices', {
      ...CONTENT,
      lines: [{ description: 'Conseil', quantity: 1, unit_price: 10_000 }],
    });
    await call(agent, 'wait_for_decision', { id: body.id });
    const credit = { id: body.id, reason: 'return' };
    const [first, second] = [await call(agent, 'credit_invoice', credit), await call(agent, 'credit_invoice', credit)];
    expect(first.value).toMatchObject({ creditNote: { amount: 12_000 }, replayed: false });
    expect(second.value).toMatchObject({ creditNote: { id: first.value.creditNote.id }, replayed: true });
  });

  it('7. reads lists, without what would open an invoice to others', async () => {
    const agent = await connect();
    const { invoices } = (await call(agent, 'list_invoices', { status: 'accepted', most: 1 })).value;
    expect(invoices).toHaveLength(1);
    expect(JSON.stringify(invoices)).not.toContain('_secret_');
    // The documents of an accepted invoice need no key.
    expect(JSON.stringify(invoices)).not.toContain('/files/');
  });

  it('8. does not reach another tenant, and is told what it did wrong', async () => {
    const agent = await connect();
    const other = new Client(service.url, (await service.tenant()).secretKey);
    const { body } = await other.post('/v1/invoices', {
      ...CONTENT,
      lines: [{ description: 'Conseil', quantity: 1, unit_price: 10_000 }],
    });
    expect(await call(agent, 'get_invoice', { id: body.id })).toMatchObject({
      isError: true,
      value: { code: 'resource_not_found' },
    });
    expect((await call(agent, 'get_invoice', {})).isError).toBe(true);
    expect((await call(agent, 'get_invoice', { id: 'x' })).isError).toBe(true);
  });

  it('9. is not served with a live key, unless that is allowed, nor with a wrong one', async () => {
    const live = await service.liveKey(tenant.id);
    await expect(connect([], live)).rejects.toThrow();
    await expect(connect([], `sk_test_${'x'.repeat(32)}`)).rejects.toThrow();
    const agent = await connect(['--live'], live);
    expect(agent.getInstructions()).toContain('live environment');
    // Invoices of the test environment do not exist there.
    expect((await call(agent, 'list_invoices', {})).value).toEqual({ invoices: [] });
  });

  it('10. deletes its draft, and the server ends with its agent', async () => {
    const agent = await connect();
    const { id, version } = (await call(agent, 'create_draft', { content: CONTENT })).value;
    expect((await call(agent, 'delete_draft', { id, version })).value).toEqual({ id, deleted: true });
    expect((await call(agent, 'get_draft', { id })).isError).toBe(true);
    await agent.close();
  });

  it('11. is started by what the README gives to agents, with the profile of a login', async () => {
    const { command, args } = JSON.parse(exampleRunBy('test/long/mcp.test.ts').text).mcpServers.fatoura;
    const built = join(folder, 'dist/fatoura.js');
    const env = { PATH: process.env.PATH, HOME: folder, XDG_CONFIG_HOME: join(folder, 'profiles') };
    const login = ['login', '--profile', args.at(-1), '--url', service.url, '--file'];
    // The service runs in this process, which must not wait for another one.
    const loggedIn = promisify(execFile)(process.execPath, [built, ...login], { env });
    loggedIn.child.stdin?.end(`${tenant.secretKey}\n`);
    await loggedIn;
    // As the installed package has it, which npx finds before it asks a registry.
    await mkdir(join(folder, 'node_modules/.bin'), { recursive: true });
    const script = `#!/bin/sh\nexec '${process.execPath}' '${built}' "$@"\n`;
    await writeFile(join(folder, 'node_modules/.bin/fatoura'), script, { mode: 0o755 });
    const agent = await connectTo({ command, args, env, cwd: folder });
    expect((await call(agent, 'create_draft', { content: CONTENT })).value).toMatchObject({ version: 1 });
  });
});

it('the types of the server for agents hold', () => {
  const compiler = [join(ROOT, 'node_modules/typescript/bin/tsc'), '--noEmit', '-p', join(PACKAGE, 'src/mcp')];
  if (existsSync(SDK)) execFileSync(process.execPath, compiler, { stdio: 'inherit' });
});
