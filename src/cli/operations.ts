import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Command, InputError } from './command.ts';
import { readInput, reasonOf } from './files.ts';
import { FOLLOW } from './webhooks/service.ts';
import { SEND } from './webhooks/trigger.ts';

export const listOperations: Command = {
  name: 'operations list',
  summary: 'Makes the list of GraphQL operations that GRAPHQL_OPERATIONS names',
  positionals: ['FOLDER'],
  options: {},
  details: `Prints a JSON object: each operation of the folder's .graphql and .gql files with its fragments, by its SHA-256. Clients send
{"extensions": {"persistedQuery": {"version": 1, "sha256Hash": "…"}}} instead of a query, or the text as it stands in the list.
The operations of listen and trigger are on it too.`,
  async run(input, { terminal, parts }) {
    const folder = input.get('FOLDER');
    const names = await readdir(folder, { recursive: true }).catch((error: unknown) => {
      throw new InputError(`${folder} can not be read: ${reasonOf(error)}.`);
    });
    const files = await Promise.all(
      names
        .filter((name) => /\.(graphql|gql)$/.test(name))
        .sort()
        .map(async (name) => ({ name, text: (await readInput(join(folder, name))).toString('utf8') })),
    );
    if (files.length === 0) throw new InputError(`${folder} has no .graphql or .gql file.`);
    const list = await parts.operationList(files, [FOLLOW, SEND]);
    terminal.print(JSON.stringify(Object.fromEntries(list), null, 2));
    return 0;
  },
};
