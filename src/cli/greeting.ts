import type { FirstStart } from '../domain/installation/first-start.ts';
import { CURRENCY } from '../domain/money.ts';

/** Commands that create a key, to be run on the service's machine with its settings. */
const KEY_COMMANDS = [
  'No API key? A key is shown only once, when it is created:',
  '  npm run -s cli -- tenants list                    (none yet: tenants create --name NAME)',
  '  npm run -s cli -- keys create --tenant TENANT --environment test --kind secret',
];

/**
 * Returns the text that the process prints when it is ready: its address, its documentation, and how to create a key.
 * The first start prints the credentials instead, which are never shown again.
 * @param sandboxUrl the only address that accepts test keys; null when every address accepts them
 */
export function greeting(url: string | null, firstStart: FirstStart, sandboxUrl: string | null = null): string {
  const lines =
    url === null ? ['Fatoura is processing jobs.'] : [`Fatoura listens on ${url}`, `Documentation: ${url}/docs`];
  const shown = credentials(firstStart, url);
  if (firstStart.invitationUrl !== null) {
    lines.push(
      '',
      'Make your account with this link (valid once, for 7 days; later: npm run -s cli -- accounts invite):',
      `  ${firstStart.invitationUrl}`,
    );
  }
  if (shown.length > 0) lines.push('', ...shown);
  if (firstStart.demo === null && url !== null) lines.push('', ...KEY_COMMANDS);
  if (firstStart.demo !== null && url !== null) {
    lines.push(
      '',
      'Try:',
      ...curlLines(url, sandboxUrl, firstStart.demo.secretKey),
      '',
      'or, in another terminal: npm run demo',
    );
  }
  return lines.join('\n');
}

/**
 * Returns the credentials of a first start as lines to print; empty at a later start.
 * @param url address of the API; null when this process does not know it
 */
export function credentials({ operatorPassword, demo }: FirstStart, url: string | null): string[] {
  const lines: string[] = [];
  if (operatorPassword !== null) {
    lines.push(
      'Job dashboard (shown only once):',
      `  address   ${url === null ? '/ops/jobs of the processes with ROLE=api' : `${url}/ops/jobs`}`,
      `  user      operator`,
      `  password  ${operatorPassword}`,
    );
  }
  if (demo !== null) {
    if (lines.length > 0) lines.push('');
    lines.push(
      'Test keys of the demo tenant (shown only once):',
      `  secret       ${demo.secretKey}`,
      `  publishable  ${demo.publishableKey}`,
    );
  }
  return lines;
}

function curlLines(url: string, sandboxUrl: string | null, secretKey: string): string[] {
  const body = {
    amount: 12000,
    currency: CURRENCY,
    customer: { ice: '001234567000062', name: 'Atlas SARL' },
    lines: [{ description: 'Conseil', quantity: 1, unit_price: 10000 }],
  };
  const host = sandboxUrl === null ? '' : ` -H 'Host: ${new URL(sandboxUrl).host}'`;
  return [
    `  curl -s ${url}/v1/invoices${host} -H 'Authorization: Bearer ${secretKey}' \\`,
    `    -H 'Content-Type: application/json' \\`,
    `    -d '${JSON.stringify(body)}'`,
  ];
}
