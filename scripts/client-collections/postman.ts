import {
  type ApiDocument,
  type CollectionRequest,
  collectionRequests,
  ENVIRONMENTS,
  type Parameter,
  withoutSiteLinks,
} from './requests.ts';

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/** Returns the files for Postman by their names: the collection, and an environment for each service. */
export function postmanCollection(api: ApiDocument): Record<string, string> {
  const document = withoutSiteLinks(api);
  const requests = collectionRequests(document);
  const folders = document.tags.map((tag) => ({
    ...tag,
    item: requests.filter(({ folder }) => folder === tag.name).map(itemOf),
  }));
  const collection = {
    info: { name: document.info.title, description: document.info.description, schema: SCHEMA },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{key}}', type: 'string' }] },
    variable: requests.flatMap(({ keeps }) => (keeps === null ? [] : [{ key: keeps, value: '' }])),
    item: folders.filter(({ item }) => item.length > 0),
  };
  const environments = Object.entries(ENVIRONMENTS).map(([name, address]) => {
    const values = [
      { key: 'base_url', value: address, type: 'default', enabled: true },
      // Postman keeps the value that the user enters here on the user's machine.
      { key: 'key', value: '', type: 'secret', enabled: true },
    ];
    const file = `${name.toLowerCase()}.postman_environment.json`;
    return [file, printed({ name: `${document.info.title}: ${name}`, values, _postman_variable_scope: 'environment' })];
  });
  return { 'fatoura.postman_collection.json': printed(collection), ...Object.fromEntries(environments) };
}

function itemOf({ name, method, path, description, query, headers, body, status, keeps }: CollectionRequest) {
  const checks = [
    `pm.test('answers ${status}', () => pm.response.to.have.status(${status}));`,
    ...(keeps === null ? [] : [`pm.collectionVariables.set('${keeps}', pm.response.json().id);`]),
  ];
  return {
    name,
    event: [{ listen: 'test', script: { type: 'text/javascript', exec: checks } }],
    request: {
      method: method.toUpperCase(),
      description,
      header: headers.map(row),
      url: {
        raw: `{{base_url}}${path}`,
        host: ['{{base_url}}'],
        path: path.slice(1).split('/'),
        query: query.map(row),
      },
      ...(body !== null && {
        body: { mode: 'raw', raw: JSON.stringify(body, null, 2), options: { raw: { language: 'json' } } },
      }),
    },
  };
}

const row = ({ name, value, description }: Parameter) => ({
  key: name,
  value: value ?? '',
  description,
  ...(value === null && { disabled: true }),
});

const printed = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
