import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Command, InputError } from './command.ts';
import { CREDIT, REPLACE } from './corrections.ts';
import { readInput, reasonOf } from './files.ts';
import { READ_IMPORT, READ_PROBLEMS, REMAP_IMPORT, START_IMPORT } from './imports/service.ts';
import { FOLLOW } from './webhooks/service.ts';
import { SEND } from './webhooks/trigger.ts';

export const listOperations: Command = {
  name: 'operations list',
  summary: 'Prints the list of allowed GraphQL operations for GRAPHQL_OPERATIONS',
  positionals: ['FOLDER'],
  options: {},
  details: `Prints a JSON object that maps SHA-256 to operation text, for each operation of the folder's .graphql and .gql files, including its
fragments. Clients send {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": "…"}}} instead of a query, or exactly the text
in the list. The list also contains the operations of the commands listen, trigger, import, invoices credit and invoices replace.`,
  async run(input, { terminal, parts }) {
    const folder = input.get('FOLDER');
    const names = await readdir(folder, { recursive: true }).catch((error: unknown) => {
      throw new InputError(`${folder} cannot be read: ${reasonOf(error)}.`);
    });
    const files = await Promise.all(
      names
        .filter((name) => /\.(graphql|gql)$/.test(name))
        .sort()
        .map(async (name) => ({ name, text: (await readInput(join(folder, name))).toString('utf8') })),
    );
    if (files.length === 0) throw new InputError(`${folder} has no .graphql or .gql file.`);
    const { digestOf, makeOperationList } = await parts.operationList();
    const own = [FOLLOW, SEND, CREDIT, REPLACE, READ_IMPORT, READ_PROBLEMS, REMAP_IMPORT, START_IMPORT].map(
      (text) => [digestOf(text), text] as const,
    );
    terminal.print(JSON.stringify(Object.fromEntries([...makeOperationList(files), ...own]), null, 2));
    return 0;
  },
};
