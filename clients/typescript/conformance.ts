import { createInterface } from 'node:readline';
import {
  ApiError,
  type ClientOptions,
  centimes,
  dirhams,
  Fatoura,
  FatouraError,
  totals,
  webhooks,
} from './src/index.ts';

// Runs the calls of the conformance suite (clients/conformance/README.md).

// biome-ignore lint/suspicious/noExplicitAny: the cases state arguments of every kind, wrong ones included
type Args = readonly any[];

interface Call {
  readonly call: string;
  readonly args: Args;
  readonly options?: ClientOptions & { readonly key?: string };
}

const CALLS: Readonly<Record<string, (client: Fatoura, args: Args) => unknown>> = {
  'invoices.create': ({ invoices }, [invoice, options]) => invoices.create(invoice, options),
  'invoices.get': ({ invoices }, [id, options]) => invoices.get(id, options),
  'invoices.list': ({ invoices }, [options]) => Array.fromAsync(invoices.list(options)),
  'invoices.findByNumber': ({ invoices }, [number]) => invoices.findByNumber(number),
  'invoices.follow': ({ invoices }, [id, options]) => Array.fromAsync(invoices.follow(id, options)),
  'invoices.settled': ({ invoices }, [id, options]) => invoices.settled(id, options),
  'invoices.credit': ({ invoices }, [id, input, options]) => invoices.credit(id, input, options),
  'invoices.replace': ({ invoices }, [id, input, options]) => invoices.replace(id, input, options),
  'drafts.create': ({ drafts }, [content]) => drafts.create(content),
  'drafts.get': ({ drafts }, [id]) => drafts.get(id),
  'drafts.update': ({ drafts }, [draft, content]) => drafts.update(draft, content),
  'drafts.issue': ({ drafts }, [draft]) => drafts.issue(draft),
  'drafts.delete': ({ drafts }, [draft]) => drafts.delete(draft),
  'webhookEndpoints.create': ({ webhookEndpoints }, [endpoint]) => webhookEndpoints.create(endpoint),
  'webhookEndpoints.list': ({ webhookEndpoints }) => webhookEndpoints.list(),
  'webhookEndpoints.update': ({ webhookEndpoints }, [id, change]) => webhookEndpoints.update(id, change),
  'webhookEndpoints.delete': ({ webhookEndpoints }, [id]) => webhookEndpoints.delete(id),
  'webhooks.verify': (_, [body, headers, secret, { toleranceMs = 300_000, now }]) =>
    webhooks.verify(body, headers, secret, { toleranceSeconds: toleranceMs / 1000, now }),
  'amounts.centimes': (_, [text]) => centimes(text),
  'amounts.dirhams': (_, [amount]) => dirhams(amount),
  'amounts.totals': (_, [lines]) => totals(lines),
};

function shown(error: unknown): object {
  if (error instanceof TypeError || error instanceof RangeError)
    return { class: 'ArgumentError', message: error.message };
  if (!(error instanceof FatouraError)) return { class: (error as Error).name, message: (error as Error).message };
  const { name, message, idempotencyKey = null } = error;
  if (!(error instanceof ApiError)) return { class: name, message, idempotencyKey };
  const { code, param, status, requestId } = error;
  return { class: name, message, code, param, status, hasRequestId: requestId !== null, idempotencyKey };
}

async function run({ call, args, options }: Call): Promise<object> {
  if (call === 'many') return { ok: await Promise.all(args[0].map(run)) };
  try {
    const client = new Fatoura(options?.key ?? process.env.FATOURA_KEY ?? '', options);
    return { ok: (await CALLS[call]?.(client, args)) ?? null };
  } catch (error) {
    return { error: shown(error) };
  }
}

for await (const line of createInterface({ input: process.stdin }))
  console.log(JSON.stringify(await run(JSON.parse(line) as Call)));
