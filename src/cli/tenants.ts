import { ServiceError } from '../domain/errors.ts';
import { newId } from '../domain/ids.ts';
import { PAYMENT_MEANS_NAMES } from '../domain/payment-means.ts';
import type { SellerProfileChange } from '../domain/tenant/ports.ts';
import { parseSellerProfile } from '../domain/tenant/seller-profile-input.ts';
import { missingProfileFields } from '../domain/tenant/tenant.ts';
import { administer } from './administer.ts';
import { type Command, InputError, UsageError } from './command.ts';
import { readJsonInput } from './files.ts';
import { columns, harmless, minute } from './terminal.ts';

const PROFILE_HELP = `FILE.json holds an object of what invoices tell of the seller, any of:
  legalName        "Atlas Conseil"
  legalForm        "SARL"
  capital          share capital in centimes: 10000000
  ice              15 digits
  taxId            identifiant fiscal
  tradeRegister    registre du commerce with its town: "Casablanca 123456"
  professionalTax  taxe professionnelle
  cnss             CNSS affiliation
  address          an object with street, city, postalCode
  email
  paymentMode      "Virement bancaire"
  paymentMeans     its kind, for its code (UNCL4461), one of: ${PAYMENT_MEANS_NAMES.slice(0, 5).join(', ')},
                   ${PAYMENT_MEANS_NAMES.slice(5).join(', ')}
  paymentTermDays  days from an invoice's date to its due date: 30
  bankAccount      the RIB for transfers, 24 digits
  operationDateIsIssueDate
                   true where the operation is on the day of its invoice
  exemptionReason  why lines at 0 % bear no VAT
  documentLanguage "fr" (unless given), "ar" or "en": the PDF's and the mails' own words
  logo             for the PDF: a PNG or JPEG of at most 256 KiB and 1,500 pixels a side, as "data:image/png;base64,…"
Test invoices fill what is missing with a specimen seller; live keys need those up to paymentMode.
scripts/samples/seller/profile.json is an example.`;

const MAX_NAME = 200;

export const createTenant: Command = {
  name: 'tenants create',
  summary: 'Makes a tenant: a company that issues invoices',
  positionals: [],
  options: {
    name: { value: 'NAME', required: true, description: 'How the tenant is called' },
    profile: { value: 'FILE.json', description: 'What its invoices tell of the seller' },
    json: { description: 'Print an object, with the id of the tenant' },
  },
  details: PROFILE_HELP,
  async run(input, context) {
    const { terminal } = context;
    const name = input.get('name').trim();
    if (name === '' || name.length > MAX_NAME) throw new UsageError(`--name must have 1 to ${MAX_NAME} characters`);
    const profile = await profileOf(input.find('profile'));
    const tenant = { id: newId('ten'), name, profile, createdAt: new Date() };
    await administer(context, ({ tenants }) => tenants.insert(tenant));
    if (input.has('json')) {
      const missing = missingProfileFields(profile);
      const created = { id: tenant.id, name, profile, missing_profile_fields: missing, created_at: tenant.createdAt };
      // A logo's octets are of no use to a reader.
      terminal.print(JSON.stringify(created, (key, value) => (key === 'content' ? undefined : value)));
      return 0;
    }
    terminal.print(`Tenant ${tenant.id} (${name}) is made.${remarkOn(profile)}`);
    terminal.print(`Next: npm run -s cli -- keys create --tenant ${tenant.id} --environment test --kind secret`);
    return 0;
  },
};

export const listTenants: Command = {
  name: 'tenants list',
  summary: 'Shows all tenants, and the environments that they have valid keys of',
  positionals: [],
  options: { json: { description: 'Print a list of objects' } },
  async run(input, context) {
    const tenants = await administer(context, (administration) => administration.tenants.list());
    const { terminal } = context;
    if (input.has('json')) {
      const objects = tenants.map(({ id, name, environments, createdAt }) => ({
        id,
        name,
        environments,
        created_at: createdAt,
      }));
      terminal.print(JSON.stringify(objects));
    } else if (tenants.length === 0) terminal.print('There are no tenants.');
    else {
      const rows = tenants.map(({ id, name, environments, createdAt }) => {
        return [id, minute(createdAt), environments.join(', ') || '-', harmless(name)];
      });
      terminal.print(columns([['ID', 'CREATED', 'KEYS', 'NAME'], ...rows]));
    }
    return 0;
  },
};

export const updateTenant: Command = {
  name: 'tenants update',
  summary: "Replaces a tenant's profile by the one of a file",
  positionals: ['TENANT'],
  options: { profile: { value: 'FILE.json', required: true, description: 'What its invoices tell of the seller' } },
  details: PROFILE_HELP,
  async run(input, context) {
    const profile = await profileOf(input.get('profile'));
    const tenantId = input.get('TENANT');
    const updated = await administer(context, ({ tenants }) => tenants.updateProfile(tenantId, profile));
    if (!updated) throw new Error(`There is no tenant '${tenantId}'.`);
    context.terminal.print(`The profile of ${tenantId} is replaced; new invoices carry it.${remarkOn(profile)}`);
    return 0;
  },
};

async function profileOf(file: string | null): Promise<SellerProfileChange> {
  if (file === null) return {};
  const value = await readJsonInput(file);
  try {
    return parseSellerProfile(value);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const problems = error.problems.map(({ message }) => message).join(' ');
    throw new InputError(`${file} holds no valid profile: ${problems}`, { cause: error });
  }
}

function remarkOn(profile: SellerProfileChange): string {
  const fields = missingProfileFields(profile);
  return fields.length === 0 ? '' : `\nMissing before it can have live keys: ${fields.join(', ')}.`;
}
