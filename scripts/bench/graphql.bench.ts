import type { GraphqlServiceMessage } from './graphql-service.ts';
import type { Benchmark, Measured, Side } from './harness.ts';
import { type LightClient, openLightClient, postOf } from './light-client.ts';
import { sharedProcess } from './shared-process.ts';

/** Number of concurrent requests. */
const CONNECTIONS = 32;

/**
 * Reads invoices over /graphql. The peers are stock Yoga and bare graphql-jit in the same process, with the same
 * schema, resolvers, authentication and store.
 */
export const benchmark: Benchmark = {
  name: 'graphql',
  about: `invoices of 20 lines over /graphql, one of 100 a request, ${CONNECTIONS} at a time; the peers are stock Yoga and graphql-jit on node:http, on the same schema, resolvers, credential check and store`,
  sides: [side('ours', 'ours'), side('stock Yoga', 'stock'), side('bare graphql-jit', 'bare')],
  answers: 'equal',
};

const QUERY = `query Invoice($id: ID!) {
  invoice(id: $id) {
    id status number amount currency metadata documents { xml { url } pdf { url } } dgiId rejectionReason createdAt updatedAt
    customer { ice name address email }
    totals { subtotal taxTotal total taxTotals { rate base tax } }
    lines { description quantity unitPrice taxRate amount }
  }
}`;

type Served = Extract<GraphqlServiceMessage, { ours: string }>;

type Account = Extract<GraphqlServiceMessage, { cpuMs: number }>;

/** All sides use one process. It reports the CPU time of the process and of its event loop so far, in milliseconds. */
const service = sharedProcess<Served, Account>('graphql-service.ts');

function side(name: string, which: 'ours' | 'stock' | 'bare'): Side {
  let url = '';
  let requests: readonly Buffer[] = [];
  let invoiceIds: readonly string[] = [];

  /** Sends one query and returns the body of the answer. */
  async function call(client: LightClient, connection: number, nth: number): Promise<Buffer> {
    const request = requests[nth % requests.length];
    if (!request) throw new Error(`${name} is not open`);
    const { status, body } = await client.ask(connection, request);
    if (status !== 200 || body.toString('latin1', 0, 9) === '{"errors"')
      throw new Error(`${name} answered ${status}: ${body}`);
    return body;
  }

  return {
    name,
    async open() {
      const served = await service.enter();
      url = served[which];
      invoiceIds = served.invoiceIds;
      requests = invoiceIds.map((id) =>
        postOf(
          url,
          '/graphql',
          { authorization: `Bearer ${served.secretKey}` },
          JSON.stringify({ query: QUERY, variables: { id } }),
        ),
      );
    },
    async run({ quick }): Promise<Measured> {
      // Opened for each repeat, because servers close connections that are idle while the other side is measured.
      const client = await openLightClient(url, CONNECTIONS);
      const answers: Buffer[] = [];
      for (const [nth, id] of invoiceIds.entries()) {
        const answer = await call(client, 0, nth);
        // Both sides use the same code to read, so equal answers do not prove that the right invoice was returned.
        if (!answer.includes(`{"data":{"invoice":{"id":"${id}",`))
          throw new Error(`${name} returned the wrong invoice: ${answer}`);
        answers.push(answer);
      }
      const before = await service.account();
      const samples: number[] = [];
      let left = quick ? 3000 : 10_000;
      const start = performance.now();
      await Promise.all(
        Array.from({ length: CONNECTIONS }, async (_, connection) => {
          while (left-- > 0) {
            const nth = left;
            const begun = performance.now();
            const answer = await call(client, connection, nth);
            samples.push(performance.now() - begun);
            if (!answers[nth % answers.length]?.equals(answer))
              throw new Error(`${name} returned a different answer under load: ${answer}`);
          }
        }),
      );
      const seconds = (performance.now() - start) / 1000;
      const after = await service.account();
      client.close();
      const each = (key: 'cpuMs' | 'loopMs') => (after[key] - before[key]) * (1000 / samples.length);
      return {
        operations: samples.length,
        seconds,
        latencies: { query: samples },
        // Other work on the machine affects CPU time less than throughput. The CPU time outside the event loop is
        // mostly that of the embedded engine.
        counts: { 'CPU µs a request': each('cpuMs'), 'of them the event loop': each('loopMs') },
        answer: answers.join('\n'),
      };
    },
    close: () => service.leave(),
  };
}
