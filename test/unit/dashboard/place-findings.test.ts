import { expect, it } from 'vitest';
import { fieldOfElement, fieldOfParam, placed, typedAt } from '../../../src/dashboard/creation/place-findings.ts';

const PARTY = '/Invoice/cac:AccountingCustomerParty/cac:Party';

it.each([
  ['customer.ice', 'ice'],
  ['customer.name', 'name'],
  ['customer.email', 'email'],
  ['number', 'number'],
  ['discount', 'discount'],
  ['deposits', 'deposits'],
  ['deposits.19', 'deposits'],
  ['deposits.x', null],
  ['customer.country', 'country'],
  ['references.order', 'order'],
  ['servicePeriod.to', 'periodTo'],
  ['foreignValue.rateDate', 'foreignDate'],
  ['withholding', 'withheldPercent'],
  ['withholding.certificate.date', 'regularityDate'],
  ['lines.1.discount.percent', 'discount-2'],
  ['lines.1.exemption', 'exemption-2'],
  ['lines.1.exemption.certificate.date', 'certificateDate-2'],
  ['lines.1.exemption.certificate.toString', null],
  ['lines.1.toString', null],
  ['discount.percent', 'discount'],
  ['charge.amount', 'charge'],
  ['charge.reason', 'chargeReason'],
  ['discount.taxIncluded', null],
  ['lines.0.description', 'description-1'],
  ['lines.19.quantity', 'quantity-20'],
  ['lines.1.unitPrice', 'unitPrice-2'],
  ['lines.999.taxRate', 'taxRate-1000'],
  ['lines.0', null],
  ['lines.0.amount', null],
  ['lines.-1.quantity', null],
  ['lines.0.quantity.x', null],
  ['customer.address', 'address'],
  ['terms.dueDate', 'dueDate'],
  ['customer.kind', null],
  ['toString', null],
  ['amount', null],
  ['', null],
  [null, null],
])('finds the field that the API calls %s', (param, field) => {
  expect(fieldOfParam(param)).toBe(field);
});

it.each([
  [`${PARTY}/cac:PartyIdentification/cbc:ID`, 'ice'],
  [`${PARTY}/cac:PartyLegalEntity/cbc:RegistrationName`, 'name'],
  [`${PARTY}/cac:Contact/cbc:ElectronicMail`, 'email'],
  ['/Invoice/cbc:ID', 'number'],
  ['/Invoice/cac:OrderReference/cbc:ID', 'order'],
  ['/Invoice/cac:InvoicePeriod/cbc:EndDate', 'periodTo'],
  ['/ubl:Invoice/cac:InvoiceLine[2]/cbc:InvoicedQuantity', 'quantity-2'],
  ['/Invoice/InvoiceLine/Price/PriceAmount', 'unitPrice-1'],
  ['/Invoice/cac:InvoiceLine[1000]/cac:Item/cbc:Name', 'description-1000'],
  ['/Invoice/cac:InvoiceLine[1]/cac:Item/cac:ClassifiedTaxCategory/cbc:Percent', 'taxRate-1'],
  ['/Invoice/cac:InvoiceLine[0]/cbc:InvoicedQuantity', null],
  ['/Invoice/cac:InvoiceLine[2]', null],
  ['/CreditNote/cac:InvoiceLine[2]/cbc:InvoicedQuantity', null],
  [`${PARTY}/cac:PostalAddress/cac:AddressLine/cbc:Line`, null],
  ['/Invoice/cac:AccountingSupplierParty/cac:Party/cac:PartyIdentification/cbc:ID', null],
  ['/Invoice/constructor', null],
  ['Invoice', null],
  ['', null],
  [null, null],
])('finds the field of the element %s', (path, field) => {
  expect(fieldOfElement(path)).toBe(field);
});

it('places findings beside their fields, and keeps those without one', () => {
  const findings = ['customer.ice', 'lines.1.quantity', 'customer.ice', 'lines.2.quantity', 'metadata'];
  expect(placed(findings, fieldOfParam, 2)).toEqual({
    beside: new Map([
      ['ice', ['customer.ice', 'customer.ice']],
      ['quantity-2', ['lines.1.quantity']],
    ]),
    rest: ['lines.2.quantity', 'metadata'],
  });
});

it('reads what is typed in a field', () => {
  const line = { description: 'Conseil', quantity: '3', unitPrice: '1,00', taxRate: '20' };
  const typed = { ice: '001', name: 'Atlas', email: '', lines: [line, { ...line, quantity: '4' }] };
  expect(['ice', 'email', 'quantity-2', 'unitPrice-3'].map((field) => typedAt(typed, field))).toEqual([
    '001',
    '',
    '4',
    '',
  ]);
});
