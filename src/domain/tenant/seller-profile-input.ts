import { z } from 'zod';
import { bankAccountDigits, hasBankAccountKey } from '../bank-account.ts';
import { DOCUMENT_LANGUAGES } from '../document-language.ts';
import { emailAddress } from '../email-address.ts';
import { type Problem, problem, ServiceError } from '../errors.ts';
import { PROFILE_LIMITS as LIMITS } from '../limits.ts';
import { PAYMENT_MEANS_NAMES } from '../payment-means.ts';
import { filledText, oneLineText } from '../printable-text.ts';
import { NotALogo } from './not-a-logo.ts';
import type { SellerProfileChange } from './ports.ts';
import type { ReadLogo } from './read-logo.ts';

const OBJECT = 'must be an object with the fields of a seller profile';
const TERM = `must be a whole number of days, 0 to ${LIMITS.paymentTermDays}`;
const ADDRESS = 'must be an object with street, city and postalCode';

const fields = {
  legalName: filledText(LIMITS.legalName, 'the legal name').exactOptional(),
  ice: z
    .string({ error: 'must be a string of 15 digits' })
    .regex(/^[0-9]{15}$/, { error: 'must be 15 digits' })
    .exactOptional(),
  taxId: filledText(LIMITS.taxId, 'the identifiant fiscal').exactOptional(),
  tradeRegister: filledText(
    LIMITS.tradeRegister,
    "the town of the court and the number, like 'Casablanca 123456'",
  ).exactOptional(),
  professionalTax: filledText(LIMITS.professionalTax, 'the number of the taxe professionnelle').exactOptional(),
  cnss: filledText(LIMITS.cnss, 'the CNSS affiliation').exactOptional(),
  address: z
    .strictObject(
      {
        street: filledText(LIMITS.street, 'the street and its number'),
        city: filledText(LIMITS.city, 'the city'),
        postalCode: filledText(LIMITS.postalCode, 'the postal code').nullable().default(null),
      },
      { error: ADDRESS },
    )
    .exactOptional(),
  email: emailAddress().exactOptional(),
  legalForm: filledText(LIMITS.legalForm, "the legal form, like 'SARL'").exactOptional(),
  capital: z
    .number({ error: 'must be an integer of centimes' })
    .refine((value) => Number.isSafeInteger(value) && value >= 0, {
      error: 'must be an integer of centimes, zero or more',
    })
    .exactOptional(),
  paymentMode: oneLineText(LIMITS.paymentMode, "how invoices are paid, like 'Virement bancaire'").exactOptional(),
  paymentMeans: z
    .enum(PAYMENT_MEANS_NAMES, { error: `must be one of ${PAYMENT_MEANS_NAMES.join(', ')}` })
    .nullable()
    .exactOptional(),
  paymentTermDays: z
    .int({ error: TERM })
    .min(0, { error: TERM })
    .max(LIMITS.paymentTermDays, { error: TERM })
    .nullable()
    .exactOptional(),
  bankAccount: bankAccountDigits()
    .refine(hasBankAccountKey, {
      error: 'has a check key (its last two digits) that does not match: at least one digit is wrong',
    })
    .nullable()
    .exactOptional(),
  operationDateIsIssueDate: z.boolean({ error: 'must be true or false' }).exactOptional(),
  exemptionReason: filledText(LIMITS.exemptionReason, 'why lines at 0 % bear no VAT').nullable().exactOptional(),
  documentLanguage: z.enum(DOCUMENT_LANGUAGES, { error: "must be 'fr', 'ar' or 'en'" }).exactOptional(),
};

const sellerProfileInput = (readLogo: ReadLogo) =>
  z.strictObject(
    {
      ...fields,
      logo: z
        .string({ error: 'must be a data URL of a PNG or JPEG, or null' })
        .transform(async (url, context) => {
          try {
            return await readLogo(url);
          } catch (error) {
            if (!(error instanceof NotALogo)) throw error;
            context.addIssue({ code: 'custom', message: error.message });
            return z.NEVER;
          }
        })
        .nullable()
        .exactOptional(),
    },
    { error: OBJECT },
  );

/**
 * Parses a seller's profile: any subset of `SellerProfile`'s fields, with the logo as a data URL. Unknown fields are
 * refused.
 * @param value parsed JSON
 * @throws {ServiceError} invalid_request with all problems; each `param` is a dotted path (`address.city`); unknown
 * fields come last
 * @throws the errors of `readLogo`, except NotALogo
 */
export async function parseSellerProfile(value: unknown, readLogo: ReadLogo): Promise<SellerProfileChange> {
  const parsed = await sellerProfileInput(readLogo).safeParseAsync(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.flatMap(problemsOf);
  const [first = problem('invalid_request', 'The profile is not valid.'), ...rest] = problems;
  throw new ServiceError([first, ...rest]);
}

function problemsOf(issue: z.core.$ZodIssue): Problem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const param = [...issue.path, key].join('.');
      return problem('invalid_request', `${param} is not a field of a seller profile.`, param);
    });
  }
  const param = issue.path.length > 0 ? issue.path.join('.') : null;
  return [problem('invalid_request', `${param ?? 'The profile'} ${issue.message}.`, param)];
}
