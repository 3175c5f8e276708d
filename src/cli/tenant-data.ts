import type { ExportManifest } from '../domain/tenant-data/ports.ts';
import type { Command } from './command.ts';
import { harmless } from './terminal.ts';

export const exportTenant: Command = {
  name: 'tenants export',
  summary: 'Writes everything of a tenant as files that it can take elsewhere',
  positionals: ['TENANT'],
  options: {
    to: { value: 'DIR', required: true, description: 'A new folder' },
    json: { description: 'Print the manifest of the export' },
  },
  details: `The profile, people, keys without secrets, invoices with all documents, webhook endpoints, events, deliveries, requests and
audit log, also while the service runs. manifest.json comes last: a folder without it is of an export that was interrupted.
The files are personal data: they are readable by this user only.`,
  async run(input, { terminal, config, parts }) {
    const folder = input.get('to');
    const manifest = await parts.exportTenantTo(config(), input.get('TENANT'), folder);
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
    const manifest = await parts.verifyExport(folder);
    terminal.print(
      input.has('json') ? JSON.stringify(manifest) : `${harmless(folder)} is whole: ${factsOf(manifest)}.`,
    );
    return 0;
  },
};

function factsOf({ tenant, records, files, bytes, started_at }: ExportManifest): string {
  const invoices = Object.entries(records).reduce(
    (sum, [path, count]) => sum + (path.endsWith('invoices.jsonl') ? count : 0),
    0,
  );
  return `${harmless(tenant)}, ${invoices} invoices, ${files} files, ${(bytes / 1e6).toFixed(1)} MB, as of ${started_at}`;
}
