import { ServiceError } from '../domain/errors.ts';
import { isAccountAddress } from '../domain/person/account-input.ts';
import { ROLES, type Role } from '../domain/person/person.ts';
import { administer } from './administer.ts';
import { type Command, InputError, UsageError } from './command.ts';

export const inviteAccount: Command = {
  name: 'accounts invite',
  summary: 'Makes a link with which a person makes an account, or gets into a tenant',
  positionals: [],
  options: {
    tenant: { value: 'TENANT', description: "The tenant's id: ten_…" },
    role: {
      value: 'ROLE',
      choices: [...ROLES].reverse(),
      description:
        'In the tenant: a biller works with invoices, a developer with endpoints and test keys, an owner with everything; a viewer only reads',
    },
    operator: { description: 'The person operates the service' },
    email: { value: 'ADDRESS', description: 'Only the person with this address can use the link' },
    json: { description: 'Print an object with the link' },
  },
  details:
    'The link is valid once, for 7 days. It is shown only here: send it to the person. It does not confirm the address, which the first new password that is set by mail does.',
  async run(input, context) {
    const { terminal } = context;
    const [tenantId, role] = [input.find('tenant'), input.find('role') as Role | null];
    const isOperator = input.has('operator');
    if ((tenantId === null) !== (role === null)) throw new UsageError('--tenant and --role go together');
    if (tenantId === null && !isOperator) throw new UsageError('give --tenant and --role, or --operator, or all');
    const email = input.find('email');
    if (email !== null && !isAccountAddress(email)) throw new UsageError(`'${email}' is not an e-mail address`);
    const memberships = tenantId !== null && role !== null ? [{ tenantId, role }] : [];
    const link = await administer(context, ({ operate }) =>
      operate.invite(null, email, { isOperator, memberships }),
    ).catch((error: unknown) => {
      if (!(error instanceof ServiceError && error.code === 'resource_not_found')) throw error;
      throw new InputError(`There is no tenant ${tenantId}.`, { cause: error });
    });
    terminal.print(input.has('json') ? JSON.stringify({ link }) : link);
    return 0;
  },
};

export const removeSecondFactors: Command = {
  name: 'accounts remove-second-factors',
  summary: 'Removes codes and passkeys of a person who has lost them',
  positionals: [],
  options: { email: { value: 'ADDRESS', required: true, description: "The account's e-mail address" } },
  details:
    'The password alone signs in again, and all sessions end. Make sure by another way that the person asks for it.',
  async run(input, context) {
    const email = input.get('email').toLowerCase();
    if (!(await administer(context, ({ operate }) => operate.removeSecondFactors(null, email))))
      throw new InputError(`There is no account with the address ${email}.`);
    context.terminal.print(`Codes and passkeys of ${email} are removed, and its sessions have ended.`);
    return 0;
  },
};

export const removeOperator: Command = {
  name: 'accounts remove-operator',
  summary: "Ends a person's rights of an operator, at once",
  positionals: [],
  options: { email: { value: 'ADDRESS', required: true, description: "The account's e-mail address" } },
  details: 'Roles in tenants stay. The password of operator reset is nobody’s: reset it, too, if the person knows it.',
  async run(input, context) {
    const email = input.get('email').toLowerCase();
    if (!(await administer(context, ({ operate }) => operate.removeOperator(null, email))))
      throw new InputError(`There is no operator with the address ${email}.`);
    context.terminal.print(`${email} is no longer an operator.`);
    return 0;
  },
};
