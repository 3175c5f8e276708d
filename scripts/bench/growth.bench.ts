import { type BenchProcess, startProcess } from './bench-process.ts';
import type { GrowthAnswer, GrowthRequest, GrowthService } from './growth-service.ts';
import type { Benchmark, Settings, Side } from './harness.ts';
import { invoiceBody } from './throughput-invoice.ts';

const FEW = 1000;
const QUICK = 20_000;

const PAGE = `query ($after: String) {
  invoices(first: 20, after: $after) { edges { node { id status number amount createdAt } } pageInfo { endCursor } }
}`;

const PERIOD = `query ($period: String!) { period(period: $period) { period { ...Of } before { ...Of } } }
  fragment Of on Period { invoices { accepted { ...All } rejected { ...All } } creditNotes { accepted { ...All } } }
  fragment All on PeriodSums { count net tax total rates { rate net tax } }`;

/**
 * Measures every operation, one at a time, over many stored invoices of one tenant and over 1,000: an operation must
 * cost about the same. The search for due work and the claim of all that it has found are those of a worker with a
 * backlog, among invoices that are done.
 */
export const benchmark: Benchmark = {
  name: 'growth',
  about: 'operations over many stored invoices (1,000,000 or --most N; 20,000 with --quick); the peer has 1,000',
  sides: [
    side('many stored', ({ quick, most }) => (quick ? Math.min(most, QUICK) : most)),
    side('1,000 stored', () => FEW),
  ],
  answers: 'incomparable',
  repeats: 5,
  warmups: 1,
};

function side(name: string, stored: (settings: Settings) => number): Side {
  let service: BenchProcess<GrowthService, GrowthRequest, GrowthAnswer> | null = null;
  return {
    name,
    async open(settings) {
      service = await startProcess('growth-service.ts', [
        JSON.stringify({ count: stored(settings), lines: settings.lines }),
      ]);
    },
    async run({ quick, lines }) {
      if (!service) throw new Error(`${name} is not open`);
      const { url, start } = await service.ask({ do: 'restart' });
      const { secretKey, ids } = service.ready;
      const times = quick ? 10 : 40;
      const [samples, body] = [spread(ids, times), invoiceBody(lines)];
      const latencies: Record<string, number[]> = { start: [start] };
      for (const [operation, request] of Object.entries(requestsOf(body))) {
        latencies[operation] = [];
        for (const id of samples) {
          const startedAt = performance.now();
          await send(`${url}${request(id).path}`, secretKey, request(id).body);
          latencies[operation].push(performance.now() - startedAt);
        }
      }
      const { searches, claims } = await service.ask({ do: 'claim' });
      return {
        latencies: { ...latencies, 'search for due work': [...searches], 'claim of what it found': [...claims] },
      };
    },
    close: async () => service?.close(),
  };
}

/** Returns the requests of each operation; without a body it is a GET. */
function requestsOf(body: string): Record<string, (id: string) => { readonly path: string; readonly body?: string }> {
  const now = () => new Date(Date.now() - 1000).toISOString();
  const month = new Date().toISOString().slice(0, 'YYYY-MM'.length);
  const sums = (period: string) => () => ({
    path: '/graphql',
    body: JSON.stringify({ query: PERIOD, variables: { period } }),
  });
  const list = (query: (id: string) => string) => (id: string) => ({ path: `/v1/invoices?limit=20&${query(id)}` });
  return {
    create: () => ({ path: '/v1/invoices', body }),
    read: (id) => ({ path: `/v1/invoices/${id}` }),
    list: list(() => ''),
    'list by status': list(() => 'status=rejected'),
    'list by a status that none has': list(() => 'status=transmitted'),
    'list of a time': list(() => `created_before=${now()}`),
    'list after an invoice': list((id) => `starting_after=${id}`),
    'list before an invoice': list((id) => `ending_before=${id}`),
    'sums of a month': sums(month),
    'sums of a year': sums(month.slice(0, 'YYYY'.length)),
    'GraphQL page': () => ({ path: '/graphql', body: JSON.stringify({ query: PAGE }) }),
  };
}

/** `count` of the ids, from the whole list. */
function spread(ids: readonly string[], count: number): string[] {
  return Array.from({ length: count }, (_, index) => ids[Math.floor((index * ids.length) / count)] ?? '');
}

async function send(url: string, secretKey: string, body: string | undefined): Promise<void> {
  const headers = { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' };
  const answer = await fetch(url, { headers, ...(body !== undefined && { method: 'POST', body }) });
  const text = await answer.text();
  if (!answer.ok || text.startsWith('{"errors"')) throw new Error(`${url} was answered ${answer.status}: ${text}`);
}
