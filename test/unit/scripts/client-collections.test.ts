import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { brunoCollection } from '../../../scripts/client-collections/bruno.ts';
import { postmanCollection } from '../../../scripts/client-collections/postman.ts';
import { collectionRequests } from '../../../scripts/client-collections/requests.ts';

const document = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8'));
const requests = collectionRequests(document);

describe('the collections for Bruno and Postman', () => {
  it('have each operation of the document once, and what creates comes before what reads', () => {
    const operations = Object.values<object>(document.paths).flatMap((methods) => Object.keys(methods));
    expect(requests).toHaveLength(operations.length);
    expect(requests.map(({ method, path, keeps, status }) => [method, path, keeps, status])).toEqual([
      ['post', '/v1/invoices', 'invoice_id', 201],
      ['get', '/v1/invoices', null, 200],
      ['get', '/v1/invoices/{{invoice_id}}', null, 200],
      ['get', '/v1/invoices/{{invoice_id}}/stream', null, 200],
      ['post', '/v1/webhook_endpoints', 'webhook_endpoint_id', 201],
      ['get', '/v1/webhook_endpoints', null, 200],
      ['patch', '/v1/webhook_endpoints/{{webhook_endpoint_id}}', null, 200],
      ['delete', '/v1/webhook_endpoints/{{webhook_endpoint_id}}', null, 200],
    ]);
  });

  it('send a new key with each creation, and nothing else that need not be sent', () => {
    const sent = requests.flatMap(({ name, headers, query }) =>
      [...headers, ...query].filter(({ value }) => value !== null).map((each) => [name, each.name, each.value]),
    );
    expect(sent).toEqual([['Create an invoice', 'Idempotency-Key', '{{$guid}}']]);
    const bruno = brunoCollection(document)['Invoices/Create an invoice.bru'];
    expect(bruno).toContain('headers {\n  Idempotency-Key: {{$guid}}\n}');
    expect(bruno).toContain('params:query {\n  ~include:\n}');
  });

  it('are in folders by resource', () => {
    const files = Object.keys(brunoCollection(document));
    const folders = JSON.parse(postmanCollection(document)['fatoura.postman_collection.json'] ?? '').item;
    for (const { name, folder } of requests) {
      expect(files).toContain(`${folder}/${name}.bru`);
      const { item } = folders.find((each: { name: string }) => each.name === folder);
      expect(item.map((each: { name: string }) => each.name)).toContain(name);
    }
  });

  it('have no link that leads nowhere in these programs', () => {
    const text = Object.values({ ...brunoCollection(document), ...postmanCollection(document) }).join('\n');
    expect(text.match(/\]\((?!https?:)[^)]*\)/g)).toBeNull();
    expect(text).toContain('the documentation (`{{base_url}}/docs/test-environment`)');
  });

  it('hold no key, and have a secret variable for it', () => {
    const files = { ...brunoCollection(document), ...postmanCollection(document) };
    expect(files['environments/Local.bru']).toContain('vars:secret [\n  key\n]');
    const { values } = JSON.parse(files['local.postman_environment.json'] ?? '');
    expect(values).toContainEqual({ key: 'key', value: '', type: 'secret', enabled: true });
    expect(Object.values(files).join('')).not.toMatch(/[ps]k_(?:test|live)_\w/);
  });
});
