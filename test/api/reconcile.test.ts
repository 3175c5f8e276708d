import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandParts } from '../../src/app/command-parts.ts';
import * as reconciliation from '../../src/app/reconciliation.ts';
import type { CommandContext } from '../../src/cli/command.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { runCommandLine } from '../../src/cli/run.ts';
import { type Config, readConfig } from '../../src/config.ts';
import type { Authority, ChangesAnswer, LedgerEntry } from '../../src/domain/authority/ports.ts';
import type { Difference } from '../../src/domain/authority/reconciliation.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import { RECONCILE_JOB } from '../../src/jobs/reconcile-job.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { createReconciliationState } from '../../src/storage/reconciliation-state.ts';
import { invoicesOf, pendingInvoice } from '../support/invoices.ts';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';
import { recordingTerminal } from '../support/recording-terminal.ts';
import { startService, type TestService, withDatabase } from '../support/service.ts';

const HOUR_MS = 3_600_000;
const DIGEST = 'a'.repeat(64);
const ago = (hours: number) => new Date(Date.now() - hours * HOUR_MS);

let folder: string;
let mongo: TestMongo;
let service: TestService;
let settings: Record<string, string>;
let operator: Record<string, string>;
/** What the authority answers, whatever is asked. */
let answer: (after: string | null) => ChangesAnswer = () => page([]);
const lookedUp: string[] = [];

const AUTHORITY = {
  capabilities: () => ({
    limits: { submissionsPerMinute: 600, lookUpsPerMinute: 600, lookUpsPerSubmissionPerHour: 60, concurrent: 16 },
  }),
  changes: async (after: string | null) => answer(after),
  async lookUp({ submissionId }: { submissionId: string }) {
    lookedUp.push(submissionId);
    const decision = { outcome: 'rejected', problems: [], decidedAt: new Date() } as const;
    return {
      kind: 'held',
      requestId: null,
      submission: { submissionId, decision, warnings: [], askAgainAfter: null },
    };
  },
} as unknown as Authority;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reconcile-'));
  mongo = await startTestMongo();
  settings = {
    MONGODB_URL: withDatabase(mongo.uri, freshDbName('reconcile')),
    MASTER_KEY: 'fedcba9876543210'.repeat(4),
    DATA_DIR: join(folder, 'data'),
    LOG_LEVEL: 'silent',
  };
  service = await startService(settings, undefined, false, { authority: AUTHORITY, callbackSecret: null });
  const credential = `operator:${service.app.firstStart.operatorPassword}`;
  operator = { Authorization: `Basic ${Buffer.from(credential).toString('base64')}` };
});
afterAll(async () => {
  await service?.close();
  await mongo?.close();
  await rm(folder, { recursive: true, force: true });
});

function page(entries: readonly LedgerEntry[], nextCursor = 'end', highWaterMark = 'end'): ChangesAnswer {
  return { kind: 'changes', requestId: null, entries, nextCursor, highWaterMark };
}

function entry(submissionId: string, dgiId: string | null, sha256 = DIGEST): LedgerEntry {
  const decidedAt = ago(3);
  return {
    submissionId,
    sha256,
    decision:
      dgiId === null ? { outcome: 'rejected', problems: [], decidedAt } : { outcome: 'accepted', dgiId, decidedAt },
  };
}

const invoices = () => service.app.store.db.collection<InvoiceDocument>('invoices');

async function stored(changes: Record<string, unknown>): Promise<string> {
  const invoice = pendingInvoice({ environment: 'live', createdAt: new Date(Date.now() + HOUR_MS) });
  await invoicesOf(service.app.store.db).insert(invoice, newCreationMoment().order, null);
  const fields = {
    xml: { file: 'f', sha256: DIGEST, size: 1 },
    events: [{ status: 'transmitted' }],
    receipt: { file: 'r' },
  };
  await invoices().updateOne({ _id: invoice.id }, { $set: { ...fields, ...changes } } as never);
  return invoice.id;
}

async function accepted(dgiId: string): Promise<string> {
  const id = await stored({ status: 'accepted', dgiId, updatedAt: ago(2) });
  await invoices().updateOne({ _id: id }, { $unset: { work: '' } });
  return id;
}

/** Runs the command with the scripted authority in this process. */
async function cli(
  args: readonly string[],
  openAuthority: reconciliation.OpenAuthority = async () => ({ authority: AUTHORITY, close: async () => {} }),
) {
  const { terminal, texts } = recordingTerminal();
  const context: CommandContext = {
    terminal,
    config: () => readConfig(settings),
    environmentKey: () => null,
    parts: {
      ...commandParts,
      reconciliation: async () => ({
        ...reconciliation,
        openReconciliation: (config: Config) => reconciliation.openReconciliation(config, openAuthority),
      }),
    },
  };
  return { code: await runCommandLine(args, COMMANDS, context), ...texts };
}

