import type { ArgBuilder } from '@pothos/core';
import type { ListInvoicesInput } from '../../domain/invoice/list-invoices.ts';
import { LONGEST_SEARCH, MOST_SEARCHED } from '../../domain/invoice/search/bounds.ts';
import type { Types } from '../payload.ts';
import { type ConnectionArguments, pageRequest } from '../relay-page.ts';
import { InvoiceStatusType } from './contract.ts';

/** The text about combinations of filters for which there is no index. */
const ALONE = 'Not with `status`, `search` or another one of `customerName`, `customerIce` and `amount`.';

/** The text about the values in which a search looks for words. */
const SEARCHED = `A word finds the beginnings of words in the customer’s name, in the references and in the values of \`metadata\`, the end of the number and of the \`dgiId\`, the beginning of the ICE or at least six digits of it, the amount in any spelling (\`1 234,50\`, \`1234.5\`), and the id; case, accents and forms of letters do not count. A document is found one or two seconds after it was created or changed, a minute after it if its processing waits. At most ${LONGEST_SEARCH} characters and ${MOST_SEARCHED} words. A page of a search that finds few in many documents may be shorter than requested, or empty: continue at \`endCursor\` while \`hasNextPage\` is true.`;

/** Makes the filters of a list. @param called the plural of the listed documents, such as `invoices` */
export function listArguments(arg: ArgBuilder<Types>, called: string) {
  return {
    status: arg({ type: InvoiceStatusType, description: `Only ${called} of this status.` }),
    customerName: arg.string({
      description: `Only ${called} of the customer with this name, without regard to case, accents and punctuation. ${ALONE}`,
    }),
    customerIce: arg.string({ description: `Only ${called} of the customer with this ICE. ${ALONE}` }),
    amount: arg({ type: 'Centimes', description: `Only ${called} of this amount payable. ${ALONE}` }),
    search: arg.string({ description: `Only ${called} that match each of these words. ${SEARCHED}` }),
    createdAfter: arg({ type: 'DateTime', description: 'Created after this instant.' }),
    createdBefore: arg({ type: 'DateTime', description: 'Created before this instant.' }),
  };
}

type Optional<Input> = { readonly [Name in keyof Input]?: Input[Name] | null | undefined };

/** Converts the arguments of a list to the input of its use case. */
export function listInput(
  args: ConnectionArguments & Optional<Omit<ListInvoicesInput, 'limit' | 'cursor' | 'maxBytes'>>,
): ListInvoicesInput {
  return {
    ...pageRequest(args),
    status: args.status ?? null,
    customerName: args.customerName,
    customerIce: args.customerIce,
    amount: args.amount,
    search: args.search,
    createdAfter: args.createdAfter ?? null,
    createdBefore: args.createdBefore ?? null,
  };
}
