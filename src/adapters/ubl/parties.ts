import type { LegalInvoice } from '../../domain/invoice/ports.ts';
import { decimalOf } from '../../domain/money.ts';
import type { SellerProfile } from '../../domain/tenant/tenant.ts';
import type { Element } from './canonical-xml.ts';
import { group, text } from './vocabulary.ts';

/**
 * Writes the seller with the mentions of CGI art. 145-III. The ICE is the party identification, without a schemeID
 * because EN 16931 has none for Morocco (BR-CL-10, BR-CL-11). The IF is the only tax registration (BR-S-02, UBL-SR-13),
 * the RC the registration of the legal entity. UBL has no element for the professional tax and CNSS numbers: they are
 * appended to the legal form.
 */
export function sellerParty(seller: SellerProfile): Element {
  const { street, city, postalCode } = seller.address;
  return group(
    'cac:AccountingSupplierParty',
    group(
      'cac:Party',
      group('cac:PartyIdentification', text('cbc:ID', seller.ice)),
      group('cac:PartyName', text('cbc:Name', seller.legalName)),
      group(
        'cac:PostalAddress',
        text('cbc:StreetName', street),
        text('cbc:CityName', city),
        isWritten(postalCode) && text('cbc:PostalZone', postalCode),
        country(MOROCCO),
      ),
      group('cac:PartyTaxScheme', text('cbc:CompanyID', seller.taxId), group('cac:TaxScheme', text('cbc:ID', 'IF'))),
      group(
        'cac:PartyLegalEntity',
        text('cbc:RegistrationName', seller.legalName),
        text('cbc:CompanyID', seller.tradeRegister),
        text('cbc:CompanyLegalForm', legalForm(seller)),
      ),
      group('cac:Contact', text('cbc:ElectronicMail', seller.email)),
    ),
  );
}

/**
 * Writes the buyer: ICE, name, and the address if known. EN 16931 requires only the country of the address (BR-11). A
 * private person has no identifier. The tax number of a customer abroad is written as a VAT number if it begins with
 * the code of the customer's country, as EN 16931 requires (BR-CO-09); otherwise as another tax registration.
 */
export function customerParty(customer: LegalInvoice['customer']): Element {
  return group(
    'cac:AccountingCustomerParty',
    group(
      'cac:Party',
      customer.ice !== null && group('cac:PartyIdentification', text('cbc:ID', customer.ice)),
      group(
        'cac:PostalAddress',
        isWritten(customer.address) && group('cac:AddressLine', text('cbc:Line', customer.address)),
        country(customer.country ?? MOROCCO),
      ),
      isWritten(customer.taxNumber) && foreignTaxNumber(customer.taxNumber.trim(), customer.country),
      group('cac:PartyLegalEntity', text('cbc:RegistrationName', customer.name)),
      isWritten(customer.email) && group('cac:Contact', text('cbc:ElectronicMail', customer.email)),
    ),
  );
}

/** Whether a value is not blank. Blank values are left out because UBL forbids empty elements. */
export function isWritten(value: string | null): value is string {
  return value !== null && value.trim() !== '';
}

const MOROCCO = 'MA';

function country(code: string): Element {
  return group('cac:Country', text('cbc:IdentificationCode', code));
}

/** The prefixes of VAT numbers that are not the code of the country (VIES). */
const VAT_PREFIXES: Readonly<Record<string, readonly string[]>> = { GR: ['GR', 'EL'], GB: ['GB', 'XI'] };

function foreignTaxNumber(number: string, of: string | null): Element {
  const isVat = of !== null && (VAT_PREFIXES[of] ?? [of]).some((prefix) => number.startsWith(prefix));
  return group(
    'cac:PartyTaxScheme',
    text('cbc:CompanyID', number),
    group('cac:TaxScheme', text('cbc:ID', isVat ? 'VAT' : 'TAX')),
  );
}

function legalForm({ legalForm: form, capital, professionalTax, cnss }: SellerProfile): string {
  const dirhams = decimalOf(capital)
    .replace('.', ',')
    .replace(/\B(?=(\d{3})+,)/g, '\u00A0');
  return `${form} au capital de ${dirhams}\u00A0MAD ; taxe professionnelle ${professionalTax} ; CNSS ${cnss}`;
}