describe('authority reconcile', () => {
  it('lists what differs, has the rest looked up, and forgets what is right again', async () => {
    const [right, wrong] = [await accepted('DGI-1'), await accepted('DGI-2')];
    const undecided = await stored({ status: 'transmitted', 'work.stage': 'decide' });
    answer = (after) =>
      after === null
        ? page([entry(right, 'DGI-1'), entry(wrong, 'DGI-\u001b[31m9')], '1')
        : page([entry(undecided, null), entry('inv_stranger', null, 'b'.repeat(64))]);
    const first = await cli(['authority', 'reconcile', '--json']);
    expect(first).toMatchObject({ code: 1, err: '' });
    const { run, differences } = JSON.parse(first.out);
    expect(run).toMatchObject({ outcome: 'complete', entries: 4, invoices: 2, healed: 1, found: 2 });
    expect(differences).toMatchObject([
      { kind: 'other_dgi_id', submissionId: wrong, invoiceId: wrong, ours: 'DGI-2', tenantId: expect.any(String) },
      { kind: 'unknown_submission', submissionId: 'inv_stranger', invoiceId: null, ours: null },
    ]);
    // The running service looks it up and decides.
    await expect.poll(async () => (await invoices().findOne({ _id: undecided }))?.status).toBe('rejected');
    expect(lookedUp).toEqual([undecided]);

    answer = () => page([]);
    const second = await cli(['authority', 'reconcile']);
    expect(second.out).toMatch(/^reconciliation complete: 0 entries read/);
    expect(second.out).toMatch(new RegExp(`\nother_dgi_id +${wrong} .* DGI-2 +DGI-\\?\\[31m9 `));
    expect(second.out).not.toContain('\u001b');
    expect(await createReconciliationState(service.app.store.db).last()).toMatchObject({
      outcome: 'complete',
      entries: 0,
    });
    const status = await cli(['authority', 'status']);
    expect(status.out).toMatch(/^reconciled +\d{4}-\S+Z: complete, 0 entries read$/m);
    const attention = await cli(['invoices', 'attention']);
    expect(attention).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^Differences .*: 2\. authority reconcile/),
    });
    const metrics = await (await fetch(`${service.url}/metrics`, { headers: operator })).text();
    expect(metrics).toContain('fatoura_authority_differences{kind="other_dgi_id"} 1');
    expect(metrics).toContain('fatoura_authority_differences{kind="held_twice"} 0');

    await invoices().updateOne({ _id: wrong }, { $set: { dgiId: 'DGI-\u001b[31m9' } });
    await service.app.store.db.collection<{ _id: string }>('authority_ledger').deleteOne({ _id: 'inv_stranger' });
    expect(await cli(['authority', 'reconcile'])).toEqual({
      code: 0,
      err: '',
      out: expect.stringMatching(/2 resolved\.\n$/),
    });
  });

  it('lists what an operator has acknowledged apart, until it changes', async () => {
    const { db } = service.app.store;
    const ours = await accepted('DGI-5');
    const { id: tenantId } = await service.tenant();
    await invoices().updateOne({ _id: ours }, { $set: { tenantId } });
    const lost = (decided: string | null) => entry('inv_lost', decided, 'b'.repeat(64));
    answer = () => page([lost('DGI-4'), entry(ours, 'DGI-5', 'd'.repeat(64))]);
    const reconciled = async () => {
      const { code, out } = await cli(['authority', 'reconcile', '--json']);
      const { run, differences } = JSON.parse(out);
      return {
        code,
        found: run.found,
        acknowledged: differences.map((each: Difference) => each.acknowledged !== null),
      };
    };
    expect(await reconciled()).toEqual({ code: 1, found: 2, acknowledged: [false, false] });

    const acknowledge = (...args: string[]) => cli(['authority', 'acknowledge', ...args]);
    expect((await acknowledge('unknown_submission', 'inv_lost')).code).toBe(2);
    expect(await acknowledge('unknown', 'inv_lost', '--reason', 'x')).toMatchObject({
      code: 2,
      err: expect.stringContaining("unknown_submission, not_in_ledger, receipt_missing, not 'unknown'"),
    });
    expect(await acknowledge('held_twice', 'inv_lost', '--reason', 'x')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/no difference 'held_twice' of 'inv_lost'\. authority reconcile lists/),
    });
    const known = ['unknown_submission', 'inv_lost', '--reason', 'Lost by the restore'];
    const first = await acknowledge(...known, '--json');
    expect(first.code).toBe(0);
    expect(JSON.parse(first.out)).toMatchObject({ new: true, theirs: expect.stringContaining('accepted as DGI-4') });
    expect(JSON.parse((await acknowledge(...known, '--json')).out)).toEqual({ ...JSON.parse(first.out), new: false });
    expect(await reconciled()).toEqual({ code: 1, found: 0, acknowledged: [false, true] });
    expect((await acknowledge('other_digest', ours, '--reason', 'Signed again')).out).toMatch(/^It counts no longer/);

    expect(await reconciled()).toEqual({ code: 0, found: 0, acknowledged: [true, true] });
    const listed = await cli(['authority', 'reconcile']);
    expect(listed).toMatchObject({ code: 0 });
    expect(listed.out).toMatch(/ ACKNOWLEDGED +REASON\n/);
    expect(listed.out).toMatch(/\nunknown_submission +inv_lost .* UTC +\d{4}-\S+ \S+ UTC +Lost by the restore\n/);
    expect((await cli(['invoices', 'attention'])).err).toBe('');
    const metrics = await (await fetch(`${service.url}/metrics`, { headers: operator })).text();
    expect(metrics).toMatch(/fatoura_authority_differences\{kind="unknown_submission"\} 0\n/);
    const entries = await db.collection('audit_log').find({ action: 'authority.difference_acknowledged' }).toArray();
    expect(
      entries.map(({ tenantId, subject, environment, details }) => ({ tenantId, subject, environment, ...details })),
    ).toEqual([
      {
        tenantId: 'installation',
        subject: 'inv_lost',
        environment: null,
        difference: 'unknown_submission',
        submission: 'inv_lost',
        reason: 'Lost by the restore',
        authority: expect.stringContaining('DGI-4'),
      },
      expect.objectContaining({ tenantId, subject: ours, environment: 'live', reason: 'Signed again' }),
    ]);

    answer = () => page([lost(null), entry(ours, 'DGI-5', 'e'.repeat(64))]);
    expect(await reconciled()).toEqual({ code: 1, found: 2, acknowledged: [false, false] });
    await invoices().deleteOne({ _id: ours });
    await db.collection('authority_ledger').deleteMany({});
    answer = () => page([]);
    expect((await reconciled()).code).toBe(0);
  });

  it('says when the ledger cannot be read, and since when it compares', async () => {
    answer = (after) => {
      if (after === null) return page([], '1');
      return { kind: 'unknown', requestId: null, message: 'an answer of a proxy', retryAfterMs: 1 };
    };
    const failed = await cli(['authority', 'reconcile', '--since', '2026-01-01']);
    expect(failed).toMatchObject({
      code: 1,
      out: expect.stringContaining(
        'reconciliation failed (the ledger of the authority cannot be read: an answer of a proxy)',
      ),
    });
  });

  it.each([['yesterday'], ['2026-02-30'], ['9999-01-01'], ['2026-01-01T00:00:00Z']])(
    'refuses %s as a day',
    async (day) => {
      expect(await cli(['authority', 'reconcile', '--since', day])).toMatchObject({
        code: 2,
        err: expect.stringContaining('--since'),
      });
    },
  );

  it('needs a live authority', async () => {
    expect(await cli(['authority', 'reconcile'], async () => null)).toMatchObject({
      code: 1,
      err: expect.stringContaining('No live authority is configured'),
    });
  });
});

