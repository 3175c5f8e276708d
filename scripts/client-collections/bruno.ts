import {
  type ApiDocument,
  type CollectionRequest,
  collectionRequests,
  ENVIRONMENTS,
  type Parameter,
  withoutSiteLinks,
} from './requests.ts';

/** Returns the files of the collection for Bruno by their paths in its folder. */
export function brunoCollection(api: ApiDocument): Record<string, string> {
  const document = withoutSiteLinks(api);
  const requests = collectionRequests(document);
  const { title, description } = document.info;
  const files: Record<string, string> = {
    'bruno.json': `${JSON.stringify({ version: '1', name: title, type: 'collection', ignore: [] }, null, 2)}\n`,
    'collection.bru': blocks(
      dictionary('auth', { mode: 'bearer' }),
      dictionary('auth:bearer', { token: '{{key}}' }),
      text('docs', description),
    ),
  };
  for (const [name, address] of Object.entries(ENVIRONMENTS))
    files[`environments/${name}.bru`] = blocks(dictionary('vars', { base_url: address }), 'vars:secret [\n  key\n]');
  document.tags.forEach((tag, nth) => {
    const ofFolder = requests.filter(({ folder }) => folder === tag.name);
    if (ofFolder.length === 0) return;
    files[`${tag.name}/folder.bru`] = blocks(
      dictionary('meta', { name: tag.name, seq: nth + 1 }),
      dictionary('auth', { mode: 'inherit' }),
      text('docs', tag.description),
    );
    ofFolder.forEach((request, place) => {
      files[`${tag.name}/${request.name}.bru`] = requestFile(request, place + 1);
    });
  });
  return files;
}

function requestFile({ name, method, path, ...request }: CollectionRequest, place: number): string {
  const body = request.body === null ? 'none' : 'json';
  return blocks(
    dictionary('meta', { name, type: 'http', seq: place }),
    dictionary(method, { url: `{{base_url}}${path}`, body, auth: 'inherit' }),
    dictionary('params:query', rows(request.query)),
    dictionary('headers', rows(request.headers)),
    request.body === null ? '' : text('body:json', JSON.stringify(request.body, null, 2)),
    dictionary('vars:post-response', request.keeps === null ? {} : { [request.keeps]: 'res.body.id' }),
    dictionary('assert', { 'res.status': `eq ${request.status}` }),
    text('docs', [request.description, ...described(request.query), ...described(request.headers)].join('\n\n')),
  );
}

/** A row that is shown and not sent begins with `~`. */
function rows(parameters: readonly Parameter[]): Record<string, string> {
  return Object.fromEntries(parameters.map(({ name, value }) => [value === null ? `~${name}` : name, value ?? '']));
}

/** The format has no place for the description of a parameter. */
const described = (parameters: readonly Parameter[]): string[] =>
  parameters
    .filter(({ description }) => description !== '')
    .map(({ name, description }) => `\`${name}\`: ${description}`);

/** Writes a block of names and values; an empty text if there are none. */
function dictionary(name: string, members: Readonly<Record<string, string | number>>): string {
  const lines = Object.entries(members).map(([member, value]) => `  ${member}: ${value}`.trimEnd());
  return lines.length === 0 ? '' : [`${name} {`, ...lines, '}'].join('\n');
}

/** Writes a block of free text, which ends at a brace in the first column. */
function text(name: string, content: string): string {
  return [`${name} {`, ...content.split('\n').map((line) => (line === '' ? '' : `  ${line}`)), '}'].join('\n');
}

const blocks = (...all: readonly string[]): string => `${all.filter((block) => block !== '').join('\n\n')}\n`;
