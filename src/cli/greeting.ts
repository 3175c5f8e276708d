import type { FirstStart } from '../domain/installation/first-start.ts';

/** What whoever has no key types next, on the machine of the service and with its settings. */
const TO_A_KEY = [
  'No key at hand? A key is shown once, when it is made:',
  '  npm run -s cli -- tenants list                    (none yet: tenants create --name NAME)',
  '  npm run -s cli -- keys create --tenant TENANT --environment test --kind secret',
];

/**
 * What the process prints when it serves: where, its documentation, and how to get a key: at the first start the credentials, this once.
 * @param sandboxUrl where alone test keys are taken; null: at every address
 */
export function greeting(url: string | null, firstStart: FirstStart, sandboxUrl: string | null = null): string {
  const lines =
    url === null ? ['Fatoura works on the queue.'] : [`Fatoura listens on ${url}`, `Documentation: ${url}/docs`];
  const shown = credentials(firstStart, url);
  if (shown.length > 0) lines.push('', ...shown);
  if (firstStart.demo === null && url !== null) lines.push('', ...TO_A_KEY);
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
 * The credentials of a first start, lines to print this once; none at a later start.
 * @param url where the API is served; null: not known to this process
 */
export function credentials({ operatorPassword, demo }: FirstStart, url: string | null): string[] {
  const lines: string[] = [];
  if (operatorPassword !== null) {
    lines.push(
      'Job dashboard (shown this once):',
      `  address   ${url === null ? '/ops/jobs of the processes with ROLE=api' : `${url}/ops/jobs`}`,
      `  user      operator`,
      `  password  ${operatorPassword}`,
    );
  }
  if (demo !== null) {
    if (lines.length > 0) lines.push('');
    lines.push(
      'Test keys of the demo tenant (shown this once):',
      `  secret       ${demo.secretKey}`,
      `  publishable  ${demo.publishableKey}`,
    );
  }
  return lines;
}

function curlLines(url: string, sandboxUrl: string | null, secretKey: string): string[] {
  const body = {
    amount: 12000,
    currency: 'MAD',
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