describe('the nightly job', () => {
  const jobs = () => service.app.store.db.collection<{ _id: unknown; nextRunAt: Date }>('jobs');

  it('is scheduled for three o’clock UTC, and operators see it', async () => {
    const [job, ...others] = await jobs().find({ name: RECONCILE_JOB }).toArray();
    expect(others).toEqual([]);
    const time = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', timeStyle: 'short' });
    expect(time.format(job?.nextRunAt)).toMatch(/^03:[0-2]\d$/);
    const shown = await (await fetch(`${service.url}/ops/jobs/api?job=${RECONCILE_JOB}`, { headers: operator })).text();
    expect(shown).toContain(RECONCILE_JOB);
  });

  it('reconciles when it is due, and is scheduled for the next night', async () => {
    answer = () => page([entry('inv_nightly', null, 'c'.repeat(64))]);
    await jobs().updateOne({ name: RECONCILE_JOB }, { $set: { nextRunAt: new Date() } });
    await expect.poll(async () => (await createReconciliationState(service.app.store.db).last())?.entries).toBe(1);
    expect(await service.app.store.db.collection('authority_differences').countDocuments({ open: true })).toBe(1);
    await expect
      .poll(async () => Number((await jobs().findOne({ name: RECONCILE_JOB }))?.nextRunAt))
      .toBeGreaterThan(Date.now());
  });

  it('keeps its time when another worker starts, and goes with the configuration', async () => {
    const before = await jobs().findOne({ name: RECONCILE_JOB });
    await jobs().updateOne(
      { name: RECONCILE_JOB },
      { $set: { nextRunAt: new Date(Date.now() + HOUR_MS), lockedAt: new Date() } },
    );
    const held = await jobs().findOne({ name: RECONCILE_JOB });
    expect(held?._id).toEqual(before?._id);
    const live = { authority: AUTHORITY, callbackSecret: null };
    const url = service.url;
    const twin = await startService(
      { ...settings, PUBLIC_URL: url, DATA_DIR: join(folder, 'twin') },
      undefined,
      false,
      live,
    );
    expect(await jobs().find({ name: RECONCILE_JOB }).toArray()).toEqual([held]);
    await twin.app.close();
    await rm(twin.dataDir, { recursive: true, force: true });
    const without = await startService({ ...settings, DATA_DIR: join(folder, 'without') });
    expect(await jobs().countDocuments({ name: RECONCILE_JOB })).toBe(0);
    await without.app.close();
    await rm(without.dataDir, { recursive: true, force: true });
  });
});
