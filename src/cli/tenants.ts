import { ServiceError } from '../domain/errors.ts';
import { PAYMENT_MEANS_NAMES } from '../domain/payment-means.ts';
import { MAX_DECODED_AREA, MAX_LOGO_BYTES, MAX_LOGO_PIXELS, parseLogo } from '../domain/tenant/logo.ts';
import type { SellerProfileChange } from '../domain/tenant/ports.ts';
import { parseSellerProfile } from '../domain/tenant/seller-profile-input.ts';
import { missingProfileFields } from '../domain/tenant/tenant.ts';
import { tenantName } from '../domain/tenant/tenant-name.ts';
import { administer } from './administer.ts';
import { type Command, InputError, UsageError } from './command.ts';
import { readJsonInput } from './files.ts';
import { columns, harmless, minute } from './terminal.ts';

const PROFILE_HELP = `FILE.json contains an object with the seller's details for invoices. All fields are optional:
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
  paymentMeans     kind of payment, which sets the code (UNCL4461), one of: ${PAYMENT_MEANS_NAMES.slice(0, 5).join(', ')},
                   ${PAYMENT_MEANS_NAMES.slice(5).join(', ')}
  paymentTermDays  days from an invoice's date to its due date: 30
  bankAccount      the RIB for transfers, 24 digits
  operationDateIsIssueDate
                   true if the date of the operation is the invoice date
  exemptionReason  legal reason for lines at 0 % VAT
  documentLanguage language of the PDF and the mails: "fr" (default), "ar" or "en"
  logo             for the PDF: a PNG or JPEG of at most ${MAX_LOGO_BYTES / 1024} KiB and ${MAX_LOGO_PIXELS} pixels a side,
                   ${MAX_DECODED_AREA / 1000},000 in all unless it is a JPEG in YCbCr or grey, as "data:image/png;base64,…"
Test invoices take missing fields from a specimen seller. Live keys need the fields up to paymentMode.
Example: scripts/samples/seller/profile.json`;

export const createTenant: Command = {
  name: 'tenants create',
  summary: 'Creates a tenant: a company that issues invoices',
  positionals: [],
  options: {
    name: { value: 'NAME', required: true, description: 'Name of the tenant' },
    profile: { value: 'FILE.json', description: "The seller's details for invoices" },
    json: { description: 'Print an object with the id of the tenant' },
  },
  details: PROFILE_HELP,
  async run(input, context) {
    const { terminal } = context;
    const { data: name, error } = tenantName.safeParse(input.get('name').trim());
    if (error) throw new UsageError(`--name ${error.issues[0]?.message}`);
    const profile = await profileOf(input.find('profile'));
    const { id, createdAt } = await administer(context, ({ operate }) => operate.createTenant(null, name, profile));
    if (input.has('json')) {
      const missing = missingProfileFields(profile);
      const created = { id, name, profile, missing_profile_fields: missing, created_at: createdAt };
      // The octets of the logo are left out of the output.
      terminal.print(JSON.stringify(created, (key, value) => (key === 'content' ? undefined : value)));
      return 0;
    }
    terminal.print(`Tenant ${id} (${name}) is created.${remarkOn(profile)}`);
    terminal.print(`Next: npm run -s cli -- keys create --tenant ${id} --environment test --kind secret`);
    return 0;
  },
};

export const listTenants: Command = {
  name: 'tenants list',
  summary: 'Lists all tenants and the environments for which they have valid keys',
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
  summary: "Replaces a tenant's profile",
  positionals: ['TENANT'],
  options: { profile: { value: 'FILE.json', required: true, description: "The seller's details for invoices" } },
  details: PROFILE_HELP,
  async run(input, context) {
    const profile = await profileOf(input.get('profile'));
    const tenantId = input.get('TENANT');
    await administer(context, ({ operate }) => operate.replaceProfile(null, tenantId, profile));
    context.terminal.print(`The profile of ${tenantId} is replaced. It applies to new invoices.${remarkOn(profile)}`);
    return 0;
  },
};

export const limitTenant: Command = {
  name: 'tenants limit',
  summary: 'Sets how many requests a minute the secret keys of a tenant may send together',
  positionals: ['TENANT'],
  options: {
    requests: {
      value: 'NUMBER',
      required: true,
      description: 'Requests a minute in each environment, or "default" (RATE_LIMIT_TENANT)',
    },
  },
  async run(input, context) {
    const [tenantId, given] = [input.get('TENANT'), input.get('requests')];
    const limit = given === 'default' ? null : Number(given);
    if (limit !== null && !(/^\d{1,9}$/.test(given) && limit > 0))
      throw new UsageError('--requests must be a whole number from 1 to 999999999, or "default"');
    await administer(context, ({ operate }) => operate.limitTenant(null, tenantId, limit));
    context.terminal.print(
      limit === null
        ? `${tenantId} has the limit of the installation again.`
        : `The secret keys of ${tenantId} may send ${limit} requests a minute together.`,
    );
    return 0;
  },
};

async function profileOf(file: string | null): Promise<SellerProfileChange> {
  if (file === null) return {};
  const value = await readJsonInput(file);
  try {
    return await parseSellerProfile(value, parseLogo);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const problems = error.problems.map(({ message }) => message).join(' ');
    throw new InputError(`${file} is not a valid profile: ${problems}`, { cause: error });
  }
}

function remarkOn(profile: SellerProfileChange): string {
  const fields = missingProfileFields(profile);
  return fields.length === 0 ? '' : `\nStill missing for live keys: ${fields.join(', ')}.`;
}
