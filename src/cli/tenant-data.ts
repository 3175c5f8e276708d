import { entryByOperator, INSTALLATION } from '../domain/audit-entry.ts';
import { KIND_NAMES } from '../domain/invoice/kinds.ts';
import { moroccanYear } from '../domain/morocco/time.ts';
import { createEraseTenant, type ErasureState } from '../domain/tenant-data/erase-tenant.ts';
import type { ErasureStore, TenantCounts } from '../domain/tenant-data/erasure.ts';
import type { ExportManifest } from '../domain/tenant-data/ports.ts';
import { administer } from './administer.ts';
import { type Command, UsageError } from './command.ts';
import { columns, harmless } from './terminal.ts';

export const exportTenant: Command = {
  name: 'tenants export',
  summary: 'Writes everything of a tenant as files that it can take elsewhere',
  positionals: ['TENANT'],
  options: {
    to: { value: 'DIR', required: true, description: 'A new folder' },
    json: { description: 'Print the manifest of the export' },
  },
  details: `The profile, people, keys without secrets, invoices and credit notes with all documents, drafts, webhook endpoints,
events, deliveries, requests and audit log, also while the service runs. manifest.json comes last: a folder without it is
of an export that was interrupted.
The files are personal data: they are readable by this user only.`,
  async run(input, { terminal, config, parts }) {
    const folder = input.get('to');
    const report = (failure: unknown) => terminal.remark(`The audit log does not have this export: ${String(failure)}`);
    const manifest = await (await parts.tenantData()).exportTenantTo(config(), input.get('TENANT'), folder, report);
    terminal.print(
      input.has('json') ? JSON.stringify(manifest) : `${harmless(folder)} has everything: ${factsOf(manifest)}.`,
    );
    return 0;
  },
};

export const verifyTenantExport: Command = {
  name: 'tenants verify-export',
  summary: 'Compares an export of a tenant with its manifest: every file, and that there is no other',
  positionals: ['DIR'],
  options: { json: { description: 'Print the manifest of the export' } },
  async run(input, { terminal, parts }) {
    const folder = input.get('DIR');
    const manifest = await (await parts.tenantData()).verifyExport(folder);
    terminal.print(
      input.has('json') ? JSON.stringify(manifest) : `${harmless(folder)} is whole: ${factsOf(manifest)}.`,
    );
    return 0;
  },
};

export const eraseTenant: Command = {
  name: 'tenants erase',
  summary: 'Erases a tenant for good; the legal documents of live invoices stay for RETENTION_YEARS',
  positionals: ['TENANT'],
  options: {
    'dry-run': { description: 'Only say what would go and what must stay' },
    confirm: { value: 'TENANT', description: 'The id of the tenant once more: nothing is erased without it' },
    json: { description: 'Print an object' },
  },
  details: `It cannot be undone: run tenants export first, and give the files to the tenant. It works in small pieces beside a running
service, and may take a while. After an interruption run it again; a running service goes on with it, too. What is under way
with the tax authority is finished by the service, and is erased then. See docs/operations.md, "Export and erasure".`,
  async run(input, context) {
    const { terminal, config } = context;
    const tenantId = input.get('TENANT');
    const isDry = input.has('dry-run');
    if (isDry === (input.find('confirm') !== null))
      throw new UsageError('give either --dry-run, or --confirm with the id of the tenant once more');
    if (!isDry && input.find('confirm') !== tenantId)
      throw new UsageError(`--confirm must be '${harmless(tenantId)}', the tenant that is to be erased`);
    return administer(context, async ({ tenants, erasures, store, audit }) => {
      const tenant = await tenants.find(tenantId);
      if (tenant === null && (await erasures.find(tenantId)) === null)
        throw new Error(`There is no tenant '${harmless(tenantId)}'.`);
      const { retentionYears } = config();
      const print = (value: object, text: string) => terminal.print(input.has('json') ? JSON.stringify(value) : text);
      if (isDry) {
        const counts = await erasures.counts(tenantId);
        const retained = await keptCount(erasures, tenantId);
        const blocked = await erasures.blocked(tenantId, BLOCKED);
        const facts = { retention_years: retentionYears, ...counts, retained, waiting_for_operator: blocked };
        print(
          { tenant: tenantId, name: tenant?.name ?? null, ...facts },
          preview(counts, retained, retentionYears) + waitingText(blocked),
        );
        return 0;
      }
      // Recorded before anything is erased, so that the log names the person who began the erasure even if it fails.
      await audit(entryByOperator(INSTALLATION, null, 'tenant.erased', { subject: tenantId }));
      const { erase } = createEraseTenant({
        store: erasures,
        retentionYears,
        alone: store.kind === 'own engine',
        now: () => new Date(),
        year: () => moroccanYear(new Date()),
      });
      const state = await erase(tenantId, (what) => terminal.remark(`${what}…`));
      if (state === null) throw new Error(`There is no tenant '${harmless(tenantId)}' any more.`);
      const retained = await keptCount(erasures, tenantId);
      const blocked = await erasures.blocked(tenantId, BLOCKED);
      print(
        { tenant: tenantId, done: state.isDone, under_way: state.underWay, retained, waiting_for_operator: blocked },
        outcome(tenantId, state, retained, retentionYears) + waitingText(blocked),
      );
      return 0;
    });
  },
};

