/** 20 lines, two VAT rates: 2,500 × 20 × 1.20 / 2 + 2,500 × 20 × 1.10 / 2 centimes. */
const INVOICE = {
  amount: 57_500,
  currency: 'MAD',
  customer: { ice: '001234567000062', name: 'Atlas Distribution SARL', address: '12, rue des Orangers, Casablanca' },
  lines: Array.from({ length: 20 }, (_, i) => ({
    description: `Prestation ${i + 1}`,
    quantity: 1,
    unit_price: 2500,
    tax_rate: i % 2 === 0 ? 20 : 10,
  })),
};

/** A service, and a secret key of a tenant. */
export interface ServiceAddress {
  readonly url: string;
  readonly secretKey: string;
}

/** Creates an invoice of 20 lines. @throws unless it is created */
export async function createInvoice({
  url,
  secretKey,
}: ServiceAddress): Promise<{ id: string; client_secret: string }> {
  const created = await fetch(`${url}/v1/invoices`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(INVOICE),
  });
  if (created.status !== 201) throw new Error(`creation was answered ${created.status} ${await created.text()}`);
  return (await created.json()) as { id: string; client_secret: string };
}

/** Reads an invoice's event stream until a message has the status. @throws if the stream ends before */
export async function statusReached(
  { url }: ServiceAddress,
  { id, client_secret: token }: { readonly id: string; readonly client_secret: string },
  status: string,
): Promise<void> {
  const { body } = await fetch(`${url}/v1/invoices/${id}/stream`, { headers: { Authorization: `Bearer ${token}` } });
  let text = '';
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.includes(`"status":"${status}"`)) return;
  }
  throw new Error(`the stream ended before ${status}: ${text}`);
}
