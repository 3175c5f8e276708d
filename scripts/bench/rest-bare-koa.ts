import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Router } from '@koa/router';
import Koa, { type Context } from 'koa';
import type { Db, Document } from 'mongodb';
import type { DataKeys } from '../../src/domain/data-keys.ts';
import { createClientSecrets } from '../../src/domain/invoice/client-secret.ts';
import { PARTITIONS, slotOf } from '../../src/domain/invoice/lanes.ts';
import { orderAt } from '../../src/domain/order-key.ts';
import { createStageJobs, WAKE_MS, WAKE_RANGES } from '../../src/jobs/stage-jobs.ts';

/** Pause between two removals of old jobs, milliseconds, as in the service. */
const TIDY_MS = 5000;

/**
 * The peer of `rest`: Koa with a router and three hand-written routes. They make the same driver calls as the service
 * (the key by its hash, then the invoices; for a creation also the head of the list and the job that tells a worker)
 * and answer the same bytes, and nothing else: no limits, validation, scopes, GraphQL, ETag, request ids, request log
 * or CORS.
 */
export async function startBareKoa(
  db: Db,
  keys: DataKeys,
  publicUrl: string,
): Promise<{ url: string; close(): Promise<void> }> {
  const [tenants, invoices, heads] = [
    db.collection('tenants'),
    db.collection<Stored>('invoices'),
    db.collection<Stored>('list_heads'),
  ];
  const secrets = createClientSecrets(keys);
  const template = await invoices.findOne({});
  if (!template) throw new Error('no invoice to copy');
  const jobs = createStageJobs(db, 'bare Koa');
  /** The interval of the last job of each range of partitions. */
  const told = new Map<number, number>();
  let tidiedAt = Number.NEGATIVE_INFINITY;

  /** As the service: a job for each range and interval, and at most one removal of old ones in five seconds. */
  async function tellWorker(stored: Stored): Promise<void> {
    const range = Math.floor(
      (slotOf({ tenantId: stored.tenantId, id: stored._id }, 'stages') * WAKE_RANGES) / PARTITIONS,
    );
    const turn = Math.floor(Date.now() / WAKE_MS);
    if (told.get(range) === turn) return;
    told.set(range, turn);
    await jobs.wake({ lane: 'stages', range }, turn);
    if (performance.now() - tidiedAt < TIDY_MS) return;
    tidiedAt = performance.now();
    await jobs.removeOldWakes();
  }

  async function tenantOf(ctx: Context): Promise<string> {
    const token = (ctx.headers.authorization ?? '').slice('Bearer '.length);
    const hash = createHash('sha256').update(token).digest('hex');
    const found = await tenants.findOne(
      { 'keys.hash': hash },
      { projection: { name: 1, profile: 1, createdAt: 1, keys: { $elemMatch: { hash } } } },
    );
    if (!found) ctx.throw(401);
    return String(found._id);
  }
  const shown = (stored: Stored, clientSecret?: string) => ({
    id: stored._id,
    object: 'invoice',
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
    status: stored.status,
    amount: stored.amount,
    currency: stored.currency,
    customer: { ice: stored.customer.ice, name: stored.customer.name },
    lines: stored.lines.map(({ description, quantity, unitPrice, taxRate, amount }) => ({
      description,
      quantity,
      unit_price: unitPrice,
      tax_rate: taxRate,
      amount,
    })),
    metadata: Object.fromEntries(stored.metadata),
    xml_url: urlOf(stored, 'xml'),
    pdf_url: urlOf(stored, 'pdf'),
    dgi_id: stored.dgiId,
    rejection_reason: stored.rejectionReason,
    created_at: `${stored.createdAt.toISOString().slice(0, 19)}Z`,
    updated_at: `${stored.updatedAt.toISOString().slice(0, 19)}Z`,
  });
  const urlOf = ({ _id, status }: Stored, kind: 'xml' | 'pdf') =>
    status === 'accepted' ? `${publicUrl}/files/${_id}/${secrets.documentToken(_id, kind, 0)}.${kind}` : null;

  const router = new Router();
  router.get('/v1/invoices/:id', async (ctx) => {
    const tenantId = await tenantOf(ctx as unknown as Context);
    const stored = await invoices.findOne({ _id: String(ctx.params.id) });
    if (stored?.tenantId !== tenantId) return ctx.throw(404);
    ctx.body = shown(stored);
  });
  router.get('/v1/invoices', async (ctx) => {
    const tenantId = await tenantOf(ctx as unknown as Context);
    const limit = Number(ctx.query.limit);
    const until = Date.parse(String(ctx.query.created_before));
    // The condition of the service, where a key may be up to a minute after the time of creation.
    const created = { createdAt: { $lt: new Date(until) }, order: { $lt: orderAt(until + 60_000) } };
    const found = await invoices
      .find({ tenantId, environment: 'test', kind: 'invoice', ...created })
      .sort({ order: -1 })
      .limit(limit + 1)
      .toArray();
    const data = found.slice(0, limit).map((stored) => shown(stored));
    ctx.body = { object: 'list', data, has_more: found.length > limit, next_cursor: data.at(-1)?.id ?? null };
  });
  router.post('/v1/invoices', async (ctx) => {
    const tenantId = await tenantOf(ctx as unknown as Context);
    const chunks: Buffer[] = [];
    for await (const chunk of ctx.req) chunks.push(chunk);
    const { lines, metadata, ...input } = JSON.parse(Buffer.concat(chunks).toString());
    const _id = `inv_${randomUUID()}`;
    const createdAt = new Date();
    const stored = {
      ...template,
      ...input,
      _id,
      tenantId,
      status: 'pending',
      dgiId: null,
      createdAt,
      updatedAt: createdAt,
      lines: lines.map((line: Line) => ({
        description: line.description,
        quantity: line.quantity,
        unitPrice: line.unit_price,
        taxRate: line.tax_rate,
        amount: line.quantity * line.unit_price,
      })),
      metadata: Object.entries(metadata),
      order: `${orderAt(createdAt.getTime())}${randomUUID()}`,
    };
    // A head of its own: the service would take the shared one for that of another process, and read it each time.
    await heads.updateOne(
      { _id: `bare ${tenantId} test` },
      { $set: { turn: randomUUID(), top: stored.order, last: _id, ended: false }, $currentDate: { at: true } },
      { upsert: true },
    );
    await invoices.insertOne(stored);
    void tellWorker(stored);
    ctx.status = 201;
    ctx.body = shown(stored, secrets.issue(_id));
  });

  const server = new Koa().use(router.routes()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

interface Stored extends Document {
  readonly _id: string;
  readonly tenantId: string;
  readonly customer: { readonly ice: string; readonly name: string };
  readonly lines: readonly { [name: string]: unknown }[];
  readonly metadata: readonly [string, string][];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

interface Line {
  readonly description: string;
  readonly quantity: number;
  readonly unit_price: number;
  readonly tax_rate: number;
}
