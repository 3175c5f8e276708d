import { paramOf, restPath } from '../domain/input-problems.ts';

/** graphql-js quotes the value between the two, its quotation marks escaped. */
const [START, PLACE] = [/^Variable "\$(\w+)" got invalid value /, / at "\w+((?:\.\w+|\[\d+\])+)"; /];
/** A required field that is absent keeps the name that it has in GraphQL only if REST has no other; an unknown one keeps it. */
const [ABSENT, UNKNOWN] = [
  /; Field "(\w+)" of required type "[\w[\]!]+" was not provided\.$/,
  /; Field "(\w+)" is not defined by type "\w+"\./,
];

/**
 * The field at fault in a variable that does not fit its type, as REST's `param`: what REST finds with the same wrong body. The message is
 * all that graphql-js tells of it.
 * @returns null for another message, and where the variable as a whole is wrong
 */
export function paramOfVariable(message: string): string | null {
  if (!START.test(message)) return null;
  const place = PLACE.exec(message)?.[1] ?? '';
  const path = restPath([...place.matchAll(/\w+/g)].map(([part]) => part));
  const [absent, unknown] = [ABSENT.exec(message)?.[1], UNKNOWN.exec(message)?.[1]];
  const field = absent !== undefined ? restPath([absent]) : unknown !== undefined ? [unknown] : [];
  return path.length + field.length > 0 ? paramOf([...path, ...field]) : null;
}
