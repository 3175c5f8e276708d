import type { ScratchCopy } from './scratch-copy.ts';

// Changes of the contract, each made in the few places that it needs.

const FIELDS = 'src/domain/invoice/fields.ts';
const LINE_FIELDS = 'src/domain/invoice/line-fields.ts';

/** The imports that these rows need. */
const IMPORTS = `import { filledText as filled, printableText as printable } from '../printable-text.ts';
import { quantity as count } from './field-input.ts';
`;

/** A row of the table of an invoice's fields: an optional text of the input. */
const PURCHASE_ORDER = `    purchaseOrder: {
      rest: 'purchase_order',
      type: 'text',
      input: printable(50, 'the number of the order').nullish(),
      event: 14,
      description: "The number of the buyer's order, at most 50 characters.",
      example: 'PO-1',
    },
`;

/** A record that may be absent, with a field that it must have. */
const DELIVERY = `    delivery: {
      rest: 'delivery',
      record: {
        name: 'Delivery',
        inputName: 'DeliveryInput',
        restName: 'Delivery',
        restInputName: 'DeliveryInput',
        description: 'Where the goods went.',
        fields: {
          cityName: { rest: 'city_name', type: 'text', input: filled(50, 'the city'), description: 'The city.' },
        },
      },
      input: 'optional',
      event: 15,
      description: 'Where the goods went.',
    },
`;

/** A row of the table of a line's fields: a number with another name in REST. */
const PACKS = `    packs: {
      rest: 'pack_count',
      type: 'integer',
      input: count.nullish(),
      minimum: 1,
      description: 'How many packs.',
    },
`;

/** A required field of that record, for which stored records have no value. */
const STREET = "rest: 'street', type: 'text', input: filled(50, 'the street'), nullable: true, description: 'x'";

/** A field with a default. Stored invoices lack the field. */
const PRIORITY = `    priority: {
      rest: 'priority',
      type: 'integer',
      input: count.default(5),
      minimum: 1,
      description: 'How urgent it is.',
    },
`;

const CITY = '          cityName: {';

/** Adds a field and a record to the invoice. */
export async function addFields(copy: ScratchCopy): Promise<void> {
  await copy.edit(FIELDS, /^ {4}number: \{\n/m, `${PURCHASE_ORDER}${DELIVERY}    number: {\n`);
  await copy.edit(FIELDS, /^/, IMPORTS);
}

/** Adds a field to the lines. */
export async function addLineField(copy: ScratchCopy): Promise<void> {
  await copy.edit(LINE_FIELDS, /^ {4}taxRate: \{\n/m, `${PACKS}    taxRate: {\n`);
  await copy.edit(LINE_FIELDS, /^/, IMPORTS);
}

/**
 * Makes fields of {@link addFields} required, at the top and in a record, or gives them a default, where null or
 * nothing is stored.
 */
export async function requireFields(copy: ScratchCopy): Promise<void> {
  const change = (from: string, to: string) => copy.edit(FIELDS, from, to);
  await change(
    "input: printable(50, 'the number of the order').nullish(),",
    "input: printable(50, 'the number of the order'),\n      nullable: true,",
  );
  await change(CITY, `          street: { ${STREET} },\n${CITY}`);
  await copy.edit(LINE_FIELDS, 'input: count.nullish()', 'input: count.default(1)');
  await change('    delivery: {\n', `${PRIORITY}    delivery: {\n`);
}

/** Adds a VAT rate of 16 %. */
export function addRate(copy: ScratchCopy): Promise<void> {
  const row = "  16: { ublCategory: STANDARD, description: 'A new rate.' },\n";
  return copy.edit('src/domain/invoice/tax-rate.ts', '  20: {', `${row}  20: {`);
}

/**
 * Adds a row to the table of event types, and makes the update that writes `change` emit the event.
 * @param stage the file of the update, below the domain's folder of invoices
 */
export async function addEvent(copy: ScratchCopy, name: string, stage: string, change: string): Promise<void> {
  const row = `  'invoice.${name}': { kind: 'invoice', status: null, description: 'The invoice is ${name}.' },\n`;
  await copy.edit('src/domain/event.ts', /^} as const satisfies/m, `${row}} as const satisfies`);
  const file = `src/domain/invoice/${stage}`;
  await copy.edit(file, change, change.replace('{ ', `{ ...withEvent(invoice, 'invoice.${name}'), `));
  await copy.edit(file, /^/, "import { withEvent } from '../changes.ts';\n");
}

/** Adds the setting GREETING. */
export async function addSetting(copy: ScratchCopy): Promise<void> {
  await copy.edit('src/config.ts', '  LOG_LEVEL: z', "  GREETING: z.string().default('Hello'),\n  LOG_LEVEL: z");
  await copy.edit('src/config.ts', '  logLevel: env', '  greeting: env.GREETING,\n  logLevel: env');
}

const HELLO = `import type { Command } from './command.ts';

export const hello: Command = {
  name: 'hello',
  summary: 'Greets',
  positionals: ['NAME'],
  options: {},
  async run(input, { terminal, config }) {
    terminal.print(\`\${config().greeting}, \${input.get('NAME')}.\`);
    return 0;
  },
};
`;

/** Adds the command `hello`, which prints the setting of {@link addSetting}. */
export async function addCommand(copy: ScratchCopy): Promise<void> {
  const before = "import { verify } from './verify.ts';";
  await copy.write('src/cli/hello.ts', HELLO);
  await copy.edit('src/cli/commands.ts', before, `import { hello } from './hello.ts';\n${before}`);
  await copy.edit('src/cli/commands.ts', /^ {2}verify,$/m, '  hello,\n  verify,');
}
