import { type Command, UsageError } from '../../../src/cli/command.ts';
import { readInput } from '../../../src/cli/files.ts';
import { columns, harmless } from '../../../src/cli/terminal.ts';
import { accessOf, operate } from '../../../src/cli/webhooks/service.ts';
import { SignatureError, webhooks } from '../../typescript/src/index.ts';
import { CONNECTION_OPTIONS } from './connection.ts';

/** Maximum size of a webhook's body and of a document, in bytes. */
const [MOST_BODY, MOST_DOCUMENT] = [1024 * 1024, 1_000_000];

export const verifyWebhook: Command = {
  name: 'verify webhook',
  summary: 'Checks the signature of a delivery that was received',
  positionals: ['BODY_FILE'],
  options: {
    signature: { value: 'HEADER', description: 'The header Service-Signature: t=…,v1=…', required: true },
    secret: { value: 'SECRET', description: 'whsec_…, several with commas; default: FATOURA_WEBHOOK_SECRET' },
    'any-time': { description: 'Accept a delivery of any time; otherwise of the last five minutes' },
    json: { description: 'Print the event, or an object with the error' },
  },
  details:
    'Needs no service. BODY_FILE has the raw body, as it was received. The exit code is 1 if the signature is not right.',
  async run(input, { terminal }) {
    const secrets = (input.find('secret') ?? process.env.FATOURA_WEBHOOK_SECRET ?? '').split(',').filter(Boolean);
    if (secrets.length === 0) throw new UsageError('--secret is required, or the variable FATOURA_WEBHOOK_SECRET');
    const body = await readInput(input.get('BODY_FILE'), MOST_BODY);
    const headers = { 'service-signature': input.get('signature') };
    const toleranceSeconds = input.has('any-time') ? Number.POSITIVE_INFINITY : 300;
    try {
      const event = await webhooks.verify(body, headers, secrets, { toleranceSeconds });
      terminal.print(
        input.has('json')
          ? JSON.stringify(event)
          : `${harmless(event.type)} ${harmless(event.id)} is from the service.`,
      );
      return 0;
    } catch (error) {
      if (!(error instanceof SignatureError)) throw error;
      if (input.has('json')) terminal.print(JSON.stringify({ error: { message: error.message } }));
      else terminal.remark(error.message);
      return 1;
    }
  },
};

const VERIFY = `query ($xml: String!) { verifyDocument(xml: $xml) {
  valid failed reason signingTime covered { type number digest } certificate { subject issuer fingerprint }
} }`;

interface Verdict {
  readonly valid: boolean;
  readonly failed: string | null;
  readonly reason: string | null;
  readonly signingTime: string | null;
  readonly certificate: { readonly subject: string; readonly issuer: string; readonly fingerprint: string } | null;
  readonly covered: { readonly type: string; readonly number: string | null; readonly digest: string } | null;
}

export const verifyDocument: Command = {
  name: 'verify document',
  summary: 'Has the service check the signature of a signed invoice, of any issuer',
  positionals: ['FILE.xml'],
  options: { json: { description: 'Print an object' }, ...CONNECTION_OPTIONS },
  details: `At most 1 MB. Says whether the document is unchanged since it was signed, and by whom; whether to trust the signer is
yours to decide, by the fingerprint of the certificate. The exit code is 1 if it is not valid.`,
  async run(input, context) {
    const xml = (await readInput(input.get('FILE.xml'), MOST_DOCUMENT)).toString('utf8');
    const access = await accessOf(input, context);
    const { verifyDocument: verdict } = await operate<{ verifyDocument: Verdict }>(access, VERIFY, { xml });
    if (input.has('json')) context.terminal.print(JSON.stringify(verdict));
    else {
      const { signingTime, covered, certificate } = verdict;
      const facts = Object.entries({ ...covered, ...(signingTime !== null && { signingTime }), ...certificate });
      context.terminal.print(
        verdict.valid ? 'Unchanged since it was signed.' : `Not valid: ${harmless(verdict.reason ?? '')}`,
      );
      if (facts.length > 0)
        context.terminal.print(columns(facts.map(([name, fact]) => [name, harmless(String(fact ?? ''))])));
    }
    return verdict.valid ? 0 : 1;
  },
};
