import type { SecretBox } from '../secret-box.ts';
import type { WebhookEndpoint } from './endpoint.ts';
import type { EndpointRepository } from './ports.ts';

/** Number of endpoints that are read together. */
const BATCH = 200;

export interface Resealed {
  readonly endpoints: number;
  /** Secrets that were sealed again. */
  readonly secrets: number;
  /** Endpoints with a secret that does not open: it stays as it is. */
  readonly unopened: readonly string[];
}

/**
 * Seals the signing secrets of all endpoints with the newest key, beside a running service and concurrent calls. Each
 * endpoint is one write, so an interrupted call can be repeated.
 */
export async function resealSecrets(
  endpoints: Pick<EndpointRepository, 'findOfAnyTenant' | 'pageOfAll' | 'resealSecrets'>,
  box: SecretBox,
): Promise<Resealed> {
  const unopened: string[] = [];
  let [count, secrets] = [0, 0];
  for await (const found of allEndpoints(endpoints)) {
    count++;
    for (let endpoint: WebhookEndpoint | null = found; endpoint; ) {
      const present: WebhookEndpoint = endpoint;
      const old = present.secrets.filter(({ sealed }) => !box.isNewest(sealed) && opens(box, sealed, present.id));
      if (old.length === 0) break;
      const sealedAnew = present.secrets.map((secret) =>
        old.includes(secret)
          ? { ...secret, sealed: box.seal(box.open(secret.sealed, present.id), present.id) }
          : secret,
      );
      if (await endpoints.resealSecrets(present.id, present.secrets, sealedAnew)) {
        secrets += old.length;
        break;
      }
      // A rotation by the tenant, or another operator, came in between.
      endpoint = await endpoints.findOfAnyTenant(present.id);
    }
    if (unopenedOf(found, box)) unopened.push(found.id);
  }
  return { endpoints: count, secrets, unopened };
}

/** Yields the ids of the endpoints with a secret that signs and does not open. */
export async function* unopenedSecrets(
  endpoints: Pick<EndpointRepository, 'pageOfAll'>,
  box: Pick<SecretBox, 'open'>,
): AsyncGenerator<string> {
  for await (const endpoint of allEndpoints(endpoints)) if (unopenedOf(endpoint, box)) yield endpoint.id;
}

async function* allEndpoints(endpoints: Pick<EndpointRepository, 'pageOfAll'>): AsyncGenerator<WebhookEndpoint> {
  for (let after = ''; ; ) {
    const page = await endpoints.pageOfAll(after, BATCH);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < BATCH) return;
    after = last.id;
  }
}

function unopenedOf({ id, secrets }: WebhookEndpoint, box: Pick<SecretBox, 'open'>): boolean {
  const now = new Date();
  return secrets.some(({ sealed, expiresAt }) => (expiresAt === null || expiresAt > now) && !opens(box, sealed, id));
}

function opens(box: Pick<SecretBox, 'open'>, sealed: string, endpointId: string): boolean {
  try {
    box.open(sealed, endpointId);
    return true;
  } catch {
    return false;
  }
}