/** Maximum number of blocked invoices that are listed. */
const BLOCKED = 20;

/** Returns a text about the invoices that wait for an operator; empty if there are none. */
function waitingText(blocked: readonly string[]): string {
  if (blocked.length === 0) return '';
  const more = blocked.length === BLOCKED ? ', and maybe more' : '';
  return `
These of them wait for an operator, and the service does not finish them by itself: ${blocked.join(', ')}${more}. "invoices attention"
says why, docs/operations.md, "The tax authority", what to do; then "invoices retry INVOICE_ID" lets the service go on.`;
}

/** Number of kept invoices that are read together for counting. */
const COUNTED = 500;

async function keptCount({ kept }: Pick<ErasureStore, 'kept'>, tenantId: string): Promise<number> {
  let sum = 0;
  for (let after: string | null = null; ; ) {
    const found: { readonly id: string }[] = await kept(tenantId, after, COUNTED);
    sum += found.length;
    after = found.at(-1)?.id ?? null;
    if (after === null) return sum;
  }
}

function preview(counts: TenantCounts, retained: number, years: number): string {
  const { liveDecided, liveUnderWay, ...going } = counts;
  const names: Readonly<Record<keyof typeof going, string>> = {
    keys: 'API keys',
    members: 'memberships of people',
    endpoints: 'webhook endpoints',
    testInvoices: 'test invoices with documents',
    drafts: 'drafts',
    events: 'events',
    deliveries: 'webhook deliveries',
    requests: 'requests in the log',
    auditEntries: 'entries of the audit log',
  };
  const rows = Object.entries(going).map(([name, count]) => [String(count), names[name as keyof typeof going]]);
  return [
    'Goes at once, for good:',
    columns(rows),
    `${liveDecided} live invoices: their PDFs and data go; signed XML, the authority's answer and the number stay until ${years} years after the year of issue.`,
    `${liveUnderWay} live invoices are under way: the service finishes them, then the same applies.`,
    ...(retained > 0 ? [`${retained} live invoices were reduced to their legal documents already.`] : []),
    'Accounts of people who belong to no other tenant go, too.',
  ].join('\n');
}

function outcome(tenantId: string, { isDone, underWay }: ErasureState, retained: number, years: number): string {
  const stays = `Legal documents of ${retained} live invoices stay until ${years} years after the year of issue.`;
  if (isDone) return `${tenantId} is erased. ${stays}`;
  if (underWay > 0)
    return `${tenantId} is erased but for ${underWay} live invoices that are under way: the service finishes and erases them. ${stays}`;
  return `${tenantId} is erased. A running service looks within ten minutes for what was written meanwhile; without one run this again after a minute. ${stays}`;
}

function factsOf({ tenant, records, files, bytes, started_at }: ExportManifest): string {
  const documents = KIND_NAMES.map((kind) => {
    const counts = Object.entries(records).map(([path, count]) => (path.endsWith(`/${kind}s.jsonl`) ? count : 0));
    return `${counts.reduce((sum, count) => sum + count, 0)} ${kind.replace('_', ' ')}s`;
  }).join(', ');
  return `${harmless(tenant)}, ${documents}, ${files} files, ${(bytes / 1e6).toFixed(1)} MB, as of ${started_at}`;
}
