import type { CallOptions, Http } from './http.ts';
import type {
  CreatedWebhookEndpoint,
  CreateWebhookEndpoint,
  DeletedWebhookEndpoint,
  UpdateWebhookEndpoint,
  WebhookEndpoint,
  WebhookEndpointList,
} from './models.ts';

/** The addresses that events are delivered to. */
export class WebhookEndpoints {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Creates an endpoint. Its `secret` is shown only here. The call is repeated only after a 429: if its answer is lost,
   * list the endpoints, delete the new one, and create it again.
   */
  create(endpoint: CreateWebhookEndpoint, options: CallOptions = {}): Promise<CreatedWebhookEndpoint> {
    return this.#send('POST', '', options, endpoint);
  }

  /** Returns all endpoints of the key's environment, at most 16. */
  async list(options: CallOptions = {}): Promise<readonly WebhookEndpoint[]> {
    return (await this.#send<WebhookEndpointList>('GET', '', options)).data;
  }

  update(id: string, change: UpdateWebhookEndpoint, options: CallOptions = {}): Promise<WebhookEndpoint> {
    return this.#send('PATCH', id, options, change);
  }

  delete(id: string, options: CallOptions = {}): Promise<DeletedWebhookEndpoint> {
    return this.#send('DELETE', id, options);
  }

  async #send<Result>(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    id: string,
    options: CallOptions,
    body?: object,
  ): Promise<Result> {
    const path = id === '' ? '/v1/webhook_endpoints' : `/v1/webhook_endpoints/${encodeURIComponent(id)}`;
    const call = { ...options, method, path, body, isRepeatable: method !== 'POST' } as const;
    return (await this.#http.send(call)).value as Result;
  }
}
