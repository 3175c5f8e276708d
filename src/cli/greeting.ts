import type { FirstStart } from '../domain/installation/first-start.ts';

/** What the process prints when it serves: where, and at the first start the credentials, this once. */
export function greeting(url: string | null, { operatorPassword, demo }: FirstStart): string {
  const lines = [url === null ? 'Fatoura works on the queue.' : `Fatoura listens on ${url}`];
  if (operatorPassword !== null) {
    lines.push(
      '',
      'Job dashboard (shown this once):',
      `  ${url ?? ''}/ops/jobs`,
      `  user      operator`,
      `  password  ${operatorPassword}`,
    );
  }
  if (demo !== null && url !== null) {
    lines.push(
      '',
      'Test keys of the demo tenant (shown this once):',
      `  secret       ${demo.secretKey}`,
      `  publishable  ${demo.publishableKey}`,
      '',
      'Try:',
      ...curlLines(url, demo.secretKey),
      '',
      'or, in another terminal: npm run demo',
    );
  }
  return lines.join('\n');
}

function curlLines(url: string, secretKey: string): string[] {
  const body = {
    amount: 12000,
    currency: 'MAD',
    customer: { ice: '001234567000089', name: 'Atlas SARL' },
    lines: [{ description: 'Conseil', quantity: 1, unit_price: 10000 }],
  };
  return [
    `  curl -s ${url}/v1/invoices -H 'Authorization: Bearer ${secretKey}' \\`,
    `    -H 'Content-Type: application/json' \\`,
    `    -d '${JSON.stringify(body)}'`,
  ];
}
