import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPdfRenderer } from '../../src/adapters/pdf/pdf-renderer.ts';
import { softwareKey } from '../../src/adapters/signing-key/software-key.ts';
import { makeTestIdentity } from '../../src/adapters/signing-key/test-certificate.ts';
import { unsignedDocument, writeInvoice } from '../../src/adapters/ubl/write-invoice.ts';
import { createDocumentSigner } from '../../src/adapters/xades/document-signer.ts';
import { createSignedRenderer } from '../../src/app/signed-renderer.ts';
import { newInvoice } from '../../src/domain/invoice/create-invoice.ts';
import { inputOfRestBody } from '../../src/domain/invoice/create-invoice-input.ts';
import { legalInvoice } from '../../src/domain/invoice/legal-invoice.ts';
import { serveRequests } from './bench-process.ts';
import { invoiceBody, readBody } from './throughput-invoice.ts';
import { machineMs } from './webhook-work.ts';

// Draws and signs PDFs of one invoice in its own process, with the service's renderer and nothing else.

export interface RenderRequest {
  readonly count: number;
  readonly lines: number;
}

export interface RenderAnswer {
  readonly ms: number;
}

/** Number of PDFs that are requested at the same time, as by the clients of the service. */
const AT_ONCE = 16;

const cacheDir = await mkdtemp(join(tmpdir(), 'throughput-pdfs-'));
const key = softwareKey(await makeTestIdentity(new Date(Date.now() - 86_400_000)), true);
const renderer = createSignedRenderer(createPdfRenderer({ cacheDir }), () => key);
await renderer.warm();

serveRequests<RenderRequest>(
  async ({ count, lines }): Promise<RenderAnswer> => {
    const tenant = { id: 'ten_bench', name: 'Bench', profile: {}, createdAt: new Date(0), suspendedAt: null };
    const owner = { kind: 'secret', keyId: 'key_bench', tenant, environment: 'test' } as const;
    const invoice = legalInvoice(
      newInvoice(owner, inputOfRestBody(readBody(invoiceBody(lines))), new Date()),
      '2026-000123',
    );
    const xml = await createDocumentSigner(key).sign(unsignedDocument(writeInvoice(invoice)), new Date());
    const page = {
      invoice,
      dgiId: 'DGI-TEST-7F3A91C000000000',
      acceptedAt: new Date(),
      receipt: null,
      logo: null,
      verifyUrl: `https://fatoura.example/verify/${invoice.id}`,
    };
    const startedAtMs = machineMs();
    let left = count;
    const draw = async () => {
      while (left-- > 0) await renderer.render(page, xml);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, draw));
    return { ms: machineMs() - startedAtMs };
  },
  async () => {
    await renderer.close();
    await rm(cacheDir, { recursive: true, force: true, maxRetries: 3 });
  },
);
process.send?.('ready');
